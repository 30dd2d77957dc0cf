// A field that finds labels among all labels of the model as one types: a combobox with a list of choices.

import { api, isAbort } from "./api.js";
import { debounce, fill, h, unique } from "./dom.js";
import { labelName, plural } from "./format.js";
import { icon } from "./icons.js";
import { modelName } from "./session.js";

const LIMIT = 12;

/** `onPick(label)` gets {id, text, documents}; `taken(id)` marks choices that are there already. */
export function typeahead({ label, placeholder, onPick, taken = () => false, hideLabel = false, name = null }) {
  const id = unique("find");
  const list = h("ul", { id: `${id}-list`, role: "listbox", class: "choices", hidden: true, "aria-label": label });
  const input = h("input", {
    id, name, class: "field", type: "text", role: "combobox", autocomplete: "off", autocapitalize: "none", spellcheck: "false",
    placeholder, "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list",
  });
  const hint = h("p", { class: "choices-hint", role: "status", hidden: true });
  let choices = [];
  let active = -1;
  let asked = null;

  function close() {
    asked?.abort();
    search.cancel();
    choices = [];
    active = -1;
    list.hidden = true;
    hint.hidden = true;
    fill(list);
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function tell(text) {
    hint.hidden = false;
    hint.textContent = text;
  }

  function mark(index) {
    active = index;
    [...list.children].forEach((item, position) => item.setAttribute("aria-selected", String(position === index)));
    if (index < 0) return;
    input.setAttribute("aria-activedescendant", list.children[index].id);
    list.children[index].scrollIntoView({ block: "nearest" });
  }

  function show(found, query) {
    choices = found;
    fill(list, found.map((choice, index) => option(choice, index, query)));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    if (found.length === 0) {
      tell(`No label matches “${query}”.`);
      return;
    }
    hint.hidden = true;
    mark(0);
  }

  function option(choice, index, query) {
    const there = taken(choice.id);
    return h("li", {
      id: `${id}-${index}`, role: "option", class: "choice", "aria-selected": "false", "aria-disabled": there ? "true" : null,
      on: {
        // The field keeps the focus; a click would take it away before the choice is made.
        mousedown: (event) => event.preventDefault(),
        click: () => pick(index),
        mousemove: () => { if (active !== index) mark(index); },
      },
    },
    h("span", { class: "choice-name" }, marked(labelName(choice), query)),
    h("span", { class: "choice-count" }, there ? "already there" : frequency(choice.documents)));
  }

  function pick(index) {
    const choice = choices[index];
    if (!choice || taken(choice.id)) return;
    input.value = "";
    close();
    onPick(choice);
  }

  const search = debounce(90, async () => {
    const query = input.value.trim();
    asked?.abort();
    if (!query) {
      close();
      return;
    }
    asked = new AbortController();
    try {
      const { labels } = await api.labels(modelName(), query, LIMIT, { signal: asked.signal });
      if (document.activeElement === input) show(labels, query);
    } catch (error) {
      if (!isAbort(error)) {
        show([], query);
        tell(error.message);
      }
    }
  });

  input.addEventListener("input", search);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && choices.length) mark((active + 1) % choices.length);
    else if (event.key === "ArrowUp" && choices.length) mark((active - 1 + choices.length) % choices.length);
    else if (event.key === "Enter" && choices.length) pick(active);
    else if (event.key === "Escape" && (choices.length || !hint.hidden)) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const box = h("div", { class: "typeahead" },
    h("label", { for: id, class: hideLabel ? "hidden" : "field-label" }, label),
    h("div", { class: "typeahead-field" }, icon("search"), input),
    list,
    hint);
  return { element: box, input };
}

function frequency(documents) {
  if (documents === undefined || documents === null) return "";
  return documents === 0 ? "no training document" : plural(documents, "document");
}

/** The name with the words that were typed in bold. */
function marked(name, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = name.toLowerCase();
  // A letter whose lower case is longer would shift every place behind it.
  if (lower.length !== name.length) return [name];
  const parts = [];
  let from = 0;
  while (from < name.length) {
    const next = words
      .map((word) => ({ at: lower.indexOf(word, from), length: word.length }))
      .filter((hit) => hit.at >= 0)
      .sort((a, b) => a.at - b.at || b.length - a.length)[0];
    if (!next) break;
    parts.push(name.slice(from, next.at), h("b", {}, name.slice(next.at, next.at + next.length)));
    from = next.at + next.length;
  }
  parts.push(name.slice(from));
  return parts;
}
