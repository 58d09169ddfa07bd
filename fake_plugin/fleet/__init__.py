"""What the fleet file says about one node.

    file → Mapping → reading → Plan(shares, health, faults)

`plan` holds the values, which know nothing of YAML; `reading` takes them from the file.
"""
