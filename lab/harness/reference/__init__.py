"""The pages of docs/reference that are made from the harness and from the scenarios.

Each module prints its page, as `python -m lab.harness.reference.scenarios` does.
"""
