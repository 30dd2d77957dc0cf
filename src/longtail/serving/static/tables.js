// Files of texts: CSV and TSV, JSON lines, or one text per line. Read into records, written with labels.

const TEXT_NAMES = ["title", "text", "abstract", "body", "description", "content", "titel", "titre", "texte"];
const ID_NAMES = ["id", "doc_id", "docid", "identifier", "uri", "url"];

/** A sentence about a file that cannot be used. */
class FileProblem extends Error {
  constructor(sentence) {
    super(sentence);
    this.name = "Problem";
  }
}

/** {format, columns, rows, text: [column], id: column or null}; rows are objects for JSON lines, else lists of cells. */
export function readTable(name, content) {
  const body = content.replace(/^\uFEFF/, "");
  if (!body.trim()) throw new FileProblem(`${name} is empty.`);
  if (/\.(jsonl|ndjson)$/i.test(name) || /^\s*\{/.test(body)) return readJsonLines(name, body);
  if (/\.(csv|tsv)$/i.test(name)) return readCsv(name, body);
  const rows = body.split(/\r?\n/).filter((line) => line.trim()).map((line) => [line]);
  return { format: "lines", columns: ["text"], rows, text: ["text"], id: null };
}

function readJsonLines(name, body) {
  const rows = [];
  const columns = new Set();
  body.split(/\r?\n/).forEach((line, index) => {
    if (!line.trim()) return;
    let row;
    try {
      row = JSON.parse(line);
    } catch {
      throw new FileProblem(`Line ${index + 1} of ${name} is no JSON; every line has to be one object.`);
    }
    if (row === null || typeof row !== "object" || Array.isArray(row)) {
      throw new FileProblem(`Line ${index + 1} of ${name} is no JSON object.`);
    }
    Object.keys(row).forEach((column) => columns.add(column));
    rows.push(row);
  });
  return guessed({ format: "jsonl", columns: [...columns], rows });
}

function readCsv(name, body) {
  const separator = /\.tsv$/i.test(name) ? "\t" : likeliestSeparator(body);
  const [columns, ...rows] = parseCsv(body, separator);
  if (rows.length === 0) throw new FileProblem(`${name} has no row below its head.`);
  const odd = rows.findIndex((row) => row.length !== columns.length);
  if (odd >= 0) {
    throw new FileProblem(`Row ${odd + 1} of ${name} has ${rows[odd].length} cells, the head has ${columns.length}.`);
  }
  return guessed({ format: "csv", separator, columns, rows });
}

function guessed(table) {
  const named = (names) => names.map((name) => table.columns.find((column) => column.trim().toLowerCase() === name)).filter(Boolean);
  const id = named(ID_NAMES)[0] ?? null;
  const text = named(TEXT_NAMES);
  const rest = table.columns.filter((column) => column !== id);
  return { ...table, id, text: text.length ? text : [longest(table, rest)] };
}

/** The column with the longest cells is most likely the text. */
function longest(table, columns) {
  const sample = table.rows.slice(0, 50).map((_, index) => index);
  const size = (column) => sample.reduce((sum, row) => sum + cell(table, row, column).length, 0);
  return columns.reduce((best, column) => (size(column) > size(best) ? column : best), columns[0] ?? table.columns[0]);
}

function likeliestSeparator(body) {
  const line = body.slice(0, 20000).split("\n", 1)[0];
  return [",", ";", "\t", "|"].reduce((best, mark) => (line.split(mark).length > line.split(best).length ? mark : best), ",");
}

/** Rows of cells; quotes, doubled quotes and line breaks inside quotes as in RFC 4180. */
export function parseCsv(body, separator = ",") {
  const rows = [];
  let row = [];
  let at = 0;
  while (at < body.length) {
    let text;
    if (body[at] === '"') {
      [text, at] = quotedCell(body, at + 1);
      // Whatever stands between the closing quote and the separator belongs to the cell.
    } else text = "";
    const from = at;
    while (at < body.length && body[at] !== separator && body[at] !== "\n" && body[at] !== "\r") at += 1;
    row.push(text + body.slice(from, at));
    if (body[at] === separator && at < body.length) {
      at += 1;
      if (at === body.length) row.push("");
      continue;
    }
    if (body[at] === "\r" && body[at + 1] === "\n") at += 1;
    at += 1;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  if (row.length) rows.push(row);
  return rows;
}

function quotedCell(body, start) {
  let text = "";
  let at = start;
  for (;;) {
    const quote = body.indexOf('"', at);
    if (quote < 0) return [text + body.slice(at), body.length];
    text += body.slice(at, quote);
    if (body[quote + 1] !== '"') return [text, quote + 1];
    text += '"';
    at = quote + 2;
  }
}

export function writeCsv(rows, separator = ",") {
  const quoted = (value) => {
    const text = String(value ?? "");
    return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${rows.map((row) => row.map(quoted).join(separator)).join("\r\n")}\r\n`;
}

/** A cell as text. */
export function cell(table, row, column) {
  const value = table.format === "jsonl" ? table.rows[row][column] : table.rows[row][table.columns.indexOf(column)];
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A row as a document of a request; several text columns are joined, and without an id the row's number is one. */
export function documentOf(table, row) {
  const text = table.text.map((column) => cell(table, row, column)).filter(Boolean).join("\n");
  return { id: table.id ? cell(table, row, table.id) : String(row + 1), text };
}

/** The tagged file: {name, type, text}. `labels[row]` are the labels of a row; `form` is "same", "jsonl" or "long". */
export function tagged(table, name, labels, form) {
  const stem = name.replace(/\.[^.]+$/, "");
  const id = (row) => documentOf(table, row).id;
  if (form === "jsonl") {
    const lines = labels.map((found, row) => JSON.stringify({ id: id(row), labels: found }));
    return { name: `${stem}-tagged.jsonl`, type: "application/jsonl", text: `${lines.join("\n")}\n` };
  }
  if (form === "long") {
    const rows = labels.flatMap((found, row) => found.map((label, rank) => [id(row), rank + 1, label.id, label.text, label.score]));
    return { name: `${stem}-labels.csv`, type: "text/csv", text: writeCsv([["doc_id", "rank", "label_id", "label", "score"], ...rows]) };
  }
  if (table.format === "jsonl") {
    const lines = labels.map((found, row) => JSON.stringify({ ...table.rows[row], predicted: found }));
    return { name: `${stem}-tagged.jsonl`, type: "application/jsonl", text: `${lines.join("\n")}\n` };
  }
  const joined = (found, key) => found.map((label) => label[key]).join("|");
  const rows = labels.map((found, row) => [
    ...table.rows[row], joined(found, "id"), joined(found, "text"), found.map((label) => label.score.toFixed(4)).join("|")]);
  const head = [...table.columns, "predicted_ids", "predicted_labels", "predicted_scores"];
  const separator = table.separator ?? ",";
  const ending = separator === "\t" ? "tsv" : "csv";
  return { name: `${stem}-tagged.${ending}`, type: "text/csv", text: writeCsv([head, ...rows], separator) };
}
