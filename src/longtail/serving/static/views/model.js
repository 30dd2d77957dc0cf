// The Model view: what the model is, how good it is by label frequency, its card.

import { fill, h } from "../dom.js";
import { count } from "../format.js";
import { markdown } from "../markdown.js";
import { metricTiles, metricPlots } from "../model_metrics.js";
import { modelDetails, modelName } from "../session.js";
import { showError } from "../toasts.js";

const ABILITIES = [
  ["explain", "says why"],
  ["revealed", "uses known labels"],
  ["precision", "keeps a precision"],
  ["learn", "learns from feedback at once"],
];

export function showModel(place) {
  const body = h("div", { class: "stack" }, h("p", { class: "note" }, "Loading"));
  const load = async () => {
    try {
      fill(body, page(await modelDetails()));
    } catch (error) {
      showError(body, error, load);
    }
  };
  place.append(h("div", { class: "page-head" }, h("h1", {}, modelName()), h("p", { class: "note" }, "The model and its metrics.")), body);
  load();
}

function page(details) {
  const plots = metricPlots([{ name: details.name, metrics: details.metrics }]);
  return [
    h("dl", { class: "tiles" },
      tile("System", details.system, (details.members ?? []).length ? `of ${details.members.join(", ")}` : null),
      tile("Labels", count(details.labels)),
      tile("Training documents", count(details.documents)),
      tile("Version", details.version, null, "small")),
    abilities(details.capabilities ?? {}),
    metricTiles(details.metrics),
    plots.length > 0 && h("section", { class: "card stack", "aria-labelledby": "plots-title" },
      h("h2", { id: "plots-title" }, "By label frequency"),
      h("p", { class: "note" }, "Labels by their number of training documents, the rarest first; per cent, on validation documents."),
      h("div", { class: "plots" }, plots)),
    details.card && h("section", { class: "card", "aria-labelledby": "card-title" },
      h("h2", { id: "card-title" }, "Model card"),
      h("div", { class: "prose" }, markdown(details.card))),
  ];
}

function tile(name, value, more = null, size = "") {
  return h("div", { class: "tile" }, h("dt", {}, name), h("dd", { class: `big ${size}` }, String(value ?? "–")),
    more && h("dd", { class: "range" }, more));
}

function abilities(capabilities) {
  return h("ul", { class: "chips", "aria-label": "What the model can do" }, ABILITIES.map(([key, text]) => h("li", {
    class: capabilities[key] ? "chip plain able" : "chip plain unable",
  }, capabilities[key] ? text : `${text}: no`)));
}
