// The texts on the desk of the Tag view, with what was predicted and decided. They stay while the page is open.

import { labelName } from "./format.js";

let number = 0;

export function newDocument(text = "") {
  number += 1;
  return {
    number,
    text,
    /** Labels that are known already: {id, text}. */
    known: [],
    /** The answer of the service: {labels, before, model, version, milliseconds}. */
    predicted: null,
    /** Label id to "accepted" or "rejected". */
    decisions: new Map(),
    /** Labels that the reader added. */
    added: [],
    saved: false,
  };
}

export const desk = { documents: [newDocument()], at: 0, user: "" };

export function current() {
  return desk.documents[desk.at];
}

/** Put texts on the desk; the first one takes the place of an empty document. */
export function addTexts(texts) {
  const added = texts.map((text) => newDocument(text));
  if (!current().text.trim()) desk.documents.splice(desk.at, 1, ...added);
  else {
    desk.at = desk.documents.length;
    desk.documents.push(...added);
  }
}

export function removeDocument(at) {
  desk.documents.splice(at, 1);
  if (desk.documents.length === 0) desk.documents.push(newDocument());
  desk.at = Math.min(desk.at > at ? desk.at - 1 : desk.at, desk.documents.length - 1);
}

/** A new text, or another model: what was predicted and decided before no longer belongs to it. */
export function forget(document) {
  document.predicted = null;
  document.decisions.clear();
  document.added = [];
  document.saved = false;
}

/** The name of a document in the list of texts. */
export function documentName(document) {
  const line = document.text.trim().split("\n", 1)[0];
  return line ? (line.length > 28 ? `${line.slice(0, 27)}…` : line) : `Text ${document.number}`;
}

/** What the reader said, as fields of a request; null when nothing was said. */
export function feedbackFields(document) {
  const having = (decision) => [...document.decisions].filter(([, value]) => value === decision).map(([id]) => id);
  const fields = { accepted: having("accepted"), rejected: having("rejected"), added: document.added.map((label) => label.id) };
  return fields.accepted.length + fields.rejected.length + fields.added.length ? fields : null;
}

/** The labels of a document as rows of its ranking, without those that are known; what changed by knowing them. */
export function rankingRows(document) {
  const { labels, before } = document.predicted;
  const known = new Set(document.known.map((label) => label.id));
  const rank = before && new Map(before.filter((label) => !known.has(label.id)).map((label, index) => [label.id, index + 1]));
  return labels.filter((label) => !known.has(label.id)).map((label, index) => ({
    ...label,
    name: labelName(label),
    rank: index + 1,
    moved: rank ? (rank.has(label.id) ? rank.get(label.id) - index - 1 : "new") : null,
    decision: document.decisions.get(label.id) ?? null,
  }));
}
