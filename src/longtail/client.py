"""The client of the web service: the methods of a model, answered by ``longtail serve``.

    client = Client("http://127.0.0.1:8100")
    client.predict(["a text to tag"]).labels[0]

It needs the standard library only. One client keeps one connection and may be used by several threads.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from longtail.errors import ServiceError, UsageError
from longtail.types import Document, Documents, DocumentsLike, TopK

if TYPE_CHECKING:
    from longtail.explain import Explanation

DOCUMENTS, CHARACTERS = 200, 1_000_000
"""Documents and characters of one request; more are sent in several."""
BUSY = (429, 503)


class Client:
    """A model of a service. Answers name the version of the model that gave them: see ``version``."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8100",
        model: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
    ) -> None:
        """``model``: its name in the service; None: the default model.

        Args:
            timeout: seconds to wait for an answer.
            retries: how often a request is sent again when the service is busy.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url!r} is not the address of a service, such as http://127.0.0.1:8100")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.url, self._path = url, parts.path.rstrip("/")
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._headers = {"Accept": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._retries, self._lock, self._model = retries, threading.Lock(), model
        self.version: str | None = None
        """The version of the model that gave the latest answer."""

    # --- the methods of a model ---------------------------------------------------------------------------

    def predict(
        self,
        documents: DocumentsLike,
        k: int = 5,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        max_f1: bool = False,
        precision_by: str | None = None,
        revealed: Sequence[Sequence[str]] | None = None,
    ) -> TopK:
        """The k best labels of each document, best first; see ``System.predict``."""
        asked = Documents.of(documents)
        if asked.features is not None:
            raise UsageError("the service tags texts, not feature rows")
        if revealed is not None and len(revealed) != len(asked):
            raise UsageError(f"there are {len(asked)} documents but {len(revealed)} lists of revealed labels")
        chosen = _given(
            threshold=threshold, precision=precision, max_f1=max_f1 or None, precision_by=precision_by
        )
        answers: list[list[Mapping[str, Any]]] = []
        for rows in _requests(asked):
            some = [_document(asked[row]) for row in rows]
            known = {} if revealed is None else {"revealed": [list(revealed[row]) for row in rows]}
            found = self._post("predict", {"documents": some, "k": k, **chosen, **known})
            answers += [prediction["labels"] for prediction in found["predictions"]]
        return _top_k(answers, k)

    def explain(
        self,
        document: str | Document,
        label: str | Sequence[str] | None = None,
        *,
        k: int = 3,
        revealed: Sequence[Sequence[str]] | None = None,
    ) -> Explanation:
        """Why a document has its labels; see ``System.explain``."""
        [asked] = Documents.of(document)
        labels = [label] if isinstance(label, str) else label
        known = None if revealed is None else [label for row in revealed for label in row]
        more = _given(labels=None if labels is None else list(labels), revealed=known)
        found = self._post("explain", {"document": _document(asked), "k": k, **more})
        return _explanation(found["explanation"])

    # --- labels, feedback, models -------------------------------------------------------------------------

    def labels(self, query: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """Labels whose names or words begin with the query: id, text, documents."""
        return list(self._get(f"labels?{urlencode({'q': query, 'limit': limit})}")["labels"])

    def label(self, id: str) -> dict[str, Any]:
        """All that the model knows of a label."""
        return dict(self._get(f"labels/{quote(id, safe='')}"))

    def feedback(
        self,
        document: str | Document,
        *,
        accepted: Sequence[str] = (),
        rejected: Sequence[str] = (),
        added: Sequence[str] = (),
        user: str | None = None,
    ) -> dict[str, Any]:
        """Say which labels are right, which are wrong, and which are missing."""
        [asked] = Documents.of(document)
        told = {"accepted": list(accepted), "rejected": list(rejected), "added": list(added)}
        return dict(self._post("feedback", {"document": _document(asked), **told, **_given(user=user)}))

    def models(self) -> list[dict[str, Any]]:
        """The models of the service."""
        return list(self._request("GET", "/v1/models")["models"])

    def info(self) -> dict[str, Any]:
        """The model: version, settings, metrics, capabilities, card."""
        return dict(self._request("GET", self._place("")))

    @property
    def model(self) -> str:
        """The name of the model; without one the service is asked for its default."""
        if self._model is None:
            self._model = next(str(model["name"]) for model in self.models() if model["default"])
        return self._model

    # --- requests -----------------------------------------------------------------------------------------

    def _place(self, route: str) -> str:
        return f"/v1/models/{quote(self.model, safe='')}" + (f"/{route}" if route else "")

    def _get(self, route: str) -> Any:
        return self._request("GET", self._place(route))

    def _post(self, route: str, body: Mapping[str, Any]) -> Any:
        answer = self._request("POST", self._place(route), body)
        self.version = answer.get("version", self.version)
        return answer

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        for left in range(self._retries, -1, -1):
            status, headers, content = self._send(method, self._path + path, data)
            if status in BUSY and left and "retry-after" in headers:
                time.sleep(float(headers["retry-after"]))
                continue
            break
        try:
            answer = json.loads(content)
        except ValueError:
            answer = {}
        if status >= 400 or not isinstance(answer, dict) or not answer:
            told = answer.get("detail") if isinstance(answer, dict) else None
            raise ServiceError(f"{self.url} answered {status}: {told or 'no reason given'}", status=status)
        return answer

    def _send(self, method: str, path: str, data: bytes | None) -> tuple[int, dict[str, str], bytes]:
        headers = self._headers if data is None else {**self._headers, "Content-Type": "application/json"}
        with self._lock:
            for fresh in (self._connection.sock is None, True):
                try:
                    self._connection.request(method, path, data, headers)
                    answer = self._connection.getresponse()
                    content = answer.read()
                    told = {name.lower(): value for name, value in answer.getheaders()}
                    return answer.status, told, content
                except (OSError, http.client.HTTPException) as error:
                    self._connection.close()
                    # The service may have closed a connection that was idle: a new one is tried once.
                    if fresh or isinstance(error, TimeoutError):
                        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                        raise ServiceError(f"{self.url} does not answer: {reason}") from None
        raise AssertionError("the second try returns or raises")

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _document(document: Document) -> dict[str, str]:
    return {"id": document.id, "title": document.title, "text": document.text}


def _requests(documents: Documents) -> Iterator[list[int]]:
    """Row numbers, as many as go into one request."""
    rows: list[int] = []
    characters = 0
    for row, (title, text) in enumerate(zip(documents.titles, documents.texts, strict=True)):
        size = len(title) + len(text)
        if rows and (len(rows) == DOCUMENTS or characters + size > CHARACTERS):
            yield rows
            rows, characters = [], 0
        rows.append(row)
        characters += size
    if rows:
        yield rows


def _top_k(answers: Sequence[Sequence[Mapping[str, Any]]], k: int) -> TopK:
    """Predictions over the labels that the answers name."""
    numbers: dict[str, int] = {}
    indices = np.full((len(answers), k), -1, np.int32)
    scores = np.zeros((len(answers), k), np.float32)
    for row, labels in enumerate(answers):
        for place, label in enumerate(labels):
            indices[row, place] = numbers.setdefault(label["id"], len(numbers))
            scores[row, place] = label["score"]
    return TopK(indices, scores, list(numbers))


def _explanation(found: Mapping[str, Any]) -> Explanation:
    """What ``Explanation.to_dict`` was made from."""
    from longtail import explain

    kinds: dict[str, Any] = {
        "words": explain.Word,
        "names": explain.Name,
        "neighbours": explain.Neighbour,
        "documents": explain.NearDocument,
        "members": explain.MemberShare,
    }
    labels = []
    for label in found["labels"]:
        lists = {key: [kind(**one) for one in label[key]] for key, kind in kinds.items()}
        labels.append(explain.LabelExplanation(**{**label, **lists}))
    return explain.Explanation(found["text"], labels)
