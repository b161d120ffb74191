"""Simple predictors; whatever is fitted is fitted on training rows alone."""
