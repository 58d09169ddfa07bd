"""The control API: what is true of the node, and how it is changed from outside.

    server     how many calls, and for how long                   token   who may call
    handler    one call over HTTP, of bounded size                body    what is asked, strictly
    routes     which path does what, and what is wrong with it    node    what all of it acts on
    health, cards, faults, view   the answers

The API server's pod proxy leads here, so it needs no port of its own on the outside. Imported only
where `--control` is given.
"""
