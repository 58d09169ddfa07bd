"""The plugin of one node, as whoever breaks and mends things sees it.

    words ──▶ health, faults   what is asked for, by the plugin's own rules
                    │
               node_plugin     the acts, one method each ──▶ api   calls and refusals
                    │
    health, cards, faults, overview, journal, metrics              what is answered

Values that the plugin has itself, such as `Fault` and `Breakage`, are its own here too.
"""
