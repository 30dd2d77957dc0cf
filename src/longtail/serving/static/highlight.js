// A text with its words coloured by how much they raised or lowered a score.

import { h } from "./dom.js";
import { signed } from "./format.js";

/** Pieces of the text in order: {text, weight}. Offsets count characters (code points); overlapping words add up. */
export function pieces(text, words) {
  const points = Array.from(text);
  const inside = words.filter(({ start, end }) => start >= 0 && end > start && end <= points.length);
  const places = [...new Set([0, points.length, ...inside.flatMap(({ start, end }) => [start, end])])];
  places.sort((a, b) => a - b);
  return places.slice(0, -1).map((from, index) => {
    const to = places[index + 1];
    const over = inside.filter(({ start, end }) => start <= from && to <= end);
    return { text: points.slice(from, to).join(""), weight: over.reduce((sum, { weight }) => sum + weight, 0) };
  });
}

/** Below this share of the strongest weight a word is not marked: it says nothing. */
const FAINT = 0.04;

/** The text as a paragraph with marks; the strongest word has the full colour. */
export function highlighted(text, words) {
  const parts = pieces(text, words);
  const strongest = Math.max(...parts.map((part) => Math.abs(part.weight)), Number.MIN_VALUE);
  return h("p", { class: "highlighted" }, parts.map((part) => Math.abs(part.weight) < FAINT * strongest ? part.text : h("mark", {
    class: part.weight > 0 ? "raised" : "lowered",
    vars: { "--strength": `${Math.round(14 + 50 * Math.abs(part.weight) / strongest)}%` },
    title: signed(part.weight),
  }, part.text)));
}
