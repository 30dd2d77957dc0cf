from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import longtail
from longtail.cli.prediction_engines import Tagged, answers
from longtail.types import Documents
from tests.cli.conftest import Call, records, write_lines
from tests.engines.clusters import needs_ray


def test_the_local_engine_answers_in_order(model: Path) -> None:
    system = longtail.load(model)
    given = [Tagged(Documents.of([f"about word{n}"]), None) for n in range(3)]
    with answers("local", None, system, str(model), 2, {}, None, None) as answer:
        found = list(answer(given))
    assert [documents for documents, _ in found] == [each.documents for each in given]
    assert np.array_equal(found[1][1].indices, system.predict(given[1].documents, k=2).indices)


def test_a_folder_is_tagged_file_by_file(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_lines(source / "one.jsonl", records(0, 4))
    write_lines(source / "two.jsonl", records(4, 9))
    assert call("predict", model, source, "-o", tmp_path / "all.jsonl", "-q").code == 0
    single = [call("predict", model, source / name, "-q").out for name in ("one.jsonl", "two.jsonl")]
    assert (tmp_path / "all.jsonl").read_text() == "".join(single)


def test_a_cluster_that_cannot_be_used(call: Call, model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "source.jsonl", tmp_path / "out.jsonl"
    write_lines(source, records(0, 3))
    answer = call("predict", model, source, "-o", target, "--address", "127.0.0.1:1")
    assert answer.code == 2
    assert "add --engine ray" in answer.err
    answer = call("predict", model, source, "-o", target, "--engine", "ray", "--address", "127.0.0.1:1", "-q")
    assert answer.code == 1
    assert "no Ray cluster can be reached at 127.0.0.1:1" in answer.err or "longtail[ray]" in answer.err
    assert not target.exists()


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "npz"])
def test_ray_writes_the_bytes_of_the_local_engine(
    call: Call, model: Path, tmp_path: Path, ending: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3):
        write_lines(source / f"{number}.jsonl", records(10 * number, 10 * number + 7))
    for engine in ("local", "ray"):
        answer = call(
            "predict",
            model,
            source,
            "-o",
            tmp_path / f"{engine}.{ending}",
            "--engine",
            engine,
            "--batch-size",
            3,
        )
        assert answer.code == 0, answer.err
    assert (tmp_path / f"ray.{ending}").read_bytes() == (tmp_path / f"local.{ending}").read_bytes()
