// The Tag view: texts on the left, ranked labels on the right.

import { api } from "../api.js";
import { choiceFields } from "../choice.js";
import { current, desk, forget } from "../desk.js";
import { announce, debounce, h } from "../dom.js";
import { plural } from "../format.js";
import { asDocument, changes, modelDetails, modelName } from "../session.js";
import { onKey } from "../shortcuts.js";
import { inputPane } from "./tag_input.js";
import { resultsPane } from "./tag_results.js";

// Predictions are dropped when another model is chosen, also while another view is shown.
changes.addEventListener("model", () => desk.documents.forEach(forget));

export function showTag(place) {
  let asked = null;
  let capabilities = {};

  async function tag() {
    later.cancel();
    asked?.abort();
    const document = current();
    if (!document.text.trim()) {
      forget(document);
      results.draw();
      return;
    }
    asked = new AbortController();
    results.busy();
    const started = performance.now();
    try {
      const answer = await api.predict(modelName(), await question(document), { signal: asked.signal, onWait: results.wait });
      const predictions = answer.predictions.map((prediction) => prediction.labels);
      document.predicted = {
        labels: predictions.at(-1),
        before: predictions.length > 1 ? predictions[0] : null,
        model: answer.model,
        version: answer.version,
        milliseconds: performance.now() - started,
      };
      results.draw();
      input.drawTabs();
      announce(`${plural(document.predicted.labels.length, "label")} found`);
    } catch (error) {
      results.fail(error, tag);
    }
  }

  /** With known labels the text is asked twice in one request, with and without them, to show what they change. */
  async function question(document) {
    const text = await asDocument(document.text);
    const known = capabilities.revealed === false ? [] : document.known.map((label) => label.id);
    if (known.length === 0) return { documents: [text], ...choiceFields() };
    return { documents: [text, text], revealed: [[], known], ...choiceFields() };
  }

  const later = debounce(350, tag);
  const results = resultsPane({
    onKnown(label) {
      current().known.push(label);
      input.drawKnown();
      tag();
    },
    onLearned: tag,
  });
  const input = inputPane({
    onInput() {
      forget(current());
      results.stale();
      later();
    },
    onNow: tag,
    onSwitch() {
      asked?.abort();
      results.clear();
      results.draw();
      if (current().text.trim() && !current().predicted) tag();
    },
  });
  place.append(h("h1", { class: "hidden" }, "Tag texts"), h("div", { class: "tag" }, input.element, results.element));
  input.draw();
  results.draw();
  modelDetails().then((details) => {
    capabilities = details.capabilities ?? {};
    input.offer(capabilities);
    results.offer(capabilities);
    if (current().text.trim() && !current().predicted) tag();
  }).catch((error) => results.fail(error, () => showTagAgain(place)));

  const keys = [
    onKey("t", () => input.focus()),
    onKey("/", () => results.focusFinder()),
    onKey("s", () => results.save()),
  ];
  return () => {
    asked?.abort();
    later.cancel();
    keys.forEach((remove) => remove());
  };
}

function showTagAgain(place) {
  place.replaceChildren();
  showTag(place);
}
