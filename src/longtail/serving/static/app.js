// The start of the page: models, views, theme, shortcuts.

import { announce, fill, h } from "./dom.js";
import { startRouter } from "./router.js";
import { allModels, changes, chooseModel, loadModels, modelName } from "./session.js";
import { onKey, startShortcuts } from "./shortcuts.js";
import { nextTheme, startTheme } from "./theme.js";
import { showError } from "./toasts.js";
import { showBatch } from "./views/batch.js";
import { showCompare } from "./views/compare.js";
import { showLabels } from "./views/labels.js";
import { showModel } from "./views/model.js";
import { showTag } from "./views/tag.js";

const VIEWS = [
  { path: "", title: "Tag", show: showTag },
  { path: "batch", title: "Batch", show: showBatch },
  { path: "labels", title: "Labels", show: showLabels },
  { path: "model", title: "Model", show: showModel },
  { path: "compare", title: "Compare", show: showCompare },
];

const place = document.getElementById("view");

function drawTabs() {
  fill(document.getElementById("tabs"), VIEWS.map((view) => h("li", {}, h("a", { href: `#/${view.path}` }, view.title))));
}

function markTab(view) {
  for (const link of document.querySelectorAll("#tabs a")) {
    if (link.getAttribute("href") === `#/${view.path}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function drawModels() {
  const select = document.getElementById("model");
  fill(select, allModels().map((model) => h("option", { value: model.name }, model.name)));
  select.value = modelName();
  select.addEventListener("change", () => chooseModel(select.value));
}

async function start() {
  try {
    await loadModels();
  } catch (error) {
    showError(place, error, start);
    return;
  }
  if (!modelName()) {
    showError(place, Object.assign(new Error("The service has no model; start it with “longtail serve MODEL”."), { name: "Problem" }), start);
    return;
  }
  drawModels();
  const again = startRouter(VIEWS, place, markTab);
  changes.addEventListener("model", () => {
    announce(`Model ${modelName()}`);
    again();
  });
  VIEWS.forEach((view, index) => onKey(String(index + 1), () => { location.hash = `#/${view.path}`; }));
}

drawTabs();
startTheme((name) => announce(`Theme ${name}`));
startShortcuts();
onKey("d", () => announce(`Theme ${nextTheme()}`));
start();
