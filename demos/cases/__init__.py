"""What the sections compute, and what it must cost: one file for each shape of inputs."""
