"""Calls of the kubelet that go wrong on command.

`fault` is what a rule says; `book` holds the rules of a node, and tells each call what it meets.
"""
