from benchmarks.table import run_table, three_digits
from tests.benchmarks.worlds import contestant, result


def test_one_row_a_contestant_with_the_best_in_bold():
    table = run_table(result(contestant("a", 40.0, 3.0), contestant("b", 60.0, 4.0)))
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert rows[0].startswith("| system | P@1 |")
    assert rows[1].startswith("| a | 40.00 |")
    assert "**3.00**" in rows[1]
    assert rows[2].startswith("| b | **60.00** |")
    assert "| 4.00 |" in rows[2]
    assert len({row.count("|") for row in rows}) == 1


def test_caption_says_what_was_measured():
    caption = run_table(result(contestant("a"))).splitlines()[0]
    for words in ("**toy**", "1,234 training", "7,890 labels", "2 threads", "seed 0", "2026-01-02"):
        assert words in caption


def test_a_failure_is_told_below_the_table():
    table = run_table(result(contestant("a"), {"name": "b", "error": "out of memory"}))
    assert "b failed: out of memory" in table
    assert "| b |" not in table


def test_numbers_have_three_figures():
    assert [three_digits(x) for x in (12345.6, 123.4, 12.34, 1.234, 0.1234, 0.01234, 0.0001)] == [
        "12,346", "123", "12.3", "1.23", "0.123", "0.0123", "<0.001",
    ]  # fmt: skip
