"""One kernel family a file, each a ladder: reference, naive, Triton, faster Triton."""
