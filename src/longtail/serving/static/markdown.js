// The part of Markdown that model cards use, as elements: headings, paragraphs, lists, tables, code. Links stay text.
// Images are files beside the card, which are not served: they are left out, and the page has plots of its own.

import { h } from "./dom.js";

/** A line with nothing but an image. */
const IMAGE = /^!\[[^\]]*\]\([^)]*\)\s*$/;

/** Elements of a card; headings start two levels lower than in the text, below those of the page. */
export function markdown(source) {
  const lines = source.replaceAll("\r", "").split("\n");
  const blocks = [];
  let at = 0;
  const take = (test) => {
    const taken = [];
    while (at < lines.length && test(lines[at])) taken.push(lines[at++]);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,4})\s+(.*)/.exec(line);
    if (!line.trim() || IMAGE.test(line)) at += 1;
    else if (heading) {
      blocks.push(h(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])));
      at += 1;
    } else if (line.startsWith("```")) {
      at += 1;
      const code = take((text) => !text.startsWith("```"));
      at += 1;
      blocks.push(h("pre", { tabindex: "0" }, h("code", {}, code.join("\n"))));
    } else if (line.startsWith("|")) blocks.push(table(take((text) => text.startsWith("|"))));
    else if (/^[-*] /.test(line)) blocks.push(h("ul", {}, take((text) => /^[-*] |^ {2,}\S/.test(text)).map((item) => h("li", {}, inline(item.replace(/^[-*] |^ +/, ""))))));
    else blocks.push(h("p", {}, inline(take((text) => text.trim() && !IMAGE.test(text) && !/^(#{1,4}\s|```|\||[-*] )/.test(text)).join(" "))));
  }
  return blocks;
}

/** A table whose first row is its head. */
function table(rows) {
  const cells = rows
    .map((row) => row.replace(/^\||\|\s*$/g, "").split("|").map((text) => text.trim()))
    .filter((row) => !row.every((text) => /^:?-+:?$/.test(text)));
  const [head, ...body] = cells;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": head.join(", ") }, h("table", {},
    h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, inline(text))))),
    h("tbody", {}, body.map((row) => h("tr", {}, row.map((text, index) => index
      ? h("td", {}, inline(text))
      : h("th", { scope: "row" }, inline(text))))))));
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (piece.startsWith("`") && piece.length > 2) return h("code", {}, piece.slice(1, -1));
    if (piece.startsWith("**") && piece.length > 4) return h("strong", {}, piece.slice(2, -2));
    return piece;
  });
}
