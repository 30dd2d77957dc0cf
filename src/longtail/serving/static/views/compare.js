// The Compare view: one text, two models side by side.

import { api } from "../api.js";
import { choiceControls, choiceFields } from "../choice.js";
import { current, forget } from "../desk.js";
import { announce, debounce, fill, h, unseen } from "../dom.js";
import { labelName, plural, score } from "../format.js";
import { metricPlots } from "../model_metrics.js";
import { allModels, asDocument, modelDetails, modelName } from "../session.js";
import { onKey } from "../shortcuts.js";
import { labelLink } from "../router.js";
import { showError } from "../toasts.js";

/** The other model; it stays while the page is open. */
let other = null;

export function showCompare(place) {
  const names = allModels().map((model) => model.name);
  if (names.length < 2) {
    place.append(h("div", { class: "page-head" }, h("h1", {}, "Compare two models")), h("section", { class: "card empty" },
      h("p", {}, "This service has one model. Start it with two, “longtail serve first=MODEL second=MODEL”, to compare them.")));
    return null;
  }
  const chosen = [modelName(), names.includes(other) && other !== modelName() ? other : names.find((name) => name !== modelName())];
  let asked = null;
  const problem = h("div", {});
  const summary = h("p", { class: "note", role: "status" });
  const columns = h("div", { class: "two compare" });
  const plots = h("div", {});
  const choices = choiceControls(() => compare());
  const text = h("textarea", {
    id: "compare-text", class: "field text", rows: 4, placeholder: "Paste or type a text", value: current().text,
    on: {
      input() { forget(current()); current().text = text.value; later(); },
      keydown(event) { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); compare(); } },
    },
  });

  async function compare() {
    later.cancel();
    asked?.abort();
    if (!text.value.trim()) {
      fill(columns);
      summary.textContent = "";
      return;
    }
    asked = new AbortController();
    const { signal } = asked;
    try {
      const answers = await Promise.all(chosen.map(async (name) => api.predict(name, {
        documents: [await asDocument(text.value, name)], ...choiceFields(),
      }, { signal })));
      fill(problem);
      draw(answers.map((answer) => answer.predictions[0].labels));
    } catch (error) {
      showError(problem, error, compare);
    }
  }

  function draw(lists) {
    const ranks = lists.map((labels) => new Map(labels.map((label, index) => [label.id, index + 1])));
    const common = lists[0].filter((label) => ranks[1].has(label.id)).length;
    summary.textContent = `${common} of ${Math.max(lists[0].length, lists[1].length)} labels in common`;
    announce(summary.textContent);
    fill(columns, lists.map((labels, side) => column(chosen[side], labels, ranks[1 - side], chosen[1 - side])));
  }

  async function drawPlots() {
    try {
      const details = await Promise.all(chosen.map((name) => modelDetails(name)));
      const drawn = metricPlots(details.map(({ name, metrics }) => ({ name, metrics })));
      fill(plots, drawn.length > 0 && h("section", { class: "card stack", "aria-labelledby": "plots-title" },
        h("h2", { id: "plots-title" }, "By label frequency"),
        h("p", { class: "note" }, "Labels by their number of training documents, the rarest first; each model on its own validation documents."),
        h("div", { class: "plots" }, drawn)));
    } catch (error) {
      showError(plots, error, drawPlots);
    }
  }

  const later = debounce(350, compare);
  const picker = (side) => {
    const id = `compare-${side}`;
    return h("div", {}, h("label", { for: id, class: "field-label" }, side ? "Second model" : "First model"),
      h("select", {
        id, class: "field",
        on: {
          change(event) {
            chosen[side] = event.target.value;
            if (side) other = chosen[1];
            compare();
            drawPlots();
          },
        },
      }, names.map((name) => h("option", { value: name, selected: name === chosen[side] }, name))));
  };
  place.append(
    h("div", { class: "page-head" }, h("h1", {}, "Compare two models"), summary),
    h("section", { class: "card stack", "aria-label": "Text and models" },
      h("div", {}, h("label", { for: "compare-text", class: "field-label" }, "Text"), text),
      h("div", { class: "pair" }, picker(0), picker(1)),
      choices.element),
    problem, columns, plots);
  compare();
  drawPlots();
  const key = onKey("t", () => text.focus());
  return () => {
    asked?.abort();
    later.cancel();
    key();
  };
}

function column(name, labels, otherRanks, otherName) {
  const highest = Math.max(1, ...labels.map((label) => label.score));
  return h("section", { class: "card stack" },
    h("div", { class: "card-head" }, h("h2", {}, name), h("p", { class: "note" }, plural(labels.length, "label"))),
    h("ol", { class: "ranking plain" }, labels.map((label, index) => h("li", { class: "row" },
      h("span", { class: "row-rank" }, String(index + 1)),
      h("div", { class: "row-main" },
        h("div", { class: "row-line" }, labelLink(label.id, labelName(label)), difference(index + 1, otherRanks.get(label.id), otherName),
          h("span", { class: "row-score" }, unseen("probability "), score(label.score))),
        h("div", { class: "bar-track", "aria-hidden": "true" }, h("span", {
          class: "bar-fill", vars: { "--value": String(Math.max(0, label.score) / highest) },
        })))))));
}

function difference(rank, otherRank, otherName) {
  if (otherRank === undefined) return h("span", { class: "badge only" }, "only here");
  return h("span", { class: "badge" }, rank === otherRank ? "same rank" : `rank ${otherRank} `, rank !== otherRank && unseen(`of ${otherName}`), rank !== otherRank && h("span", { "aria-hidden": "true" }, "there"));
}
