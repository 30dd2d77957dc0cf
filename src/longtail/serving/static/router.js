// Views by the part of the address behind "#": #/, #/batch, #/labels, #/labels/ID, #/model, #/compare.

import { fill, h } from "./dom.js";

/** The address of a label's page. */
export function labelAddress(id) {
  return `#/labels/${encodeURIComponent(id)}`;
}

export function labelLink(id, text) {
  return h("a", { href: labelAddress(id) }, text);
}

/** The parts of the address: ["labels", "ID"]. */
export function route() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Show the view of the address in `place`, now and after every change of the address. */
export function startRouter(views, place, onShow) {
  let leave = null;
  let first = true;
  const show = () => {
    // The link that skips to the content is no address of a view.
    if (location.hash === "#view") return;
    const [name = "", ...rest] = route();
    const view = views.find((candidate) => candidate.path === name) ?? views[0];
    leave?.();
    fill(place);
    document.title = `${view.title} · longtail`;
    leave = view.show(place, ...rest) ?? null;
    onShow(view);
    if (!first) {
      window.scrollTo(0, 0);
      place.focus({ preventScroll: true });
    }
    first = false;
  };
  window.addEventListener("hashchange", show);
  show();
  return show;
}
