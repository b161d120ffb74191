"""What a frozen embedding knows: metrics of the task ``embedding_quality``."""
