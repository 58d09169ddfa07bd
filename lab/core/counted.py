"""A number of things in words."""


def counted(number: int, noun: str) -> str:
    """Return a number of things, as `1 device` or `2 devices`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
