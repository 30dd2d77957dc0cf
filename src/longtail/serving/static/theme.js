// Light, dark, or as the system has it.

import { fill } from "./dom.js";
import { icon } from "./icons.js";
import { remember, remembered } from "./preferences.js";

const THEMES = [
  { id: "system", icon: "screen", name: "as the system" },
  { id: "light", icon: "sun", name: "light" },
  { id: "dark", icon: "moon", name: "dark" },
];

function current() {
  return THEMES.find((theme) => theme.id === remembered("theme", "system")) ?? THEMES[0];
}

/** The next theme. */
export function nextTheme() {
  const next = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length];
  remember("theme", next.id);
  apply();
  return next.name;
}

function apply() {
  const theme = current();
  if (theme.id === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.id;
  const button = document.getElementById("theme");
  fill(button, icon(theme.icon));
  const text = `Theme: ${theme.name}`;
  button.setAttribute("aria-label", text);
  button.title = text;
}

export function startTheme(onChange) {
  apply();
  document.getElementById("theme").addEventListener("click", () => onChange(nextTheme()));
}
