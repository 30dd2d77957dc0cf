from benchmarks.scaling import main


def test_a_row_a_size(capsys) -> None:
    tiny = ["--set", "width=8", "--set", "stages.rank.batch_size=64"]
    main(["--labels", "50,80", *tiny])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| labels | documents | train s |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| 50", "| 80"]
