import xml.etree.ElementTree as ET

from longtail.evaluation import elements

EVIL = '"><script>alert(1)</script>&'


def test_a_table_names_its_rows_and_columns():
    table = ET.fromstring(elements.table(["", "one"], [["a", "1"], ["b", "2"]]))
    assert [cell.text for cell in table.iter("th")] == [None, "one", "a", "b"]
    assert [cell.text for cell in table.iter("td")] == ["1", "2"]
    assert [cell.get("scope") for cell in table.iter("th")] == ["col", "col", "row", "row"]


def test_details_hold_what_they_are_given():
    opened = ET.fromstring(elements.details("more", "<p>text</p>"))
    assert opened.findtext("summary") == "more"
    assert opened.findtext("div/p") == "text"


def test_a_legend_gives_each_series_its_colour():
    items = ET.fromstring(elements.legend(["a", "b"])).findall("li")
    assert ["".join(item.itertext()) for item in items] == ["a", "b"]
    assert [item.find("span").get("class") for item in items] == ["key series-0", "key series-1"]


def test_texts_are_escaped():
    for piece in (
        elements.table([EVIL], [[EVIL, EVIL]]),
        elements.details(EVIL, ""),
        elements.legend([EVIL]),
    ):
        assert "<script" not in piece
        assert EVIL in "".join(ET.fromstring(piece).itertext())
