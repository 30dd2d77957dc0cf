// The service's routes as functions. Every failure is a Problem with one sentence for the reader.

import { askForKey, currentKey } from "./api_key.js";

const TRIES = 4;

/** What went wrong, as one sentence. */
export class Problem extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.name = "Problem";
    this.status = status;
  }
}

/** True for a request that the page itself gave up. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

export const api = {
  models: (options) => request("v1/models", options),
  model: (name, options) => request(`v1/models/${part(name)}`, options),
  predict: (name, body, options) => request(`v1/models/${part(name)}/predict`, { ...options, body }),
  explain: (name, body, options) => request(`v1/models/${part(name)}/explain`, { ...options, body }),
  feedback: (name, body, options) => request(`v1/models/${part(name)}/feedback`, { ...options, body }),
  label: (name, id, options) => request(`v1/models/${part(name)}/labels/${part(id)}`, options),
  labels: (name, q, limit, options) =>
    request(`v1/models/${part(name)}/labels?${new URLSearchParams({ q, limit: String(limit) })}`, options),
};

function part(text) {
  return encodeURIComponent(text);
}

/** JSON in, JSON out; waits and tries again when the service is busy, calling `onWait(seconds)` before each wait. */
async function request(path, { body, signal, onWait } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(path, body, signal);
    if (answer.ok) return answer.json().catch(() => { throw unreadable(answer); });
    if (answer.status === 401 && (await askForKey())) continue;
    const seconds = answer.status === 429 || answer.status === 503 ? wait(answer) : null;
    if (seconds === null || attempt >= TRIES) throw await problem(answer);
    if (onWait) onWait(seconds);
    await sleep(seconds * 1000, signal);
  }
}

async function send(path, body, signal) {
  const headers = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const key = currentKey();
  if (key) headers.authorization = `Bearer ${key}`;
  try {
    return await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(`The service at ${location.host} does not answer; check that “longtail serve” is running, then try again.`);
  }
}

/** Seconds to wait before the next try, or null when the service names none. */
function wait(answer) {
  const seconds = Number.parseFloat(answer.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 30) : null;
}

async function problem(answer) {
  if (answer.status === 401) return new Problem("The service asks for an API key, and this one is missing or not valid.", 401);
  const told = await answer.json().catch(() => null);
  const sentence = told && (told.detail || told.title);
  if (typeof sentence === "string" && sentence) return new Problem(sentence, answer.status);
  return unreadable(answer);
}

function unreadable(answer) {
  return new Problem(`The service answered with status ${answer.status} and no reason; its log may say more.`, answer.status);
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("given up", "AbortError"));
    }, { once: true });
  });
}
