"""What requests and answers look like; OpenAPI is made from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MAX_ID = 1000
"""Characters of an id at most."""


def sound(value: str) -> str:
    """The text; a NUL or half a surrogate pair in it is an error."""
    if "\0" in value:
        raise ValueError("the character NUL is not allowed")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair is not allowed") from None
    return value


Text = Annotated[str, AfterValidator(sound)]
Id = Annotated[str, Field(max_length=MAX_ID), AfterValidator(sound)]
Labels = Annotated[list[Id], Field(max_length=1000)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Threshold = Annotated[float, Field(allow_inf_nan=False)]


class Request(BaseModel):
    """A request body: no key that is not known, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DocumentIn(Request):
    """A document to tag."""

    id: Id | None = None
    title: Text = ""
    text: Text = ""


class PredictIn(Request):
    """Documents to tag, and how many labels to give; only one of threshold, precision and max_f1."""

    documents: list[DocumentIn]
    k: Count = 5
    threshold: Threshold | None = None
    precision: Probability | None = None
    max_f1: bool = False
    precision_by: Literal["all", "frequency"] = "all"
    revealed: list[list[Id]] | None = None
    explain: bool = False


class ExplainIn(Request):
    """A document, and the labels to explain; none named: the k best ones."""

    document: DocumentIn
    labels: list[Id] | None = None
    k: Count = 3
    revealed: list[Id] | None = None


class FeedbackIn(Request):
    """What a person thinks of the labels of a document."""

    document: DocumentIn
    accepted: Labels = []
    rejected: Labels = []
    added: Labels = []
    user: Id | None = None


class LabelScore(BaseModel):
    """A label of a document."""

    id: str
    text: str
    score: float


class Prediction(BaseModel):
    """The labels of a document, best first."""

    id: str
    labels: list[LabelScore]
    explanation: dict[str, Any] | None = None


class PredictOut(BaseModel):
    """The labels of each document, in the order of the request."""

    model: str
    version: str
    predictions: list[Prediction]


class ExplainOut(BaseModel):
    """Why a document has its labels."""

    model: str
    version: str
    explanation: dict[str, Any]


class FeedbackOut(BaseModel):
    """The number of the stored feedback."""

    id: int | str
    model: str
    version: str
    learned: bool


class LabelFound(BaseModel):
    """A label with the number of its training documents."""

    id: str
    text: str
    documents: int


class LabelsOut(BaseModel):
    """Labels, the best match first."""

    labels: list[LabelFound]


class LabelWeight(BaseModel):
    """A label that is linked to another one."""

    id: str
    text: str
    weight: float


class Example(BaseModel):
    """A training document; the text is empty where the model does not keep it."""

    id: str
    text: str


class LabelPage(BaseModel):
    """Everything that a model knows of a label."""

    id: str
    text: str
    names: list[str]
    documents: int
    neighbours: list[LabelWeight]
    neighbours_from: Literal["documents", "graph"]
    nearest: list[LabelScore]
    examples: list[Example]


class ModelSummary(BaseModel):
    """A model of the service."""

    name: str
    version: str
    system: str
    labels: int
    documents: int
    default: bool


class ModelsOut(BaseModel):
    """The models of the service, the default first."""

    models: list[ModelSummary]


class AbilitiesOut(BaseModel):
    """What a model can do in the service."""

    revealed: bool
    feedback: bool
    learn: bool
    explain: bool
    precision: bool


class ModelOut(ModelSummary):
    """A model with its settings, metrics and card."""

    config: dict[str, Any]
    members: list[str]
    metrics: dict[str, Any]
    capabilities: AbilitiesOut
    card: str
