"""Labels of the nearest training documents; documents are added and removed without training."""
