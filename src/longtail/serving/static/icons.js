// Icons as strokes on a grid of 24, hidden from screen readers: the button around them has the name.

import { s } from "./dom.js";

const PATHS = {
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  cross: ["M6.5 6.5l11 11", "M17.5 6.5l-11 11"],
  pin: ["M9 4h6l-1 6 3.5 3.5h-11L10 10z", "M12 13.5V20"],
  down: ["M6 9.5l6 6 6-6"],
  sun: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", "M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"],
  moon: ["M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7z"],
  screen: ["M4 5h16v11H4z", "M9 20h6M12 16v4"],
  keyboard: ["M3 7h18v10H3z", "M7 10.5h.01M10.5 10.5h.01M14 10.5h.01M17 10.5h.01M8 14h8"],
  search: ["M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12z", "M15 15l5 5"],
  plus: ["M12 5v14", "M5 12h14"],
  file: ["M6 3.5h8l4 4v13H6z", "M14 3.5v4h4"],
  upload: ["M12 16V5", "M7.5 9L12 4.5 16.5 9", "M5 19.5h14"],
  download: ["M12 4.5v11", "M7.5 11l4.5 4.5 4.5-4.5", "M5 19.5h14"],
  lines: ["M5 7h14M5 12h14M5 17h9"],
  alert: ["M12 4l9 15.5H3z", "M12 10v4.5M12 17h.01"],
  spark: ["M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8z"],
};

export function icon(name) {
  return s(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" },
    PATHS[name].map((d) => s("path", { d })),
  );
}
