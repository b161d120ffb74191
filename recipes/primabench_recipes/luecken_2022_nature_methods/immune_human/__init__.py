"""33,506 human immune cells of ten batches, as scIB published them."""
