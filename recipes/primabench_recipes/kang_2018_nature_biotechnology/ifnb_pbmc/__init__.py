"""Blood cells of eight lupus patients with and without interferon beta."""
