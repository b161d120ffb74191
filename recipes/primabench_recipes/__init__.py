"""Recipes: one folder a publication, one below it a dataset; each turns a public source into immutable bytes."""
