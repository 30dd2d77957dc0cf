import pytest

from benchmarks.xgrank_ablations import VARIANTS, main
from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create
from tests.tiny_encoders import write_transformer

pytest.importorskip("transformers")
TINY = ["train.epochs=1", "encoder.tokens=12"]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_valid_setting(name: str) -> None:
    create("xgrank", parse_overrides(VARIANTS[name]))


def test_all_variants_differ() -> None:
    configs = [create("xgrank", parse_overrides(settings)).config for settings in VARIANTS.values()]
    assert all(one != other for i, one in enumerate(configs) for other in configs[:i])


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    encoder = write_transformer(tmp_path / "encoder")
    chosen = "the network alone;binary cross entropy"
    arguments = ["--data", str(tmp_path / "data"), "--variants", chosen, "--documents", "40"]
    arguments += [part for setting in [*TINY, f"encoder.names={encoder}"] for part in ("--set", setting)]
    with threads.limit(1):
        main(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {name}" for name in chosen.split(";")]
    assert all(0 <= float(cell) <= 100 for line in lines[2:] for cell in line.split(" | ")[1:6])
