"""The command line: ``main`` and one file a command; a command's module is imported when it is invoked."""
