"""Simple predictors without any training."""
