"""Noordewier, Towell, Shavlik. Advances in Neural Information Processing Systems 3, 530 (1991)."""
