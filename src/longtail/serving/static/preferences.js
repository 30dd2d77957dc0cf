// What the page remembers in this browser. Without storage it remembers until it is closed.

const memory = new Map();

export function remembered(name, fallback) {
  try {
    const text = localStorage.getItem(`longtail.${name}`);
    return text === null ? memory.get(name) ?? fallback : JSON.parse(text);
  } catch {
    return memory.get(name) ?? fallback;
  }
}

export function remember(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(`longtail.${name}`, JSON.stringify(value));
  } catch {
    // Storage is full or turned off.
  }
}
