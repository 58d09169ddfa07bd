"""A cluster that was there before the lab: how it is reached, and what may be done in it."""
