from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from longtail import systems
from longtail.errors import UsageError
from longtail.serving.ray_serve import deployment
from tests.engines.clusters import needs_ray
from tests.planted import Parts


def test_what_cannot_be_deployed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no model to serve"):
        deployment({})
    with pytest.raises(UsageError, match="there is no model folder"):
        deployment({"m": tmp_path / "none"})
    with pytest.raises(UsageError, match="at least 1"):
        deployment({"m": tmp_path}, replicas=0)


@needs_ray
@pytest.mark.slow
def test_two_replicas_answer_as_the_model(ray: Any, tiny: Parts, tmp_path: Path) -> None:
    from ray import serve

    trained = systems.create("linear", {}).fit(tiny.train, hold_out=False)
    trained.save(tmp_path / "model")
    serve.start(http_options={"host": "127.0.0.1", "port": 18342})
    serve.run(deployment({"planted": tmp_path / "model"}, replicas=2), name="longtail")
    try:
        running = serve.status().applications["longtail"].deployments["longtail"].replica_states
        assert running["RUNNING"] == 2
        texts = tiny.test.documents.joined()[:6]
        wanted = [[label for label, _ in row] for row in trained.predict(texts, k=2)]
        for _ in range(4):
            body = json.dumps({"documents": [{"text": text} for text in texts], "k": 2}).encode()
            address = "http://127.0.0.1:18342/v1/models/planted/predict"
            request = Request(address, body, {"Content-Type": "application/json"})
            with urlopen(request, timeout=30) as answer:
                predictions = json.load(answer)["predictions"]
            assert [[label["id"] for label in one["labels"]] for one in predictions] == wanted
    finally:
        serve.shutdown()
