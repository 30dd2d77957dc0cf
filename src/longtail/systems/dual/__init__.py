"""A dual encoder that is trained on documents and label texts, with label vectors and votes of near documents."""
