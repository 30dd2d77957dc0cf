// Why a label: words, members, matched names, neighbours, nearest documents. Only what the model can say is shown.

import { h, unseen } from "./dom.js";
import { labelName, score, signed } from "./format.js";
import { highlighted } from "./highlight.js";
import { labelLink } from "./router.js";

const MOST_WORDS = 6;

const MOST_DOCUMENTS = 3;

/** The panel of one label of an explanation; `text` is the text that its offsets point into. */
export function whyPanel(text, label) {
  const words = label.words ?? [];
  const parts = [
    words.length > 0 && wordsPart(text, words),
    (label.members ?? []).length > 0 && membersPart(label.members),
    (label.names ?? []).length > 0 && namesPart(text, label.names),
    (label.neighbours ?? []).length > 0 && neighboursPart(label.neighbours),
    (label.documents ?? []).length > 0 && documentsPart(label.documents),
  ].filter(Boolean);
  return h("div", { class: "why" },
    parts.length ? parts : h("p", { class: "note" }, "No word of the text, no name and no neighbour speaks for this label."),
    h("p", { class: "why-note" },
      h("span", { class: label.exact ? "badge good" : "badge" }, label.exact ? "exact" : "approximate"),
      label.unit ? ` Weights are parts of ${label.unit}` : null,
      label.note ? `${label.unit ? ": " : " "}${label.note}` : null,
      label.unit || label.note ? "." : null));
}

function part(title, ...children) {
  return h("section", { class: "why-part" }, h("h4", {}, title), children);
}

function wordsPart(text, words) {
  return part("Words",
    highlighted(text, words),
    h("p", { class: "legend" },
      h("span", {}, h("mark", { class: "raised sample" }, "raised"), " the score"),
      h("span", {}, h("mark", { class: "lowered sample" }, "lowered"), " it")),
    wordBars(words));
}

/** The strongest words, each once, with a bar to the right when it raised the score and to the left when it lowered it. */
function wordBars(words) {
  const sums = new Map();
  for (const { word, weight } of words) sums.set(word, (sums.get(word) ?? 0) + weight);
  const sorted = [...sums].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const strongest = Math.max(Math.abs(sorted[0][1]), Number.MIN_VALUE);
  const list = h("ul", { class: "word-bars" }, sorted.slice(0, MOST_WORDS).map(([word, weight]) => h("li", {},
    h("span", { class: "word" }, word),
    h("span", {
      class: `word-bar ${weight < 0 ? "lowered" : "raised"}`, "aria-hidden": "true",
      vars: { "--value": String(Math.abs(weight) / strongest) },
    }),
    h("span", { class: "word-weight" }, unseen(weight < 0 ? "lowered by " : "raised by "), signed(weight)))));
  const left = sorted.length - MOST_WORDS;
  return [list, left > 0 && h("p", { class: "note" }, `and ${left} more`)];
}

function membersPart(members) {
  const total = members.reduce((sum, member) => sum + Math.abs(member.share), 0) || 1;
  return part("Members of the ensemble",
    h("div", { class: "shares", "aria-hidden": "true" }, members.map((member, index) => h("span", {
      class: `share series-${index % 6}${member.share < 0 ? " against" : ""}`, vars: { "--value": String(Math.abs(member.share) / total) },
    }))),
    h("ul", { class: "legend" }, members.map((member, index) => h("li", {},
      h("span", { class: `key series-${index % 6}`, "aria-hidden": "true" }),
      h("b", {}, member.name), ` ${share(member.share / total)}`,
      h("span", { class: "soft" }, Number.isFinite(member.rank) ? `, rank ${member.rank}` : ", not proposed")))));
}

function share(value) {
  return `${value < 0 ? "−" : ""}${Math.round(100 * Math.abs(value))} %`;
}

/** Names of the label, each with the words of the text that match it where these are not the whole name. */
function namesPart(text, names) {
  const words = new Map();
  const characters = [...text];
  for (const { name, start, end } of names) words.set(name, (words.get(name) ?? new Set()).add(characters.slice(start, end).join("")));
  return part("Matched names",
    h("ul", { class: "chips" }, [...words].map(([name, found]) => h("li", { class: "chip plain" },
      name, [...found].some((word) => word.toLowerCase() !== name.toLowerCase()) && h("span", { class: "words" }, `by ${[...found].join(", ")}`)))));
}

function neighboursPart(neighbours) {
  return part("Neighbours that contributed",
    h("ul", { class: "chips" }, neighbours.map((neighbour) => h("li", { class: "chip plain" },
      labelLink(neighbour.id, labelName(neighbour)), h("span", { class: "soft" }, signed(neighbour.weight))))));
}

function documentsPart(documents) {
  return part("Nearest training documents",
    h("ul", { class: "near" }, documents.slice(0, MOST_DOCUMENTS).map((document) => h("li", {},
      h("span", { class: "near-text" }, h("b", {}, document.id), document.text && h("span", { class: "soft" }, ` ${document.text}`)),
      h("span", { class: "soft" }, unseen("similarity "), score(document.similarity))))));
}
