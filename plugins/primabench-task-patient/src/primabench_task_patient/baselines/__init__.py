"""Model-free embeddings, resolved by name when they run."""
