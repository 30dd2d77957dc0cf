// Short messages that leave by themselves, and errors that stay where they belong.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { isAbort } from "./api.js";

/** A message at the foot of the page, read aloud politely. */
export function toast(text) {
  const message = h("p", { class: "toast", role: "status" }, text);
  document.getElementById("toasts").append(message);
  setTimeout(() => message.remove(), 5000);
}

/** An error as one sentence in `place`, with a button to try again where that can help. */
export function showError(place, error, retry = null) {
  if (isAbort(error)) return;
  if (!error.name || error.name !== "Problem") console.error(error);
  const sentence = error.name === "Problem" ? error.message : `Something on this page failed: ${error.message}`;
  fill(place, h("div", { class: "error", role: "alert" },
    icon("alert"),
    h("p", {}, sentence),
    retry && h("button", { type: "button", on: { click: () => { fill(place); retry(); } } }, "Try again")));
}
