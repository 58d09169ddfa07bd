# nvidia-smi without options: the table, in the layout of driver 570.

rule='+-----------------------------------------------------------------------------------------+'
gpu_rule='+-----------------------------------------+------------------------+----------------------+'
mig_rule='+------------------+----------------------------------+-----------+-----------------------+'

# Leaves $1 in `cut`, shortened to 27 letters as nvidia-smi does it.
cut_name() {
    cut=$1
    if [ "${#cut}" -gt 27 ]; then cut=${cut%"${cut#????????????????????????}"}...; fi
}

table() {
    lost='' lost_card=''
    each find_lost
    if [ -n "$lost" ]; then
        printf '%s' "$lost"
        exit 15
    fi
    tell_time '%a %b %e %H:%M:%S %Y'
    [ -z "$now" ] || line '%s       ' "$now"
    line "$rule"
    line '| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-9s|' \
        "$driver" "$driver" "$runtime"
    line '|%s' "${gpu_rule#+}"
    line '| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |'
    line '| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |'
    line '|                                         |                        |               MIG M. |'
    line '|=========================================+========================+======================|'
    has_parts=no
    each gpu_row
    [ "$has_parts" = no ] || mig_table
    line '%-89s' ''
    line "$rule"
    line '| Processes:                                                                              |'
    line '|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |'
    line '|        ID   ID                                                               Usage      |'
    line '|=========================================================================================|'
    line '|  No running processes found                                                             |'
    line "$rule"
}

# A driver that has lost a card cannot open it: no table then, as with the real one.
find_lost() {
    [ "$condition" = lost ] && [ "$card" != "$lost_card" ] && is_chosen || return 0
    lost_card=$card
    lost="${lost}Unable to determine the device handle for GPU$pci: Unknown Error$newline"
}

gpu_row() {
    is_chosen || return 0
    [ -z "$profile" ] || has_parts=yes
    [ "$is_first" = yes ] || return 0
    name=$product fan=' N/A' perf='   P0' ecc=0 mig='N/A'
    show "${power%.*}" W && usage=$shown
    show "$limit" W && cap=$shown
    [ "$usage" != N/A ] || usage='N/A '
    [ "$cap" != N/A ] || cap='N/A '
    show "$temperature" C && heat=$shown
    show "$utilization" % && busy=$shown
    if [ "$partitionable" = 1 ]; then mig=Disabled; fi
    if [ "$condition" = ecc-uncorrected ]; then ecc=1; fi
    memory_column
    if [ -n "$profile" ]; then
        # What is said of a card as a whole is not for who has a part of it.
        mig=Enabled ecc=On busy='N/A' memory='N/A  '
    fi
    if [ "$condition" = failed ] && [ -z "$profile" ]; then
        name='ERR!' fan='ERR!' heat='ERR!' perf='ERR! ' usage='ERR!' cap='ERR!' ecc='ERR!'
        busy='ERR!' mig='ERR!'
    fi
    cut_name "$name"
    line '| %3s  %-27s    On  | %18s Off | %20s |' "$index" "$cut" "0000$pci" "$ecc"
    line '|%4s  %4s %5s           %5s / %5s | %22s |%8s %12s |' \
        "$fan" "$heat" "$perf" "$usage" "$cap" "$memory" "$busy" Default
    line '|                                         |                        | %20s |' "$mig"
    line "$gpu_rule"
}

memory_column() {
    if [ -z "$used$total" ]; then
        memory='N/A  '
        return
    fi
    show "$used" MiB && memory=$shown
    show "$total" MiB && memory="$memory / $(printf '%9s' "$shown")"
}

mig_table() {
    line ''
    line "$rule"
    line '| MIG devices:                                                                            |'
    line "$mig_rule"
    line '| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |'
    line '|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |'
    line '|                  |                                  |        ECC|                       |'
    line '|==================+==================================+===========+=======================|'
    each mig_row
}

mig_row() {
    [ -n "$profile" ] && is_chosen || return 0
    show "$instance" && gi=$shown
    show "$used" MiB && memory=$shown
    show "$total" MiB && room=$(printf '%8s' "$shown")
    ecc=0
    case $condition in
        ecc-uncorrected) ecc=1 ;;
        failed) memory='ERR!' ecc='ERR!' ;;
    esac
    line '|%3s  %3s %3s %3s  | %18s / %-12s|N/A %6s |N/A N/A  N/A  N/A  N/A |' \
        "$index" "$gi" 0 "$device" "$memory" "$room" "$ecc"
    line '|                  |                N/A /      N/A    |           |                       |'
    line "$mig_rule"
}
