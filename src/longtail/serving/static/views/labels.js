// The Labels view: find a label, and the page of one label.

import { api } from "../api.js";
import { current } from "../desk.js";
import { fill, h } from "../dom.js";
import { count, labelName, plural, score } from "../format.js";
import { icon } from "../icons.js";
import { labelAddress, labelLink } from "../router.js";
import { can, modelDetails, modelName } from "../session.js";
import { onKey } from "../shortcuts.js";
import { showError } from "../toasts.js";
import { typeahead } from "../typeahead.js";

/** Labels below this probability are not near. */
const FAR = 0.001;

export function showLabels(place, id = null) {
  const finder = typeahead({
    label: "Find a label", placeholder: "Type the beginning of any word of its name", hideLabel: true, name: "label",
    onPick: (label) => { location.hash = labelAddress(label.id); },
  });
  const total = h("p", { class: "note" });
  const body = h("div", { class: "stack" });
  place.append(
    h("div", { class: "page-head" }, h(id === null ? "h1" : "p", { class: "page-title" }, "Labels"), total),
    h("div", { class: "big-finder" }, finder.element),
    body);
  modelDetails().then((details) => {
    total.textContent = `${plural(details.labels, "label")} of ${modelName()}`;
  }).catch(() => { total.textContent = ""; });
  const load = async () => {
    try {
      if (id === null) fill(body, frequent((await api.labels(modelName(), "", 24)).labels));
      else fill(body, page(await api.label(modelName(), id)));
    } catch (error) {
      showError(body, error, load);
    }
  };
  load();
  const key = onKey("/", () => finder.input.focus());
  return () => key();
}

function frequent(labels) {
  if (!labels.length) return null;
  return h("section", { class: "card stack", "aria-labelledby": "frequent-title" },
    h("h2", { id: "frequent-title" }, "Labels to begin with"),
    h("ul", { class: "label-grid" }, labels.map((label) => h("li", {}, h("a", { href: labelAddress(label.id) },
      h("span", {}, labelName(label)), h("span", { class: "soft" }, count(label.documents)))))));
}

function page(label) {
  const others = (label.names ?? []).filter((name) => name !== label.text);
  document.title = `${labelName(label)} · longtail`;
  return [
    h("section", { class: "card stack label-head", "aria-labelledby": "label-title" },
      h("h1", { id: "label-title" }, labelName(label)),
      h("dl", { class: "facts" },
        h("div", {}, h("dt", {}, "Id"), h("dd", {}, h("code", {}, label.id))),
        h("div", {}, h("dt", {}, "Training documents"), h("dd", {}, count(label.documents))),
        others.length > 0 && h("div", {}, h("dt", {}, "Other names"), h("dd", {}, others.join(", ")))),
      rarity(label.documents),
      h("div", { class: "actions" }, knownButton(label))),
    h("div", { class: "two" },
      neighbours(label),
      related("Nearest labels", "Labels that the model gives to its name.", (label.nearest ?? []).filter((near) => near.score >= FAR), "score",
        "This label has no name to compare, or the model finds nothing like it.")),
    examples(label.examples ?? []),
  ];
}

function rarity(documents) {
  if (documents === 0) return h("p", { class: "note" }, "No training document has this label; only its name can find it.");
  if (documents <= 5) return h("p", { class: "note" }, "A rare label: at most five training documents.");
  return null;
}

/** Use the label as known for the text of the Tag view. */
function knownButton(label) {
  const button = h("button", {
    type: "button", hidden: true,
    on: {
      click() {
        const document = current();
        if (!document.known.some((known) => known.id === label.id)) document.known.push({ id: label.id, text: label.text });
        document.predicted = null;
        location.hash = "#/";
      },
    },
  }, icon("pin"), "Known label of my text");
  can("revealed").then((able) => { button.hidden = !able; }).catch(() => {});
  return button;
}

/** Shares of documents, or weights of a graph, which mean something beside each other only. */
function neighbours(label) {
  const found = label.neighbours ?? [];
  const none = "This model keeps no training documents, or this label stands alone in them.";
  if (label.neighbours_from !== "graph")
    return related("Neighbours", "Labels of the same training documents, by the share of them.", found, "weight", none);
  const most = Math.max(...found.map((near) => near.weight));
  return related("Neighbours", "Labels beside it in the label graph of the training documents, by weight.", found, "weight", none,
    { most, shown: (weight) => weight.toFixed(3) });
}

function related(title, about, labels, key, none, { most = 1, shown = score } = {}) {
  return h("section", { class: "card stack" },
    h("h2", {}, title),
    h("p", { class: "note" }, labels.length ? about : none),
    labels.length > 0 && h("ul", { class: "related" }, labels.map((label) => h("li", {},
      labelLink(label.id, labelName(label)),
      h("span", { class: "soft" }, shown(label[key])),
      h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", {
        class: "bar-fill", vars: { "--value": String(Math.min(1, Math.max(0, label[key] / most))) },
      }))))));
}

function examples(documents) {
  const texts = documents.filter((document) => document.text);
  const ids = documents.filter((document) => !document.text);
  return h("section", { class: "card stack" },
    h("h2", {}, "Example documents"),
    documents.length === 0 && h("p", { class: "note" }, "This model keeps no training documents, or none has this label."),
    texts.length > 0 && h("ul", { class: "examples" }, texts.map((document) => h("li", {},
      h("b", {}, document.id), h("p", { class: "example-text", title: document.text }, document.text)))),
    ids.length > 0 && h("ul", { class: "chips" }, ids.map((document) => h("li", { class: "chip plain" }, document.id))));
}
