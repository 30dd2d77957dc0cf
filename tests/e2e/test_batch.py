"""The Batch view: a file in, the tagged file out, ids and order kept."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site

pytestmark = pytest.mark.e2e

ROWS = 150


def chosen_file(page: Page, site: Site, name: str, content: str) -> None:
    page.goto(f"{site.url}#/batch")
    page.set_input_files(
        "#batch-file", files=[{"name": name, "mimeType": "text/plain", "buffer": content.encode()}]
    )


def downloaded(page: Page, form: str = "same") -> tuple[str, str]:
    """The name and the text of the tagged file."""
    page.locator("#form").select_option(form)
    with page.expect_download() as found:
        page.get_by_role("button", name="Download").click()
    return found.value.suggested_filename, found.value.path().read_bytes().decode()


def test_a_csv_file_comes_back_with_labels(page: Page, site: Site):
    topics = ["coral, reef and lagoon", 'a "cipher" and\nits key', "pepper; nutmeg and cinnamon"]
    given = [[f"n{i}", f"{topics[i % 3]} {i}", "kept"] for i in range(ROWS)]
    file = io.StringIO()
    csv.writer(file).writerows([["id", "title", "shelf"], *given])
    chosen_file(page, site, "books.csv", file.getvalue())
    expect(page.get_by_label("title")).to_be_checked()
    expect(page.get_by_label("shelf")).not_to_be_checked()
    page.get_by_role("button", name=f"Tag {ROWS} texts").click()
    expect(page.get_by_text(re.compile(f"All {ROWS} tagged in"))).to_be_visible()
    expect(page.locator(".preview tbody tr").first).to_contain_text("coral reefs")
    name, text = downloaded(page)
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert name == "books-tagged.csv"
    assert head == ["id", "title", "shelf", "predicted_ids", "predicted_labels", "predicted_scores"]
    assert [row[:3] for row in rows] == given
    best = [row[3].split("|")[0] for row in rows]
    assert best == [["coral-reefs", "cryptography", "spice-trade"][i % 3] for i in range(ROWS)]
    _, long = downloaded(page, "long")
    table = list(csv.DictReader(io.StringIO(long, newline="")))
    assert [row["doc_id"] for row in table if row["rank"] == "1"] == [row[0] for row in given]
    assert table[0]["label"] == "coral reefs"


def test_json_lines_come_back_with_labels(page: Page, site: Site):
    lines = [{"id": f"d{i}", "text": text} for i, text in enumerate(["bee and blossom", "bat and roost"])]
    chosen_file(page, site, "notes.jsonl", "\n".join(json.dumps(line) for line in lines))
    page.get_by_role("button", name="Tag 2 texts").click()
    name, text = downloaded(page)
    found = [json.loads(line) for line in text.splitlines()]
    assert name == "notes-tagged.jsonl"
    assert [{"id": row["id"], "text": row["text"]} for row in found] == lines
    assert [row["predicted"][0]["id"] for row in found] == ["pollination", "bats"]
    _, text = downloaded(page, "jsonl")
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["d0", "d1"]
    assert set(json.loads(text.splitlines()[0])) == {"id", "labels"}


def test_pasted_lines_are_tagged(page: Page, site: Site):
    page.goto(f"{site.url}#/batch")
    page.get_by_text("Or paste lines").click()
    page.fill("#lines", "kernel and scheduler\n\nshader and texture")
    page.get_by_role("button", name="Use these lines").click()
    page.get_by_role("button", name="Tag 2 texts").click()
    expect(page.locator(".preview tbody tr").nth(1)).to_contain_text("computer graphics")


def test_a_table_dropped_on_the_text_opens_the_batch_view(page: Page, site: Site):
    page.set_input_files(
        "#text-files", files=[{"name": "t.csv", "mimeType": "text/csv", "buffer": b"text\nbee and pollen\n"}]
    )
    expect(page.get_by_role("heading", name="t.csv")).to_be_visible()
    expect(page.get_by_role("button", name="Tag 1 text")).to_be_visible()


def test_a_dropped_file_is_taken(page: Page, site: Site):
    page.goto(f"{site.url}#/batch")
    page.wait_for_selector(".drop")
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["coral and reef\\nbat and roost"], "dropped.txt", { type: "text/plain" }));
        const zone = document.querySelector(".drop");
        zone.dispatchEvent(new DragEvent("dragenter", { dataTransfer: data, bubbles: true }));
        const marked = zone.classList.contains("dropping");
        zone.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        return [marked, zone.classList.contains("dropping")];
    }"""
    assert page.evaluate(drop) == [True, False]
    expect(page.get_by_role("heading", name="dropped.txt")).to_be_visible()
    expect(page.get_by_role("button", name="Tag 2 texts")).to_be_visible()


def test_an_error_in_the_middle_keeps_what_is_done(page: Page, site: Site, faults: list[str]):
    texts = ["bee and blossom"] * 64 + ["reef " * 1200] + ["bat and roost"] * 3
    chosen_file(page, site, "some.txt", "\n".join(texts))
    page.get_by_role("button", name="Tag 68 texts").click()
    expect(page.get_by_role("alert")).to_contain_text("After 64 rows: document 0 has 6,000 characters")
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    faults.clear()


CSV_CASES = [
    ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
    ('a,b\r\n"x, y","z ""q"""\r\n', [["a", "b"], ["x, y", 'z "q"']]),
    ('a\n"two\nlines"\n', [["a"], ["two\nlines"]]),
    ("a,b\n1,\n,2", [["a", "b"], ["1", ""], ["", "2"]]),
    ("a,b\n1,2,", [["a", "b"], ["1", "2", ""]]),
    ('a\n"open', [["a"], ["open"]]),
    ("", []),
]


def test_csv_is_read_and_written_as_python_does(page: Page):
    read = "async texts => { const m = await import('/static/tables.js'); return texts.map(t => m.parseCsv(t)); }"
    assert page.evaluate(read, [text for text, _ in CSV_CASES]) == [rows for _, rows in CSV_CASES]
    rows = [["plain", 'with "quotes"', "a,b"], ["two\nlines", "", " spaced "]]
    write = "async rows => (await import('/static/tables.js')).writeCsv(rows)"
    assert list(csv.reader(io.StringIO(page.evaluate(write, rows), newline=""))) == rows
