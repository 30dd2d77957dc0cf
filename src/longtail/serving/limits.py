"""Limits of the service: how much one request may ask for, how much may wait, how long it may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from longtail.errors import UsageError
from longtail.serving.problem import Problem

if TYPE_CHECKING:
    from longtail.serving.schemas import DocumentIn


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Every bound of the service; each has an option of ``longtail serve``."""

    body_bytes: int = 8 * 2**20
    """Bytes of a request body."""
    documents: int = 1000
    """Documents of a request."""
    explanations: int = 20
    """Documents of a request that are explained."""
    characters: int = 200_000
    """Characters of a document, title and text together."""
    k: int = 200
    """Labels per document that a request may ask for."""
    batch: int = 256
    """Documents that are tagged in one go, of all clients together."""
    queue: int = 4000
    """Documents that may wait for a model, of all clients together."""
    requests: int = 1000
    """Requests that may be under way at the same time."""
    seconds: float = 30.0
    """Seconds until a request is given up, with its body to be read within them."""
    drain_seconds: float = 30.0
    """Seconds that requests under way have left after SIGTERM."""

    def __post_init__(self) -> None:
        wrong = next((f.name for f in fields(self) if not getattr(self, f.name) > 0), None)
        if wrong is not None:
            raise UsageError(f"the limit '{wrong}' must be above 0, not {getattr(self, wrong)!r}")
        if self.queue < self.documents:
            raise UsageError(
                f"the queue takes {self.queue:,} documents but a request may have {self.documents:,}: "
                "raise the limit 'queue' or lower 'documents'"
            )

    def check_documents(self, documents: Sequence[DocumentIn]) -> None:
        """Refuse too many documents, and documents that are too long."""
        if len(documents) > self.documents:
            raise Problem(
                413, f"there are {len(documents):,} documents, but a request may have {self.documents:,}"
            )
        for number, document in enumerate(documents):
            self.check_characters(len(document.title) + len(document.text), f"document {number}")

    def check_explanations(self, documents: int) -> None:
        """Refuse to explain too many documents: each may take as long as hundreds of predictions."""
        if documents > self.explanations:
            raise Problem(
                413,
                f"there are {documents:,} documents, but a request may have {self.explanations:,} explained",
            )

    def check_characters(self, characters: int, what: str = "the text") -> None:
        """Refuse a text that is too long."""
        if characters > self.characters:
            raise Problem(
                413, f"{what} has {characters:,} characters, but a document may have {self.characters:,}"
            )

    def check_k(self, k: int) -> None:
        """Refuse more labels per document than the service gives."""
        if k > self.k:
            raise Problem(422, f"k is {k:,}, but a request may ask for {self.k:,} labels per document")
