// Files dropped on a place, or chosen with a button.

import { h } from "./dom.js";
import { icon } from "./icons.js";

/** Take files that are dropped anywhere on `element`. */
export function dropZone(element, onFiles) {
  let depth = 0;
  const mark = (change) => {
    depth = Math.max(0, depth + change);
    element.classList.toggle("dropping", depth > 0);
  };
  const withFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  element.addEventListener("dragenter", (event) => { if (withFiles(event)) mark(1); });
  element.addEventListener("dragleave", (event) => { if (withFiles(event)) mark(-1); });
  element.addEventListener("dragover", (event) => { if (withFiles(event)) event.preventDefault(); });
  element.addEventListener("drop", (event) => {
    if (!withFiles(event)) return;
    event.preventDefault();
    mark(-depth);
    onFiles([...event.dataTransfer.files]);
  });
}

/** A button that opens the dialog for files; its input is a real one, so that the keyboard and tests can use it. */
export function fileButton({ id, text, accept, multiple = false, onFiles }) {
  const input = h("input", {
    id, type: "file", class: "hidden file-input", accept, multiple,
    on: { change: () => { onFiles([...input.files]); input.value = ""; } },
  });
  return h("span", { class: "file-button" }, input, h("label", { for: id, class: "button" }, icon("upload"), text));
}

/** The text of a file: UTF-8, or UTF-16 with its mark. */
export async function fileText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(wide, { fatal: true }).decode(bytes);
  } catch {
    const error = new Error(`${file.name} is no text in UTF-8; save it as UTF-8 and try again.`);
    error.name = "Problem";
    throw error;
  }
}
