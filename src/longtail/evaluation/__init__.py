"""From predictions to a report: data first, then a table in the terminal or a page with plots."""

from longtail.evaluation.evaluate import evaluate
from longtail.evaluation.insight import Insight
from longtail.evaluation.report import Report

__all__ = ["Insight", "Report", "evaluate"]
