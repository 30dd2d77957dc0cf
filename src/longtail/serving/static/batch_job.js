// Tagging a table: requests of many texts, one after another, that can be stopped and taken up again.

import { api, isAbort } from "./api.js";
import { choiceFields } from "./choice.js";
import { plural } from "./format.js";
import { asDocument, modelName } from "./session.js";
import { documentOf } from "./tables.js";

const MOST_DOCUMENTS = 64;
const MOST_CHARACTERS = 200_000;

/** A job of a table. `onChange()` follows every step; `labels` grows as rows are answered. */
export function createJob(table, onChange) {
  let asked = null;
  const job = {
    table, labels: [], state: "ready", error: null, waiting: 0, seconds: 0, model: modelName(),
    async run() {
      asked = new AbortController();
      job.state = "running";
      job.error = null;
      const fields = choiceFields();
      const started = performance.now() - 1000 * job.seconds;
      onChange();
      try {
        while (job.labels.length < table.rows.length) {
          const documents = await Promise.all(nextDocuments(table, job.labels.length).map(async ({ id, text }) => ({
            id, ...(await asDocument(text, job.model)),
          })));
          const { predictions } = await api.predict(job.model, { documents, ...fields }, {
            signal: asked.signal,
            onWait(seconds) { job.waiting = seconds; onChange(); },
          });
          job.waiting = 0;
          job.labels.push(...predictions.map((prediction) => prediction.labels));
          job.seconds = (performance.now() - started) / 1000;
          onChange();
        }
        job.state = "done";
      } catch (error) {
        job.state = "stopped";
        if (!isAbort(error)) job.error = located(error, job);
      }
      onChange();
    },
    stop() {
      asked?.abort();
    },
    /** Seconds to the end at the speed so far. */
    left() {
      return job.labels.length ? job.seconds * (table.rows.length / job.labels.length - 1) : null;
    },
  };
  return job;
}

function nextDocuments(table, from) {
  const documents = [];
  let characters = 0;
  for (let row = from; row < table.rows.length && documents.length < MOST_DOCUMENTS; row += 1) {
    const document = documentOf(table, row);
    characters += document.text.length;
    if (documents.length && characters > MOST_CHARACTERS) break;
    documents.push(document);
  }
  return documents;
}

function located(error, job) {
  if (error.name !== "Problem" || !error.status) return error;
  error.message = `After ${plural(job.labels.length, "row")}: ${error.message}`;
  return error;
}
