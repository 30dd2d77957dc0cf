// Elements from values. Text becomes text nodes and nothing is ever parsed as HTML, so a label name cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `on` holds listeners, `vars` custom properties of CSS; null, false and undefined are left out. */
export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "vars") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Text for screen readers only. */
export function unseen(text) {
  return h("span", { class: "hidden" }, text);
}

let last = 0;

/** An id that no other element has. */
export function unique(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}

/** A function that runs once `wait` milliseconds have passed without another call; `cancel()` drops the call. */
export function debounce(wait, run) {
  let timer = 0;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Say something to screen readers, politely. */
export function announce(text) {
  const status = document.getElementById("status");
  status.textContent = "";
  setTimeout(() => { status.textContent = text; }, 50);
}
