"""K562 cells with one or two genes activated (Norman 2019), as scPerturb harmonised them."""
