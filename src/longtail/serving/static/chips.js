// Labels as chips that can be taken away.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { labelName } from "./format.js";
import { labelLink } from "./router.js";

export function labelChips(labels, { name, onRemove }) {
  return h("ul", { class: "chips", "aria-label": name }, labels.map((label) => h("li", { class: "chip" },
    labelLink(label.id, labelName(label)),
    h("button", {
      type: "button", class: "chip-remove", "aria-label": `Remove ${labelName(label)}`, on: { click: () => onRemove(label.id) },
    }, icon("cross")))));
}
