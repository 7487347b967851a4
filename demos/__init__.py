"""The sections in running order; each is a module here that ends with its `SECTION`."""

ORDER = ("s1_warm_up", "s5_memory_wall")
