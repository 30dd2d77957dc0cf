import tomllib

from longtail.tuning.toml import as_toml, dotted


def test_a_file_is_read_back() -> None:
    settings = {
        "members": ("linear", "lexical"),
        "linear": {"beam": 7, "solver": {"cost": 1e-05}, "tree": {"balanced": False}},
        "name": 'a "quoted" \\ word, ü',
        "width": None,
    }
    text = as_toml("ensemble", settings, ["two\nlines"])
    assert text.startswith('# two lines\nsystem = "ensemble"\n')
    read = tomllib.loads(text)
    assert read == {
        "system": "ensemble",
        **settings,
        "members": ["linear", "lexical"],
        "width": "none",
    }


def test_dotted_names() -> None:
    assert list(dotted({"a": {"b": 1, "c": {"d": [2]}}, "e": 3})) == [("a.b", 1), ("a.c.d", [2]), ("e", 3)]
