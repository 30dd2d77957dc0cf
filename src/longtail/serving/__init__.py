"""The web service: models behind HTTP, and the feedback that its users give."""
