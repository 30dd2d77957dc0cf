"""Routes of Annif's REST API, so that its clients can use this service: a project is a model, a subject a label."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import longtail
from longtail.serving.json_body import JsonResponse, JsonRoute
from longtail.serving.predicting import Choice, Labels
from longtail.serving.problem import Problem
from longtail.serving.problems import in_words
from longtail.serving.registry import Served
from longtail.serving.schemas import DocumentIn, FeedbackIn, Id, Text
from longtail.serving.service import Service
from longtail.storage.manifest import MANIFEST

LIMIT = 10
"""Subjects per document unless the client says how many."""
LANGUAGE = "und"
"""A model does not know its language: undetermined, in the words of ISO 639."""

Limit = Annotated[int, Query(ge=1)]
Threshold = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


class _Lenient(BaseModel):
    """A body of Annif's clients, which may have further keys."""

    model_config = ConfigDict(strict=True)


class BatchDocument(_Lenient):
    """A document of suggest-batch."""

    text: Text
    document_id: Id | None = None


class BatchIn(_Lenient):
    """The body of suggest-batch."""

    documents: list[BatchDocument]


class Subject(_Lenient):
    """A subject of a document to learn from."""

    uri: Id
    label: str | None = None


class LearnDocument(_Lenient):
    """A document to learn from."""

    text: Text
    subjects: list[Subject]


class _Form(BaseModel):
    text: Text
    limit: Annotated[int, Field(ge=1)] = LIMIT
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    language: str | None = None


FORM_TYPE = "application/x-www-form-urlencoded"
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            FORM_TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["text"],
                    "properties": {
                        "text": {"type": "string"},
                        "limit": {"type": "integer", "minimum": 1, "default": LIMIT},
                        "threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
                        "language": {"type": "string"},
                    },
                }
            }
        },
    }
}


def router(service: Service) -> APIRouter:
    """The routes below ``/v1`` that Annif's clients call."""
    routes = APIRouter(prefix="/v1", tags=["Annif-compatible"], route_class=JsonRoute)
    registry = service.registry

    @routes.get("/", summary="The name and version of the service", response_model=dict[str, str])
    async def about() -> Response:
        return JsonResponse({"title": "longtail, Annif-compatible API", "version": longtail.__version__})

    @routes.get("/projects", summary="The models as projects", response_model=dict[str, Any])
    async def projects() -> Response:
        return JsonResponse({"projects": [project(served) for served in registry.models.values()]})

    @routes.get("/projects/{name}", summary="A model as a project", response_model=dict[str, Any])
    async def one_project(name: str) -> Response:
        return JsonResponse(project(registry.get(name)))

    @routes.post(
        "/projects/{name}/suggest",
        summary="Subjects of a text",
        response_model=dict[str, Any],
        openapi_extra=FORM,
    )
    async def suggest(name: str, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != FORM_TYPE:
            raise Problem(415, f"the body must be of the type {FORM_TYPE}")
        return JsonResponse(await suggestions(service, name, await request.body()))

    @routes.post(
        "/projects/{name}/suggest-batch", summary="Subjects of texts", response_model=list[dict[str, Any]]
    )
    async def suggest_batch(
        name: str,
        body: BatchIn,
        limit: Limit = LIMIT,
        threshold: Threshold = 0.0,
        language: str | None = None,
    ) -> Response:
        texts = [document.text for document in body.documents]
        found = await _suggested(service, registry.get(name), texts, limit, threshold)
        return JsonResponse(
            [
                {"document_id": document.document_id, "results": results}
                for document, results in zip(body.documents, found, strict=True)
            ]
        )

    @routes.post("/projects/{name}/learn", status_code=204, summary="Learn from documents with subjects")
    async def learn(name: str, body: list[LearnDocument], request: Request) -> Response:
        served = registry.get(name)
        if service.feedback is None:
            raise Problem(404, "this service takes no feedback, so it does not learn")
        given = []
        known = served.system.labels_.index
        for number, document in enumerate(body):
            if not document.text or not document.subjects:
                raise Problem(422, f"document {number} has no text or no subject: there is nothing to learn")
            unknown = next((subject.uri for subject in document.subjects if subject.uri not in known), None)
            if unknown is not None:
                raise Problem(422, f"document {number}: the model '{name}' has no label {unknown!r}")
            asked = DocumentIn.model_construct(id=None, title="", text=document.text)
            uris = list(dict.fromkeys(subject.uri for subject in document.subjects))
            given.append(FeedbackIn.model_construct(document=asked, accepted=uris, user=None))
        service.limits.check_documents([feedback.document for feedback in given])
        user = getattr(request.state, "user", None)
        for feedback in given:
            await asyncio.to_thread(service.feedback.take, served, feedback, user)
        return Response(status_code=204)

    return routes


async def suggestions(service: Service, name: str, body: bytes) -> dict[str, Any]:
    """The answer to a form with a text."""
    served = service.registry.get(name)
    form = form_of(body)
    [found] = await _suggested(service, served, [form.text], form.limit, form.threshold)
    return {"results": found}


async def _suggested(
    service: Service, served: Served, texts: list[str], limit: int, threshold: float
) -> list[list[dict[str, Any]]]:
    documents = [DocumentIn.model_construct(id=None, title="", text=text) for text in texts]
    # A limit that nobody asked for is no reason to refuse.
    k = min(limit, service.limits.k) if limit == LIMIT else limit
    found = await service.predict(served, documents, Choice(k, threshold))
    return [subjects(labels) for labels in found]


def form_of(body: bytes) -> _Form:
    """The fields of a form as browsers and Annif's client send them."""
    try:
        fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=10)
        # A form has strings only, so numbers are read from them.
        return _Form.model_validate(dict(fields))
    except ValidationError as error:
        raise Problem(422, in_words(error.errors())) from None
    except ValueError as error:
        raise Problem(400, f"the form cannot be read: {type(error).__name__}") from None


def project(served: Served) -> dict[str, Any]:
    """A model in the words of Annif."""
    try:
        changed = datetime.fromtimestamp((served.path / MANIFEST).stat().st_mtime, UTC).isoformat()
    except OSError:
        changed = None
    return {
        "project_id": served.name,
        "name": f"{served.name} ({served.system.name})",
        "language": LANGUAGE,
        "backend": {"backend_id": f"longtail-{served.system.name}"},
        "vocab": {"vocab_id": served.name, "languages": [LANGUAGE]},
        "vocab_language": LANGUAGE,
        "is_trained": True,
        "modification_time": changed,
    }


def subjects(labels: Labels) -> list[dict[str, Any]]:
    """Labels in the words of Annif."""
    return [
        {"uri": label["id"], "label": label["text"] or label["id"], "notation": None, "score": label["score"]}
        for label in labels
    ]
