"""Ryu et al. Conference on Computer Vision and Pattern Recognition, 23902 (2023)."""
