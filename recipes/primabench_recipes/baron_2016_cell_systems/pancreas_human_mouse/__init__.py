"""Pancreas cells of four humans and two mice, with types named alike."""
