"""What the fleet file says about one node.

    file → Mapping → reading → Plan(shares, health, faults)

`fake_plugin.plan` has the values, which know nothing of YAML; `reading` takes them from the file,
pool by pool (`shares`, `accelerators`, `nvidia_config`) and entry by entry (`script`, `faults`).
Rules that it takes two keys to break are in `pool_rules`, and `offering` tells what a share is
offered as. The lab asks the same modules, so that what it accepts is what a node can serve.
"""
