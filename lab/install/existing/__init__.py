"""A lab on a cluster that was there before: how it gets in, and how it leaves."""
