# Takes from a Debian system, whose root is $1, the units that a node in a container must not
# start: what deals with devices, consoles, clean-up at boot and file systems of a real machine.
cd "$1"
rm -f lib/systemd/system/multi-user.target.wants/* \
  lib/systemd/system/local-fs.target.wants/* \
  lib/systemd/system/basic.target.wants/* \
  lib/systemd/system/sockets.target.wants/*udev* \
  lib/systemd/system/sockets.target.wants/*initctl* \
  lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service \
  etc/systemd/system/*.wants/*
# Messages of the host's kernel would be in the journal of every node.
echo ReadKMsg=no >>etc/systemd/journald.conf
# Each node makes its own.
: >etc/machine-id
rm -rf var/cache/* var/log/* var/lib/apt
