from longtail.notebook import html_table


def test_every_cell_is_text() -> None:
    html = html_table("a < b", ["x", "<y>"], [[1, "<script>"], ["&", ""]])
    assert html == (
        '<table><caption style="text-align: left">a &lt; b</caption>'
        "<thead><tr><th>x</th><th>&lt;y&gt;</th></tr></thead>"
        "<tbody><tr><td>1</td><td>&lt;script&gt;</td></tr><tr><td>&amp;</td><td></td></tr></tbody></table>"
    )
