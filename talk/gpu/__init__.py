"""The worker: the only folder that imports torch or triton. The driver never imports it."""
