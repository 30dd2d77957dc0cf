// The left side of the Tag view: texts, known labels, how many labels.

import { labelChips } from "../chips.js";
import { choiceControls } from "../choice.js";
import { addTexts, current, desk, documentName, newDocument, removeDocument } from "../desk.js";
import { fill, h } from "../dom.js";
import { dropZone, fileButton, fileText } from "../drop.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { showError } from "../toasts.js";
import { typeahead } from "../typeahead.js";
import { isTable, openInBatch } from "./batch.js";

const MOST_LINES = 50;

export function inputPane({ onInput, onNow, onSwitch }) {
  const tabs = h("ul", { class: "texts" });
  const known = h("div", {});
  const problem = h("div", {});
  const extra = h("span", {});
  const text = h("textarea", {
    id: "text", class: "field text", rows: 7, placeholder: "Paste or type a text, or drop files here", "aria-describedby": "text-help",
    on: {
      input() {
        current().text = text.value;
        drawExtra();
        onInput();
      },
      keydown(event) {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          onNow();
        }
      },
    },
  });
  const finder = typeahead({
    label: "Known labels", placeholder: "Find a label you know already", name: "known",
    taken: (id) => current().known.some((label) => label.id === id),
    onPick(label) {
      current().known.push(label);
      drawKnown();
      onNow();
    },
  });
  const noReveal = h("p", { class: "note", hidden: true }, "Known labels: this model does not use them.");
  const choices = choiceControls(onNow);

  async function open(files) {
    try {
      const table = files.find((file) => isTable(file.name));
      if (table) {
        openInBatch(table);
        return;
      }
      addTexts(await Promise.all(files.map(fileText)));
      fill(problem);
      draw();
      onSwitch();
    } catch (error) {
      showError(problem, error);
    }
  }

  function drawTabs() {
    const several = desk.documents.length > 1;
    tabs.hidden = !several;
    fill(tabs, several && desk.documents.map((document, at) => h("li", { class: at === desk.at ? "on" : null },
      h("button", {
        type: "button", class: "text-tab", "aria-current": at === desk.at ? "true" : null,
        on: { click: () => go(at) },
      }, documentName(document)),
      h("button", {
        type: "button", class: "chip-remove", "aria-label": `Remove ${documentName(document)}`,
        on: { click: () => { removeDocument(at); draw(); onSwitch(); } },
      }, icon("cross")))));
  }

  function go(at) {
    desk.at = at;
    draw();
    onSwitch();
    tabs.querySelector("[aria-current]")?.focus();
  }

  function drawKnown() {
    const labels = current().known;
    fill(known, labels.length > 0 && labelChips(labels, {
      name: "Known labels",
      onRemove(id) {
        current().known = labels.filter((label) => label.id !== id);
        drawKnown();
        finder.input.focus();
        onNow();
      },
    }));
  }

  /** Lines can be texts of their own. */
  function drawExtra() {
    const lines = current().text.split("\n").map((line) => line.trim()).filter(Boolean);
    fill(extra, lines.length > 1 && lines.length <= MOST_LINES && h("button", {
      type: "button",
      on: {
        click() {
          desk.documents.splice(desk.at, 1, ...lines.map((line) => newDocument(line)));
          draw();
          onSwitch();
          text.focus();
        },
      },
    }, icon("lines"), `${plural(lines.length, "line")} as texts`));
  }

  function draw() {
    text.value = current().text;
    drawTabs();
    drawExtra();
    drawKnown();
  }

  const element = h("section", { class: "card stack", "aria-labelledby": "text-title" },
    h("div", { class: "card-head" },
      h("h2", { id: "text-title" }, h("label", { for: "text" }, "Text")),
      h("div", { class: "actions" },
        extra,
        fileButton({ id: "text-files", text: "Open files", accept: ".txt,.md,.csv,.tsv,.jsonl,text/plain", multiple: true, onFiles: open }),
        h("button", { type: "button", on: { click: () => { addTexts([""]); draw(); onSwitch(); text.focus(); } } }, icon("plus"), "New text"))),
    tabs,
    text,
    problem,
    h("div", { class: "actions between" },
      h("p", { class: "note", id: "text-help" }, "Labels follow as you type."),
      h("button", { type: "button", class: "primary", on: { click: onNow } }, "Tag", h("kbd", {}, "Ctrl ↵"))),
    h("hr", {}),
    h("div", { class: "stack tight" }, finder.element, known, noReveal),
    h("hr", {}),
    choices.element);
  dropZone(element, open);

  return {
    element, draw, drawKnown, drawTabs,
    focus: () => text.focus(),
    offer(capabilities) {
      const can = capabilities.revealed !== false;
      finder.element.hidden = !can;
      known.hidden = !can;
      noReveal.hidden = can;
      choices.offer(capabilities.precision !== false);
    },
  };
}
