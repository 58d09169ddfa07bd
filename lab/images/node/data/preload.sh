# Puts the images of archive $2 into a new containerd store. $1 is a folder with `containerd` and
# `ctr`, $3 an empty folder for the store, $4 one for the rest; it is short enough for a socket.
export PATH="$1:$PATH"
socket="$4/containerd.sock"
cat >"$4/config.toml" <<EOF
version = 3
root = "$3"
state = "$4/state"
# The store alone is wanted: the plugins that run containers would look at this host.
disabled_plugins = [
  "io.containerd.cri.v1.images",
  "io.containerd.cri.v1.runtime",
  "io.containerd.grpc.v1.cri",
  "io.containerd.nri.v1.nri",
]
# The sockets belong to who builds, who need not be root.
[grpc]
  address = "$socket"
  uid = $(id -u)
  gid = $(id -g)
[ttrpc]
  uid = $(id -u)
  gid = $(id -g)
EOF
containerd --config "$4/config.toml" --log-level warn &
daemon=$!
# How the daemon ends is no matter any more: what was imported is on the disk.
trap 'kill "$daemon" 2>/dev/null; wait "$daemon" || :' EXIT
tries=0
until ctr --address "$socket" version >/dev/null 2>&1; do
  kill -0 "$daemon"
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || { echo "containerd did not answer within 30 s" >&2; exit 1; }
  sleep 0.1
done
ctr --address "$socket" --namespace k8s.io images import --all-platforms --digests --no-unpack \
  --label io.cri-containerd.pinned=pinned "$2" >&2
