// Runs before the first paint, so that a chosen theme does not flash in the other colours.
try {
  const chosen = JSON.parse(localStorage.getItem("longtail.theme"));
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be turned off or hold something else: the theme of the system stays.
}
