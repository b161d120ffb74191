"""Model-free predictors, resolved by name when they run."""
