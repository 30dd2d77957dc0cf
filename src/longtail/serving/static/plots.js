// Plots as SVG, each with the same numbers in a table below it.

import { h, s, unique } from "./dom.js";

const WIDTH = 400;
const HEIGHT = 226;
const LEFT = 38;
const RIGHT = 10;
const TOP = 18;
const BOTTOM = 44;

/** Bars side by side in groups: `series` are {name, values}, one value for each of `groups`. */
export function groupedBars({ title, groups, series, unit = "", axis = "" }) {
  const highest = niceTop(Math.max(...series.flatMap((one) => one.values.filter(Number.isFinite)), 0));
  const inner = WIDTH - LEFT - RIGHT;
  const step = inner / groups.length;
  const bar = Math.min(34, (0.76 * step) / series.length);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest);
  const bars = groups.flatMap((_, group) => series.map((one, index) => {
    const value = one.values[group];
    if (!Number.isFinite(value)) return null;
    const x = LEFT + step * (group + 0.5) + bar * (index - series.length / 2);
    return s("g", {},
      s("rect", { x: x + 1, y: y(value), width: bar - 2, height: Math.max(0, y(0) - y(value)), rx: 2, class: `series-${index}` },
        s("title", {}, `${one.name}, ${groups[group]}: ${value.toFixed(1)}${unit}`)),
      bar >= 15 && s("text", { x: x + bar / 2, y: y(value) - 4, class: "value", "text-anchor": "middle" }, value.toFixed(value < 9.95 ? 1 : 0)));
  }));
  const names = groups.map((name, group) => s("text", {
    x: LEFT + step * (group + 0.5), y: HEIGHT - BOTTOM + 17, class: "tick", "text-anchor": "middle",
  }, name));
  return plot(title, [grid(highest, y), bars, names, axisName(axis)], {
    legend: series.map((one) => one.name), head: ["", ...series.map((one) => one.name)],
    rows: groups.map((name, group) => [name, ...series.map((one) => numberText(one.values[group]))]),
  });
}

/** How often labels of a probability were right, beside the line on which both agree; points are {score, accuracy, count}. */
export function reliability({ title, points }) {
  const x = (value) => LEFT + (WIDTH - LEFT - RIGHT) * value;
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value);
  const line = points.map((point) => `${x(point.score)},${y(point.accuracy)}`).join(" ");
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => s("text", {
    x: x(value), y: HEIGHT - BOTTOM + 17, class: "tick", "text-anchor": "middle",
  }, String(100 * value)));
  return plot(title, [
    grid(100, (value) => y(value / 100)),
    s("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "ideal" }),
    s("polyline", { points: line, class: "line" }),
    points.map((point) => s("circle", { cx: x(point.score), cy: y(point.accuracy), r: 4, class: "dot" },
      s("title", {}, `${point.count} predictions`))),
    ticks, axisName("predicted probability, %"),
  ], {
    legend: [], head: ["predicted, %", "right, %"],
    rows: points.map((point) => [numberText(100 * point.score), numberText(100 * point.accuracy)]),
  });
}

/** Labels by the number of their training documents, most frequent first, on logarithmic axes. */
export function frequencyCurve({ title, points }) {
  const seen = points.filter(([, documents]) => documents > 0);
  const width = Math.log10(Math.max(10, seen.at(-1)?.[0] ?? 10));
  const height = Math.log10(niceTop(Math.max(10, seen[0]?.[1] ?? 10)));
  const x = (rank) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log10(rank)) / width;
  const y = (documents) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.log10(documents) / height);
  const path = seen.map(([rank, documents]) => `${x(rank)},${y(documents)}`).join(" ");
  const powers = (top) => Array.from({ length: Math.floor(top) + 1 }, (_, power) => power);
  return plot(title, [
    powers(height).map((power) => [
      s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }),
      s("text", { x: LEFT - 6, y: y(10 ** power) + 4, class: "tick", "text-anchor": "end" }, short(10 ** power))]),
    powers(width).map((power) => s("text", {
      x: x(10 ** power), y: HEIGHT - BOTTOM + 17, class: "tick", "text-anchor": "middle",
    }, short(10 ** power))),
    s("polygon", { points: `${x(1)},${y(1)} ${path} ${x(seen.at(-1)?.[0] ?? 1)},${y(1)}`, class: "area" }),
    s("polyline", { points: path, class: "line" }),
    axisName("rank of the label"),
  ], { legend: [], head: ["rank", "documents"], rows: points.map(([rank, documents]) => [String(rank), String(documents)]) });
}

function plot(title, drawing, { legend, head, rows }) {
  const id = unique("plot");
  return h("figure", { class: "plot" },
    h("figcaption", { id }, title),
    legend.length > 1 && h("ul", { class: "legend" }, legend.map((name, index) => h("li", {},
      h("span", { class: `key series-${index}`, "aria-hidden": "true" }), name))),
    s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-labelledby": id }, drawing),
    h("details", {}, h("summary", {}, "As a table"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": id }, h("table", {},
        h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((text) => h("td", {}, text)))))))));
}

function grid(highest, y) {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = highest * part;
    return [
      s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "grid" }),
      s("text", { x: LEFT - 6, y: y(value) + 4, class: "tick", "text-anchor": "end" }, short(value)),
    ];
  });
}

function axisName(text) {
  return text && s("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, class: "axis", "text-anchor": "middle" }, text);
}

function short(value) {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e3) return `${value / 1e3}k`;
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

function numberText(value) {
  return Number.isFinite(value) ? value.toFixed(2) : "–";
}

/** The next of 1, 2, 4, 5, 8, 10 times a power of ten. */
function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((factor) => factor * power).find((top) => top >= value);
}
