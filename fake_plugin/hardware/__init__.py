"""The accelerators of a node as things: which there are, and what is broken about them.

    accelerator   a model, as the fleet inlines it       card      one piece of it in this node
    breakage      what is wrong with a card              state     the file that outlives everything
    board         all cards of the node, live: broken, mended, unplugged, plugged
    script        changes of the board that come by themselves
    layout        how cards can be cut up                    driver   versions that all tools tell
    reading       what a driver tells of a card at one moment
    gpu_instances how NVIDIA's driver numbers MIG devices

Nothing here knows of resources or of the kubelet: `fake_plugin.resources` looks at the board. Of
the containers that hold a card, a reading carries the names, which others have found.
"""
