// The Batch view: a file of texts in, the same file with labels out.

import { createJob } from "../batch_job.js";
import { choiceControls } from "../choice.js";
import { announce, fill, h } from "../dom.js";
import { dropZone, fileButton, fileText } from "../drop.js";
import { count, duration, labelName, plural, score } from "../format.js";
import { icon } from "../icons.js";
import { can, changes, modelName } from "../session.js";
import { cell, documentOf, readTable, tagged } from "../tables.js";
import { showError } from "../toasts.js";

const SHOWN = 30;
const MOST_BYTES = 200_000_000;
const FORMS = [
  ["same", "the same file with labels added"],
  ["jsonl", "JSON lines: id and labels"],
  ["long", "CSV: one row per label"],
];

/** The file in use; it stays while the page is open. */
const open = { name: null, table: null, job: null, waiting: null };

/** Draws the view that is shown now; a job goes on while another view is shown. */
let refresh = () => {};

export function isTable(name) {
  return /\.(csv|tsv|jsonl|ndjson)$/i.test(name);
}

/** Show a file in this view; used by views where a table is dropped. */
export function openInBatch(file) {
  open.waiting = file;
  location.hash = "#/batch";
}

changes.addEventListener("model", () => {
  open.job?.stop();
  open.job = null;
});

export function showBatch(place) {
  const problem = h("div", {});
  const body = h("div", { class: "stack" });
  const choices = choiceControls(() => {});
  const pasted = h("textarea", { id: "lines", class: "field text", rows: 4, placeholder: "One text per line" });
  const start = h("section", { class: "card stack drop", "aria-label": "File" },
    h("div", { class: "drop-call" },
      icon("file"),
      h("p", { class: "drop-title" }, "Drop a file of texts here"),
      h("p", { class: "note" }, "CSV or TSV with a head, JSON lines, or plain lines. It is read in this browser and sent in small requests."),
      fileButton({ id: "batch-file", text: "Choose a file", accept: ".csv,.tsv,.jsonl,.ndjson,.txt", onFiles: (files) => take(files[0]) })),
    h("details", {},
      h("summary", {}, "Or paste lines"),
      h("div", { class: "stack tight" },
        h("label", { for: "lines", class: "field-label" }, "Texts, one per line"),
        pasted,
        h("div", { class: "actions" }, h("button", {
          type: "button", on: { click: () => attempt(() => use("lines.txt", pasted.value)) },
        }, "Use these lines")))),
    problem);
  dropZone(start, (files) => take(files[0]));

  function attempt(run) {
    fill(problem);
    try {
      run();
    } catch (error) {
      showError(problem, error);
    }
  }

  async function take(file) {
    if (!file) return;
    try {
      if (file.size > MOST_BYTES) {
        const told = new Error(`${file.name} has more than 200 MB; tag it with “longtail predict” instead.`);
        throw Object.assign(told, { name: "Problem" });
      }
      const content = await fileText(file);
      attempt(() => use(file.name, content));
    } catch (error) {
      showError(problem, error);
    }
  }

  function use(name, content) {
    open.job?.stop();
    Object.assign(open, { name, table: readTable(name, content), job: null });
    draw();
    announce(`${name}: ${plural(open.table.rows.length, "text")}`);
  }

  function draw() {
    if (!open.table) {
      fill(body);
      return;
    }
    fill(body, setUp(), progress.element, preview.element);
    update();
  }

  function setUp() {
    const { table } = open;
    return h("section", { class: "card stack", "aria-labelledby": "file-title" },
      h("div", { class: "card-head" },
        h("h2", { id: "file-title" }, open.name),
        h("p", { class: "note" }, `${plural(table.rows.length, "text")}, ${{ csv: "CSV", jsonl: "JSON lines", lines: "lines" }[table.format]}`)),
      table.format !== "lines" && columnControls(table),
      choices.element);
  }

  function columnControls(table) {
    const changed = () => { open.job?.stop(); open.job = null; update(); };
    return h("div", { class: "columns" },
      h("fieldset", {},
        h("legend", {}, "Columns with text"),
        h("div", { class: "checks" }, table.columns.map((column, index) => h("span", { class: "check" },
          h("input", {
            type: "checkbox", id: `column-${index}`, checked: table.text.includes(column),
            on: {
              change(event) {
                const chosen = table.columns.filter((other) => other === column ? event.target.checked : table.text.includes(other));
                if (chosen.length) table.text = chosen;
                else event.target.checked = true;
                changed();
              },
            },
          }),
          h("label", { for: `column-${index}` }, column))))),
      h("div", {},
        h("label", { for: "id-column", class: "field-label" }, "Column with ids"),
        h("select", {
          id: "id-column", class: "field", on: { change: (event) => { table.id = event.target.value || null; changed(); } },
        },
        h("option", { value: "" }, "none: number the rows"),
        table.columns.map((column) => h("option", { value: column, selected: column === table.id }, column)))));
  }

  const progress = progressCard({
    onRun() {
      open.job ??= createJob(open.table, () => refresh());
      open.job.run();
    },
    onAgain() {
      open.job = createJob(open.table, () => refresh());
      open.job.run();
    },
  });
  const preview = previewCard();

  function update() {
    progress.update();
    preview.update();
  }

  place.append(
    h("div", { class: "page-head" }, h("h1", {}, "Tag a file"), h("p", { class: "note" }, "The order and the ids of the file are kept.")),
    start, body);
  draw();
  can("precision").then((able) => choices.offer(able)).catch((error) => showError(problem, error));
  if (open.waiting) {
    const file = open.waiting;
    open.waiting = null;
    take(file);
  }
  refresh = () => { if (open.table) update(); };
  return () => { refresh = () => {}; };
}

function progressCard({ onRun, onAgain }) {
  const bar = h("progress", { class: "progress", max: 1, value: 0, "aria-label": "Texts tagged" });
  const told = h("p", { class: "note", role: "status" });
  const actions = h("div", { class: "actions" });
  const problem = h("div", {});
  const form = h("select", { id: "form", class: "field" }, FORMS.map(([id, name]) => h("option", { value: id }, name)));
  const element = h("section", { class: "card stack", "aria-label": "Progress" }, bar, told, problem, actions);
  let shown = null;

  function update() {
    const { job, table } = open;
    const state = job ? job.state : "ready";
    const done = job ? job.labels.length : 0;
    bar.max = table.rows.length;
    bar.value = done;
    told.textContent = sentence(job, table);
    const key = `${state} ${done > 0}`;
    if (key === shown) return;
    shown = key;
    fill(problem);
    if (job?.error) showError(problem, job.error);
    fill(actions,
      state === "ready" && h("button", { type: "button", class: "primary", on: { click: onRun } }, `Tag ${plural(table.rows.length, "text")}`),
      state === "running" && h("button", { type: "button", on: { click: () => open.job.stop() } }, "Stop"),
      state === "stopped" && h("button", { type: "button", class: "primary", on: { click: onRun } }, "Continue"),
      state === "done" && [
        h("button", { type: "button", class: "primary", on: { click: () => save(form.value) } }, icon("download"), "Download"),
        h("label", { for: "form", class: "hidden" }, "Form of the file"), form,
        h("button", { type: "button", on: { click: onAgain } }, "Tag again"),
      ]);
    if (state === "done") actions.querySelector("button").focus();
  }

  return { element, update: () => { if (!element.isConnected) shown = null; update(); } };
}

function sentence(job, table) {
  const total = count(table.rows.length);
  if (!job) return `Model ${modelName()} is ready.`;
  if (job.waiting) return `The service is busy; trying again in ${Math.ceil(job.waiting)} s. ${count(job.labels.length)} of ${total} tagged.`;
  if (job.state === "done") return `All ${total} tagged in ${duration(job.seconds)}.`;
  const left = job.left();
  const time = job.state === "running" && left !== null ? `, about ${duration(left)} left` : "";
  return `${count(job.labels.length)} of ${total} tagged${time}.`;
}

/** Hand the tagged file to the browser. */
function save(form) {
  const file = tagged(open.table, open.name, open.job.labels, form);
  const address = URL.createObjectURL(new Blob([file.text], { type: `${file.type};charset=utf-8` }));
  h("a", { href: address, download: file.name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function previewCard() {
  const head = h("h2", { id: "preview-title" });
  const rows = h("tbody", {});
  const element = h("section", { class: "card stack", "aria-labelledby": "preview-title" },
    head,
    h("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-labelledby": "preview-title" },
      h("table", { class: "preview" },
        h("thead", {}, h("tr", {}, ["Id", "Text", "Labels"].map((name) => h("th", { scope: "col" }, name)))),
        rows)));

  function update() {
    const { table, job } = open;
    const shown = Math.min(SHOWN, table.rows.length);
    head.textContent = shown < table.rows.length ? `The first ${shown} of ${count(table.rows.length)} rows` : plural(shown, "row");
    fill(rows, Array.from({ length: shown }, (_, row) => {
      const document = documentOf(table, row);
      const labels = job?.labels[row];
      return h("tr", {},
        h("th", { scope: "row" }, document.id),
        h("td", { class: "preview-text" }, table.text.map((column) => cell(table, row, column)).join(" – ").slice(0, 160)),
        h("td", {}, labels && h("ul", { class: "chips" }, labels.map((label) => h("li", { class: "chip plain" },
          h("span", { class: "chip-name", title: labelName(label) }, labelName(label)), h("span", { class: "soft" }, score(label.score)))))));
    }));
  }

  return { element, update };
}
