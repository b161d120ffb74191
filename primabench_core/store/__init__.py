"""The store: immutable bytes with their hashes, lazily opened, the solution in a folder of its own."""
