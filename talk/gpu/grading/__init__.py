"""The process that grades: what an attendee wrote runs here, and nothing of the driver does."""
