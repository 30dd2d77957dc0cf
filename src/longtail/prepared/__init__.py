"""Training data prepared once: texts, features and labels as files that are mapped into memory."""
