"""The routes of version 1: models, predictions, explanations, labels, feedback."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from longtail.serving import schemas
from longtail.serving.json_body import JsonResponse, JsonRoute
from longtail.serving.label_page import SHOWN, known_facts
from longtail.serving.predicting import Choice
from longtail.serving.problem import Problem
from longtail.serving.registry import Served
from longtail.serving.schemas import DocumentIn
from longtail.serving.service import Service

MAX_QUERY = 200
"""Characters of a search for labels."""


def router(service: Service) -> APIRouter:
    """The routes below ``/v1/models``."""
    routes = APIRouter(prefix="/v1/models", route_class=JsonRoute)
    registry = service.registry

    def summary(served: Served) -> dict[str, Any]:
        return {"default": served.name == registry.default}

    @routes.get("", response_model=schemas.ModelsOut, summary="The models of the service")
    async def models() -> Response:
        found = registry.models.values()
        return JsonResponse({"models": [{**served.summary(), **summary(served)} for served in found]})

    @routes.get("/{name}", response_model=schemas.ModelOut, summary="A model with its metrics and card")
    async def model(name: str) -> Response:
        served = registry.get(name)
        described = {**served.description(), "capabilities": service.abilities(served)}
        return JsonResponse({**described, **summary(served)})

    @routes.post("/{name}/predict", response_model=schemas.PredictOut, summary="Tag documents")
    async def predict(name: str, body: schemas.PredictIn) -> Response:
        return JsonResponse(await predictions(service, name, body))

    @routes.post(
        "/{name}/explain", response_model=schemas.ExplainOut, summary="Why a document has its labels"
    )
    async def explain(name: str, body: schemas.ExplainIn) -> Response:
        served = registry.get(name)
        why = await service.explain(served, body.document, body.labels, body.k, body.revealed)
        return JsonResponse({"model": served.name, "version": served.version, "explanation": why})

    @routes.get("/{name}/labels", response_model=schemas.LabelsOut, summary="Find labels by typing")
    async def labels(
        name: str,
        q: Annotated[
            schemas.Text, Query(max_length=MAX_QUERY, description="The start of a name or words")
        ] = "",
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> Response:
        served = registry.get(name)
        every, counts = served.system.labels_, served.system.label_counts_
        found = served.search.find(q, limit)
        rows = [{"id": every.ids[i], "text": every.texts[i], "documents": int(counts[i])} for i in found]
        return JsonResponse({"labels": rows})

    @routes.get("/{name}/labels/{label:path}", response_model=schemas.LabelPage, summary="A label")
    async def label(name: str, label: str) -> Response:
        served = registry.get(name)
        number = served.system.labels_.index.get(label)
        if number is None:
            raise Problem(404, f"the model '{name}' has no label {label!r}")
        facts = await asyncio.to_thread(known_facts, served, number)
        nearest: list[Any] = []
        if facts["names"]:
            # Labels that the model gives to the name of this one.
            name_of_it = facts["names"][0][: service.limits.characters]
            asked = DocumentIn.model_construct(id=None, title="", text=name_of_it)
            choice = Choice(min(SHOWN, service.limits.k))
            [nearest] = await service.predict(served, [asked], choice, [[label]])
        return JsonResponse({**facts, "nearest": nearest})

    @routes.post(
        "/{name}/feedback",
        response_model=schemas.FeedbackOut,
        status_code=201,
        summary="Say which labels are right",
    )
    async def feedback(name: str, body: schemas.FeedbackIn, request: Request) -> Response:
        served = registry.get(name)
        if service.feedback is None:
            raise Problem(404, "this service takes no feedback")
        service.limits.check_documents([body.document])
        # The owner of the API key cannot give another name.
        user = getattr(request.state, "user", None) or body.user
        number, learned = await asyncio.to_thread(service.feedback.take, served, body, user)
        return JsonResponse(
            {"id": number, "model": served.name, "version": served.version, "learned": learned}, 201
        )

    return routes


async def predictions(service: Service, name: str, asked: schemas.PredictIn) -> dict[str, Any]:
    """The answer to a request for labels."""
    served = service.registry.get(name)
    documents, revealed = asked.documents, asked.revealed
    if asked.explain:
        service.limits.check_explanations(len(documents))
    choice = Choice(asked.k, asked.threshold, asked.precision, asked.max_f1, asked.precision_by)
    found = await service.predict(served, documents, choice, revealed)
    rows: list[dict[str, Any]] = [
        {"id": str(number) if document.id is None else document.id, "labels": labels}
        for number, (document, labels) in enumerate(zip(documents, found, strict=True))
    ]
    if asked.explain:
        whys = [
            service.explain(
                served,
                document,
                [label["id"] for label in labels],
                revealed=None if revealed is None else revealed[number],
            )
            for number, (document, labels) in enumerate(zip(documents, found, strict=True))
        ]
        for row, why in zip(rows, await asyncio.gather(*whys), strict=True):
            row["explanation"] = why
    return {"model": served.name, "version": served.version, "predictions": rows}
