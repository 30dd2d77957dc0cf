import io

from rich.console import Console

from longtail.evaluation import terminal
from tests.evaluation.cases import zipf_report


def shown(**options) -> str:
    out = io.StringIO()
    terminal.render(zipf_report(), Console(file=out, width=80, **options))
    return out.getvalue()


def test_plain_text_holds_every_metric_and_interval():
    report, text = zipf_report(), shown()
    assert "\x1b" not in text
    for metric in report.metrics.values():
        assert f"{metric['value']:.2f}" in text
        assert f"{metric['low']:.1f}–{metric['high']:.1f}" in text
    for row in (*report.bins, *report.equal_bins):
        cells = [row["name"], *(f"{row[key]:,}" for key in ("labels", "assignments", "hits"))]
        assert any(line.split()[:4] == cells for line in text.splitlines())
    assert "…" not in text, "nothing is cut off at 80 columns"
    assert "without gold labels count 0" in text


def test_a_terminal_gets_rules_and_bold():
    assert "\x1b[1m" in shown(force_terminal=True)
