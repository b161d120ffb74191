"""Joins the rooms: a truth, predictions in batches, metrics in isolation, one result."""
