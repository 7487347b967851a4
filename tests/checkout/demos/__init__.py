"""A small package of demos, for tests of what performs them."""

ORDER = ("s1_small",)
