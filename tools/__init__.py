"""Programs for those who work on longtail itself."""
