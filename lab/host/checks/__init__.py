"""Checks of this machine, each a small function that returns one finding.

A check measures and judges, and changes nothing. What it needs of the machine is handed to it, so
that a test can hand it another machine.
"""
