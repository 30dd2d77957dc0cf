// The API key of a service that asks for one: kept for this tab only.

import { h } from "./dom.js";

const NAME = "longtail.key";
let asking = null;

export function currentKey() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** Ask for a key, once for all requests that wait for it; false when the reader has none. */
export function askForKey() {
  asking ??= ask().finally(() => { asking = null; });
  return asking;
}

function ask() {
  return new Promise((resolve) => {
    const input = h("input", { id: "api-key", type: "password", autocomplete: "off", required: true, class: "field" });
    const form = h("form", { method: "dialog", class: "stack" },
      h("h2", {}, "API key"),
      h("p", { class: "note" }, "This service answers only with a key. It is kept until this tab is closed."),
      h("label", { for: "api-key" }, "Key"),
      input,
      h("div", { class: "actions" },
        h("button", { type: "submit", class: "primary", value: "use" }, "Use this key"),
        h("button", { type: "button", on: { click: () => dialog.close("") } }, "Cancel")));
    const dialog = h("dialog", { class: "dialog", "aria-label": "API key" }, form);
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "use" && input.value.trim();
      if (given) sessionStorage.setItem(NAME, given);
      dialog.remove();
      resolve(Boolean(given));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
