"""The web service: models behind HTTP with micro-batching, limits, reload, metrics and a page (FastAPI)."""
