// The models of the service and the one in use. Views listen to "model".

import { api } from "./api.js";
import { remember, remembered } from "./preferences.js";

export const changes = new EventTarget();

let models = [];
let chosen = null;
const details = new Map();

/** Read the list of models; the one used last is chosen again, else the default. */
export async function loadModels() {
  models = (await api.models()).models;
  details.clear();
  const last = remembered("model", null);
  const found = models.find((model) => model.name === last) ?? models.find((model) => model.default) ?? models[0];
  chosen = found ? found.name : null;
  return models;
}

export function allModels() {
  return models;
}

export function modelName() {
  return chosen;
}

export function chooseModel(name) {
  chosen = name;
  remember("model", name);
  changes.dispatchEvent(new CustomEvent("model"));
}

/** Everything the service says about a model, asked for once. */
export function modelDetails(name = chosen) {
  if (!details.has(name)) {
    const asked = api.model(name);
    asked.catch(() => details.delete(name));
    details.set(name, asked);
  }
  return details.get(name);
}

/** A text as a document of a request: a model that reads titles only gets it as the title. */
export async function asDocument(text, name = chosen) {
  const { config = {} } = await modelDetails(name);
  return config.fields && !config.fields.includes("text") ? { title: text } : { text };
}

/** What a model can do; a capability that the service does not name is taken as there. */
export async function can(capability, name = chosen) {
  const { capabilities = {} } = await modelDetails(name);
  return capabilities[capability] !== false;
}
