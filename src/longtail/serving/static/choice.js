// How many labels: the best k, those above a threshold, those that keep a precision, or the set of highest expected F1.

import { debounce, fill, h, unique } from "./dom.js";
import { remember, remembered } from "./preferences.js";

const WAYS = [
  { id: "k", name: "Best k", note: "The k best labels of every text." },
  { id: "threshold", name: "Threshold", note: "Labels with at least this probability, at most k." },
  { id: "precision", name: "Precision", note: "As many labels as keep this precision on validation documents, at most k." },
  { id: "max_f1", name: "Max F1", note: "The set of labels with the highest expected F1 for each text, at most k." },
];

const FIRST = { way: "k", k: 5, threshold: 0.5, precision: 0.9 };

/** The choice of the reader, shared by all views. */
export const choice = { ...FIRST, ...remembered("choice", {}) };

/** The choice as fields of a request. */
export function choiceFields() {
  const fields = { k: choice.k };
  if (choice.way === "threshold") fields.threshold = choice.threshold;
  if (choice.way === "precision") fields.precision = choice.precision;
  if (choice.way === "max_f1") fields.max_f1 = true;
  return fields;
}

/** The controls; `onChange()` follows every change. */
export function choiceControls(onChange) {
  const name = unique("way");
  const value = h("div", { class: "choice-value" });
  const note = h("p", { class: "note", id: `${name}-note` });
  const k = h("input", {
    id: `${name}-most`, type: "number", class: "field number", min: 1, max: 100, step: 1, value: choice.k, inputmode: "numeric",
    on: { input: () => { if (k.validity.valid && k.value) set({ k: Number(k.value) }); } },
  });
  const radios = WAYS.map((way) => h("input", {
    type: "radio", name, id: `${name}-${way.id}`, value: way.id, checked: way.id === choice.way,
    "aria-describedby": `${name}-note`, on: { change: () => { set({ way: way.id }); draw(); } },
  }));
  const later = debounce(150, onChange);

  function set(change) {
    Object.assign(choice, change);
    remember("choice", choice);
    later();
  }

  function draw() {
    note.textContent = WAYS.find((way) => way.id === choice.way).note;
    radios.forEach((radio) => { radio.checked = radio.value === choice.way; });
    if (choice.way === "k" || choice.way === "max_f1") fill(value);
    else fill(value, slider(choice.way));
  }

  function slider(way) {
    const id = `${name}-slider`;
    const shown = h("output", { for: id, class: "slider-value" }, choice[way].toFixed(2));
    const range = h("input", {
      id, type: "range", min: way === "threshold" ? 0.01 : 0.5, max: 0.99, step: 0.01, value: choice[way],
      on: { input: () => { shown.textContent = Number(range.value).toFixed(2); set({ [way]: Number(range.value) }); } },
    });
    return [h("label", { for: id }, way === "threshold" ? "Lowest probability" : "Precision to keep"), range, shown];
  }

  draw();
  const element = h("fieldset", { class: "choice-controls" },
    h("legend", {}, "How many labels"),
    h("div", { class: "choice-row" },
      h("div", { class: "segments" }, WAYS.map((way, index) => [
        radios[index], h("label", { for: `${name}-${way.id}` }, way.name)])),
      h("div", { class: "at-most" }, h("label", { for: `${name}-most` }, "k, at most"), k)),
    value,
    note);
  return {
    element,
    /** Precision and F1 need a model with calibrated probabilities. */
    offer(calibrated) {
      radios.forEach((radio) => {
        radio.disabled = !calibrated && (radio.value === "precision" || radio.value === "max_f1");
        if (radio.disabled && radio.value === choice.way) set({ way: "k" });
      });
      draw();
    },
  };
}
