"""What a node offers, from what the fleet gives to it to the lists that the kubelet is told.

    inventory      cards, and by the vendors the resources; follows what is plugged and unplugged
    numbering      which card of a node is which          preference  which devices fit together
    resource       one resource: its list, live           list_size   lists that a kubelet takes
    naming         names that a kubelet takes             message_limit  how large a message is

Nothing here knows of sockets: `fake_plugin.serving` has them.
"""
