// Keyboard shortcuts and the dialog that lists them. Single keys can be turned off, and never act while one types.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { remember, remembered } from "./preferences.js";

const KEYS = [
  ["Anywhere", [
    ["1 – 5", "go to a view: Tag, Batch, Labels, Model, Compare"],
    ["/", "find a label"],
    ["t", "type a text"],
    ["d", "next theme"],
    ["?", "show this list"],
  ]],
  ["In the text", [["Ctrl + Enter", "tag the text"], ["Esc", "leave the field"]]],
  ["On a label", [
    ["↑ ↓", "previous, next label"],
    ["Enter", "why this label"],
    ["a", "accept"],
    ["r", "reject"],
    ["k", "known: use it to find the others"],
  ]],
  ["Feedback", [["s", "save the feedback"]]],
];

const actions = new Map();

/** Let `run` follow a key while a view is shown; the function that is returned takes it back. */
export function onKey(key, run) {
  actions.set(key, run);
  return () => { if (actions.get(key) === run) actions.delete(key); };
}

function typing(element) {
  return element instanceof HTMLElement
    && (element.isContentEditable || element.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])"));
}

export function startShortcuts() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && typing(event.target)) {
      event.target.blur();
      return;
    }
    if (typing(event.target) || document.querySelector("dialog[open]") || !remembered("shortcuts", true)) return;
    const run = actions.get(event.key);
    if (!run) return;
    event.preventDefault();
    run(event);
  });
  const button = document.getElementById("help");
  button.append(icon("keyboard"));
  button.setAttribute("aria-label", "Keyboard shortcuts");
  button.title = "Keyboard shortcuts (?)";
  button.addEventListener("click", showShortcuts);
  onKey("?", showShortcuts);
}

export function showShortcuts() {
  const box = h("input", {
    type: "checkbox", id: "single-keys", checked: remembered("shortcuts", true),
    on: { change: () => remember("shortcuts", box.checked) },
  });
  const dialog = h("dialog", { class: "dialog", "aria-labelledby": "shortcuts-title" },
    h("form", { method: "dialog", class: "stack" },
      h("h2", { id: "shortcuts-title" }, "Keyboard shortcuts"),
      KEYS.map(([place, keys]) => h("section", { class: "keys" },
        h("h3", {}, place),
        h("dl", {}, keys.map(([key, does]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)))))),
      h("p", { class: "check" }, box, h("label", { for: "single-keys" }, "Shortcuts of a single key are on")),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
