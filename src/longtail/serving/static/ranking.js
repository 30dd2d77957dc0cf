// Ranked labels as bars. Rows keep their element when the ranking changes, so that they can move to their new place.

import { fill, h, unique, unseen } from "./dom.js";
import { plural, score } from "./format.js";
import { icon } from "./icons.js";
import { labelAddress } from "./router.js";
import { showError } from "./toasts.js";

const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

/** `onDecide(id, decision)`, `onKnown(id)`; `explain(id)` promises the panel that says why. */
export function createRanking({ onDecide, onKnown, explain }) {
  const rows = new Map();
  const element = h("ol", { class: "ranking" });

  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = event.target.closest("li.row");
    if (!item) return;
    const row = rows.get(item.dataset.id);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const items = [...element.children];
      items[items.indexOf(item) + step]?.querySelector(".row-name").focus();
    } else if (event.key === "a") row.accept.click();
    else if (event.key === "r") row.reject.click();
    else if (event.key === "k" && !row.known.disabled) row.known.click();
    else return;
    event.preventDefault();
  });

  function draw(shown, can) {
    const before = new Map([...rows].map(([id, row]) => [id, row.element.getBoundingClientRect().top]));
    const focus = element.contains(document.activeElement) ? document.activeElement : null;
    for (const [id, row] of rows) if (!shown.some((label) => label.id === id)) { row.element.remove(); rows.delete(id); }
    const highest = Math.max(1, ...shown.map((label) => label.score));
    for (const label of shown) {
      if (!rows.has(label.id)) rows.set(label.id, createRow(label, { onDecide, onKnown, explain }));
      rows.get(label.id).update(label, highest, can);
    }
    element.replaceChildren(...shown.map((label) => rows.get(label.id).element));
    focus?.focus({ preventScroll: true });
    if (!STILL.matches) slide(before);
  }

  function slide(before) {
    for (const [id, row] of rows) {
      const shift = before.has(id) ? before.get(id) - row.element.getBoundingClientRect().top : null;
      const frames = shift === null
        ? [{ opacity: 0, transform: "translateY(6px)" }, { opacity: 1, transform: "none" }]
        : [{ transform: `translateY(${shift}px)` }, { transform: "none" }];
      if (shift !== 0) row.element.animate(frames, { duration: 220, easing: "cubic-bezier(.2, .7, .3, 1)" });
    }
  }

  /** Another answer is on its way or there: explanations of the former one close. */
  function closeAll() {
    for (const row of rows.values()) row.close();
  }

  function clear() {
    rows.clear();
    fill(element);
  }

  return { element, draw, closeAll, clear };
}

function createRow(label, { onDecide, onKnown, explain }) {
  const id = unique("label");
  const rank = h("span", { class: "row-rank" });
  const moved = h("span", { class: "row-moved" });
  const text = h("span", {});
  const name = h("button", { type: "button", class: "row-name", "aria-expanded": "false", "aria-controls": `${id}-why` },
    text, icon("down"));
  const value = h("span", { class: "row-score" });
  const bar = h("span", { class: "bar-fill" });
  const panel = h("div", { id: `${id}-why`, class: "row-why", hidden: true });
  const decide = (decision) => () => onDecide(label.id, row.decision === decision ? null : decision);
  const accept = button("check", "accept", decide("accepted"));
  const reject = button("cross", "reject", decide("rejected"));
  const known = button("pin", "known", () => onKnown(label.id));
  const element = h("li", { class: "row", "data-id": label.id },
    rank,
    h("div", { class: "row-main" },
      h("div", { class: "row-line" }, name, moved, value),
      h("div", { class: "bar-track", "aria-hidden": "true" }, bar)),
    h("div", { class: "row-actions" }, accept, reject, known),
    panel);

  name.addEventListener("click", async () => {
    const opening = panel.hidden;
    name.setAttribute("aria-expanded", String(opening));
    panel.hidden = !opening;
    if (!opening || panel.hasChildNodes()) return;
    await load();
  });

  async function load() {
    fill(panel, h("p", { class: "note loading" }, "Asking the model why…"));
    try {
      fill(panel, await explain(label.id), h("p", { class: "row-more" },
        h("a", { href: labelAddress(label.id) }, "Page of this label"),
        h("span", { class: "soft" }, ` ${label.id}`)));
    } catch (error) {
      fill(panel);
      showError(panel, error, load);
    }
  }

  const row = {
    element, accept, reject, known, decision: null,
    close() {
      fill(panel);
      panel.hidden = true;
      name.setAttribute("aria-expanded", "false");
    },
    update(shown, highest, { canReveal, canDecide }) {
      row.decision = shown.decision;
      rank.textContent = String(shown.rank);
      text.textContent = shown.name;
      fill(value, unseen("probability "), score(shown.score));
      bar.style.setProperty("--value", String(Math.max(0, shown.score) / highest));
      element.classList.toggle("accepted", shown.decision === "accepted");
      element.classList.toggle("rejected", shown.decision === "rejected");
      press(accept, shown.decision === "accepted", `Accept ${shown.name}`);
      press(reject, shown.decision === "rejected", `Reject ${shown.name}`);
      known.setAttribute("aria-label", `Known: use ${shown.name} to find the other labels`);
      known.title = "Known: find the others with it (k)";
      for (const [action, able] of [[accept, canDecide], [reject, canDecide], [known, canReveal]]) {
        action.hidden = action.disabled = !able;
      }
      fill(moved, movement(shown.moved));
    },
  };
  return row;
}

function button(symbol, kind, run) {
  return h("button", { type: "button", class: `row-action ${kind}`, on: { click: run } }, icon(symbol));
}

function press(control, pressed, text) {
  control.setAttribute("aria-pressed", String(pressed));
  control.setAttribute("aria-label", text);
  control.title = text;
}

function movement(moved) {
  if (moved === null || moved === 0) return null;
  if (moved === "new") return h("span", { class: "moved up" }, "new");
  const up = moved > 0;
  return h("span", { class: `moved ${up ? "up" : "down"}` },
    h("span", { "aria-hidden": "true" }, `${up ? "▲" : "▼"} ${Math.abs(moved)}`),
    unseen(`${up ? "up" : "down"} ${plural(Math.abs(moved), "rank")}`));
}
