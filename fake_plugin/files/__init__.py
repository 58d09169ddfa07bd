"""How files are read and written.

    document     YAML within bounds             mapping  what is in it, strictly
    replacement  a file that is replaced whole  inode    what tells it from others of its name

Nothing here knows what the files are about.
"""
