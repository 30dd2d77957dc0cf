"""``longtail export``: a model whose encoder runs in ONNX Runtime, where that is faster."""

from __future__ import annotations

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.errors import LongtailError


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "-o", "--output", "target", required=True, metavar="FOLDER", type=click.Path(), help="The new model."
)
@click.option("--anyway", is_flag=True, help="Write it even if it is not faster on this machine.")
@options.jobs
@options.force
@verbosity
def command(model: str, target: str, anyway: bool, jobs: int | None, force: bool) -> None:
    """Write MODEL again with its text encoder as an ONNX graph, if that is faster on this machine.

    Both are measured first. The new model has the torch encoder too, and uses it where ONNX Runtime is missing.
    """
    import longtail
    from longtail import threads

    session = current()
    output.check_folder_is_free(target, force=force, inputs=[model])
    run = session.run()
    with threads.limit(jobs):
        with run.phase("load"):
            loaded = longtail.load(model)
        with run.phase("export"):
            found = loaded.export_encoders()
        for one in found:
            rows = [["", "torch", "ONNX Runtime"]]
            for kind, name in (("alone", "one text at a time"), ("in_batches", "in batches")):
                before, after = getattr(one.torch, kind), getattr(one.onnx, kind)
                rows.append([name, f"{before:.2f} ms", f"{after:.2f} ms per text"])
            output.print_table([*rows, ["largest difference", "", f"{one.apart:.1g}"]])
        if not anyway and not any(one.worth_it for one in found):
            raise LongtailError(
                "ONNX Runtime is not faster on this machine, so nothing was written; --anyway writes it"
            )
        with run.phase("save"):
            loaded.save(target, force=force)
    session.written = True
    session.say(
        f"{target}: a model of '{loaded.name}' with {len(found)} encoder{'s' * (len(found) > 1)} as ONNX"
    )
