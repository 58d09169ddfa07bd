"""The control API: what is true of the node, and how it is changed from outside.

    server     HTTP within bounds: threads, sizes, times          token   who may call
    routes     which path does what, and what is wrong with it    body    what is asked, strictly
    node       what all of it acts on
    health, cards, faults, view   the answers

The API server's pod proxy leads here, so it needs no port of its own on the outside. Imported only
where `--control` is given.
"""
