// The right side of the Tag view: ranked labels, added labels, feedback.

import { api, Problem } from "../api.js";
import { labelChips } from "../chips.js";
import { current, desk, feedbackFields, rankingRows } from "../desk.js";
import { fill, h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { createRanking } from "../ranking.js";
import { asDocument, modelName } from "../session.js";
import { showError, toast } from "../toasts.js";
import { typeahead } from "../typeahead.js";
import { whyPanel } from "../why.js";

export function resultsPane({ onKnown, onLearned }) {
  let capabilities = {};
  let drawn = null;
  const summary = h("p", { class: "note" });
  const problem = h("div", {});
  const empty = h("div", { class: "empty" }, icon("spark"),
    h("p", {}, "Ranked labels appear here, with their probability and the reasons for them."));
  const added = h("div", {});
  const bar = h("div", { class: "feedback" });
  const ranking = createRanking({
    onDecide(id, decision) {
      const document = current();
      if (decision) document.decisions.set(id, decision);
      else document.decisions.delete(id);
      // A label is said to be right or wrong once.
      document.added = document.added.filter((label) => label.id !== id);
      document.saved = false;
      draw();
    },
    onKnown: (id) => onKnown(current().predicted.labels.find((label) => label.id === id)),
    async explain(id) {
      if (capabilities.explain === false) return h("p", { class: "note" }, "This model gives no reasons.");
      const document = current();
      const known = document.known.map((label) => label.id);
      const { explanation } = await api.explain(modelName(), {
        document: await asDocument(document.text), labels: [id], ...(known.length ? { revealed: known } : {}),
      });
      const label = explanation.labels.find((found) => found.id === id) ?? explanation.labels[0];
      if (!label) throw new Problem("The model says nothing about this label.");
      return whyPanel(explanation.text, label);
    },
  });
  const finder = typeahead({
    label: "Add a label", placeholder: "Find a label that is missing", name: "add",
    taken: (id) => current().added.some((label) => label.id === id),
    onPick(label) {
      const document = current();
      // A label that is in the ranking is accepted there.
      if (document.predicted.labels.some((found) => found.id === label.id)) document.decisions.set(label.id, "accepted");
      else document.added.push(label);
      document.saved = false;
      draw();
      finder.input.focus();
    },
  });

  function draw() {
    const document = current();
    const { predicted } = document;
    fill(problem);
    settle();
    if (predicted !== drawn) ranking.closeAll();
    drawn = predicted;
    empty.hidden = Boolean(predicted);
    finder.element.hidden = !predicted || capabilities.feedback === false;
    if (!predicted) {
      ranking.clear();
      fill(summary);
      fill(added);
      fill(bar);
      return;
    }
    const rows = rankingRows(document);
    ranking.draw(rows, { canReveal: capabilities.revealed !== false, canDecide: capabilities.feedback !== false });
    summary.textContent = `${rows.length ? plural(rows.length, "label") : "No label passes"} in ${Math.round(predicted.milliseconds)} ms`;
    summary.title = `Model ${predicted.model}, version ${predicted.version}`;
    drawFeedback(document);
  }

  function settle() {
    element.removeAttribute("aria-busy");
    ranking.element.inert = false;
  }

  function drawFeedback(document) {
    fill(added, document.added.length > 0 && labelChips(document.added, {
      name: "Added labels",
      onRemove(id) {
        document.added = document.added.filter((label) => label.id !== id);
        document.saved = false;
        draw();
        finder.input.focus();
      },
    }));
    if (capabilities.feedback === false) {
      fill(bar, h("p", { class: "note" }, "This service takes no feedback."));
      return;
    }
    const fields = feedbackFields(document);
    const focused = bar.contains(window.document.activeElement);
    if (!fields) {
      fill(bar, h("p", { class: "note" }, "Accept or reject labels and add missing ones, then save: the service keeps it as feedback."));
      return;
    }
    const told = [
      [fields.accepted.length, "accepted"], [fields.rejected.length, "rejected"], [fields.added.length, "added"],
    ].filter(([number]) => number).map(([number, what]) => `${number} ${what}`).join(", ");
    fill(bar,
      h("p", { class: "feedback-told" }, h("b", {}, told), document.saved && h("span", { class: "badge good" }, "saved")),
      !document.saved && [
        h("label", { class: "hidden", for: "user" }, "Your name, stored with the feedback"),
        h("input", {
          id: "user", class: "field user", type: "text", autocomplete: "username", placeholder: "Your name (optional)", value: desk.user,
          on: { input: (event) => { desk.user = event.target.value; } },
        }),
        h("button", { type: "button", class: "primary", on: { click: save } }, "Save feedback"),
      ]);
    if (focused) bar.querySelector("button")?.focus();
  }

  async function save() {
    const document = current();
    const fields = feedbackFields(document);
    if (!fields || document.saved) return;
    try {
      const stored = await api.feedback(modelName(), {
        document: await asDocument(document.text), ...fields, ...(desk.user.trim() ? { user: desk.user.trim() } : {}),
      });
      document.saved = true;
      drawFeedback(document);
      toast(stored.learned ? "Feedback saved; the model uses it already." : "Feedback saved.");
      if (stored.learned) onLearned();
    } catch (error) {
      showError(problem, error, save);
    }
  }

  const element = h("section", { class: "card stack", "aria-labelledby": "labels-title" },
    h("div", { class: "card-head" }, h("h2", { id: "labels-title" }, "Labels"), summary),
    problem,
    empty,
    ranking.element,
    h("div", { class: "stack tight" }, finder.element, added),
    bar);

  return {
    element, draw, save,
    /** The text has changed: the labels of the former text wait, out of reach, for the new ones. */
    stale() {
      ranking.closeAll();
      ranking.element.inert = true;
      element.setAttribute("aria-busy", "true");
    },
    clear: () => ranking.clear(),
    focusFinder: () => finder.input.focus(),
    offer(found) {
      capabilities = found;
      if (current().predicted) draw();
    },
    busy() {
      element.setAttribute("aria-busy", "true");
    },
    wait(seconds) {
      summary.textContent = `The service is busy; trying again in ${Math.ceil(seconds)} s.`;
    },
    fail(error, retry) {
      settle();
      if (!current().predicted) draw();
      showError(problem, error, retry);
    },
  };
}
