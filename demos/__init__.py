"""The sections in running order; each is a module here that ends with its `SECTION`."""

ORDER = (
    "s1_warm_up",
    "s2_latency",
    "s3_hardware",
    "s4_roofline",
    "s5_memory_wall",
    "s6_patterns",
    "s7_first_kernel",
    "s8_fusion",
)

AFTER = ("s9_challenges",)
"""Recorded, walked and replayed like a section, and no part of the talk."""
