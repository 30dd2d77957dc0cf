"""The search for settings: what is searched, and the search itself."""
