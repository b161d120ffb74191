"""30,056 kinase-inhibitor affinities with the folds of DeepDTA."""
