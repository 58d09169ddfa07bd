"""The control API: what is true of the node, and how it is changed from outside.

    doorway    where connections wait for their call to come      token   who may call
    server     how many calls, and for how long                   body    what is asked, strictly
    handler    one call over HTTP, of bounded size                node    what all of it acts on
    routes     which path does what, and what is wrong with it   query  what is wrong behind a `?`
    health, cards, faults, view   the answers

The API server's pod proxy leads here, so it needs no port of its own on the outside. Imported only
where `--control` is given.
"""
