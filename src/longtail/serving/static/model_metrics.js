// Metrics of models as tiles and plots. What a model was not measured on is left out.

import { h, unseen } from "./dom.js";
import { frequencyCurve, groupedBars, reliability } from "./plots.js";

/** The headline metrics with their intervals. */
export function metricTiles(metrics) {
  const found = Object.entries(metrics ?? {}).filter(([, metric]) => Number.isFinite(metric?.value));
  found.sort(([a], [b]) => place(a) - place(b));
  if (!found.length) return h("p", { class: "note" }, "The model was not measured: its data had no validation part.");
  return h("dl", { class: "tiles metrics" }, found.map(([name, metric]) => h("div", { class: "tile" },
    h("dt", {}, name),
    h("dd", { class: "big" }, metric.value.toFixed(1)),
    Number.isFinite(metric.low) && h("dd", { class: "range" }, unseen("95 % interval "), `${metric.low.toFixed(1)} – ${metric.high.toFixed(1)}`))));
}

/** Precision, nDCG, propensity-scored precision, recall; the rest behind them. */
function place(name) {
  const at = ["P", "nDCG", "PSP", "R"].indexOf(name.split("@")[0]);
  return (at < 0 ? 9 : at) * 1000 + Number.parseInt(name.split("@")[1] ?? "0", 10);
}

/** Plots of one or more models: {name, metrics}. */
export function metricPlots(models) {
  const measured = models.filter(({ metrics }) => metrics?.bins?.length);
  if (!measured.length) return [];
  // A bin without a label to find has no metric.
  const found = (name) => measured.some(({ metrics }) => metrics.bins.some((bin) => bin.name === name && bin.assignments > 0));
  const groups = measured[0].metrics.bins.map((bin) => bin.name).filter(found);
  const { k } = measured[0].metrics;
  const series = (key) => measured.map(({ name, metrics }) => ({
    name, values: groups.map((group) => metrics.bins.find((bin) => bin.name === group)?.[key] ?? Number.NaN),
  }));
  const plots = [["R", "Recall"], ["P", "Precision"], ["PSP", "Propensity-scored precision"]]
    .filter(([key]) => measured.some(({ metrics }) => metrics.bins.some((bin) => Number.isFinite(bin[key]))))
    .map(([key, title]) => groupedBars({
      title: k ? `${title} at ${k}` : title, groups, series: series(key), unit: " %", axis: "training documents per label",
    }));
  if (models.length > 1) return plots;
  const { calibration, frequency_curve: curve } = measured[0].metrics;
  if (calibration?.points?.length) plots.push(reliability({ title: "Calibration: how often labels are right", points: calibration.points }));
  if (curve?.length) plots.push(frequencyCurve({ title: "Training documents per label", points: curve }));
  return plots;
}
