import orjson

from benchmarks import reading
from longtail import data

WAYS = ["plain_loop", "read", "stream"]


def test_the_written_file_is_read_back(tmp_path):
    path = tmp_path / "a.jsonl"
    reading.write_file(path, documents=30, words=5)
    found = data.read(path)
    records = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert records == reading.plain_loop(path)
    assert reading.stream(path) == len(found) == 30
    assert found.documents.texts == [record["text"] for record in records]
    assert found.Y.nnz == sum(len(record["labels"]) for record in records)


def test_every_way_has_a_speed(capsys):
    reading.main(["--documents", "20", "--turns", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["short", *WAYS, "long", *WAYS]
    assert lines[1].endswith("1.00 of the plain loop")
