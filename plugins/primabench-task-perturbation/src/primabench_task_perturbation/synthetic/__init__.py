"""Made perturbed cells for offline trials: the same bytes on every machine."""
