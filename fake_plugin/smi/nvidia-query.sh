# nvidia-smi --query-gpu, --query-compute-apps and -q.

# csv_field NAME: leaves its heading in `title`, its unit in `suffix` and what the current card has
# of it in `value`; 1 where there is no such field. `kind` is measured where a broken card is silent.
csv_field() {
    title=$1 suffix='' value='' kind=fact
    case $1 in
        timestamp) value=$now ;;
        driver_version) value=$driver ;;
        count) value=$count ;;
        index) value=$index ;;
        name | gpu_name) title=name value=$product ;;
        serial | gpu_serial) title=serial value=$serial ;;
        uuid | gpu_uuid) title=uuid value=$card ;;
        pci.bus_id | gpu_bus_id) title=pci.bus_id value=0000$pci ;;
        pci.domain) value=0x${pci%%:*} ;;
        pci.bus) bus_of "$pci" && value=0x$bus ;;
        pci.device) value=0x${pci##*:} && value=${value%.*} ;;
        persistence_mode) value=Enabled ;;
        mig.mode.current | mig.mode.pending) mig_mode && value=$mig ;;
        compute_mode) value=Default ;;
        compute_cap) capability && value=$cap ;;
        pstate) kind=measured value=P0 ;;
        ecc.mode.current | ecc.mode.pending) value=Enabled ;;
        temperature.gpu) kind=measured value=$temperature ;;
        temperature.memory) kind=measured value=$memory_temperature ;;
        memory.total) kind=memory suffix=MiB value=$total ;;
        memory.used) kind=memory suffix=MiB value=$used ;;
        memory.free) kind=memory suffix=MiB && free_memory && value=$free ;;
        memory.reserved) kind=memory suffix=MiB value=$reserved ;;
        utilization.gpu) kind=share suffix=% value=$utilization ;;
        utilization.memory) suffix=% ;;
        power.draw | power.draw.instant | power.draw.average) kind=measured suffix=W value=$power ;;
        power.limit | enforced.power.limit | power.default_limit | power.max_limit)
            kind=measured suffix=W value=${limit:+$limit.00}
            ;;
        fan.speed) suffix=% ;;
        clocks.sm | clocks.current.sm) title=clocks.current.sm && clock_field ;;
        clocks.mem | clocks.current.memory)
            title=clocks.current.memory kind=measured suffix=MHz value=$memory_clock
            ;;
        clocks.gr | clocks.current.graphics) title=clocks.current.graphics && clock_field ;;
        clocks.max.sm | clocks.max.mem | clocks.max.graphics) suffix=MHz ;;
        vbios_version | pcie.link.gen.current | pcie.link.width.current) ;;
        ecc.errors.corrected.volatile.total | ecc.errors.corrected.aggregate.total)
            kind=measured && ecc_errors && value=$corrected
            ;;
        ecc.errors.uncorrected.volatile.total | ecc.errors.uncorrected.aggregate.total)
            kind=measured && ecc_errors && value=$uncorrected
            ;;
        *) return 1 ;;
    esac
}

clock_field() { kind=measured suffix=MHz value=$clock; }

bus_of() {
    bus=${1#*:}
    bus=${bus%%:*}
}

mig_mode() {
    mig='[N/A]'
    if [ "$partitionable" = 1 ]; then mig=Disabled; fi
    if [ -n "$profile" ]; then mig=Enabled; fi
}

# The compute capability, where the name of the architecture is enough to know it.
capability() {
    cap=''
    case $architecture in
        volta) cap=7.0 ;;
        turing) cap=7.5 ;;
        ada*) cap=8.9 ;;
        hopper) cap=9.0 ;;
    esac
}

free_memory() {
    free=''
    if [ -n "$used" ] && [ -n "$total" ]; then free=$((total - used - ${reserved:-0})); fi
}

ecc_errors() {
    corrected=0 uncorrected=0
    case $condition in
        ecc-corrected) corrected=1 ;;
        ecc-uncorrected) uncorrected=1 ;;
    esac
}

# What is said of a card as a whole is not for who has a part of it, and a broken one says nothing.
csv_value() {
    case $kind:$condition:$profile in
        fact:*) ;;
        *:lost:*) value='[GPU is lost]' ;;
        *:failed:*) value='[Unknown Error]' ;;
        memory:*:?*) value='[Insufficient Permissions]' ;;
        share:*:?*) value='' ;;
    esac
    case $value in
        '') value='[N/A]' ;;
        '['*) ;;
        *) if [ -n "$suffix" ] && [ "$units_shown" = yes ]; then value="$value $suffix"; fi ;;
    esac
}

# Checks `fields`, a list with commas, and writes their headings.
csv_header() {
    heading=''
    IFS=', '
    for field in $fields; do
        IFS=$blank
        "$1" "$field" || refuse_field "$field"
        heading=$heading${heading:+, }$title${suffix:+ [$suffix]}
    done
    IFS=$blank
    [ "$header_shown" = no ] || line '%s' "$heading"
}

csv_row() {
    [ "$is_first" = yes ] && is_chosen || return 0
    row=''
    IFS=', '
    for field in $fields; do
        IFS=$blank
        csv_field "$field"
        csv_value
        row=$row${row:+, }$value
    done
    line '%s' "$row"
}

# No process of a container shows: the driver knows it by a number that the container does not.
process_field() {
    title=$1 suffix=''
    case $1 in
        timestamp | gpu_name | gpu_bus_id | gpu_serial | gpu_uuid | pid | process_name) ;;
        name) title=process_name ;;
        used_memory | used_gpu_memory) title=used_gpu_memory suffix=MiB ;;
        *) return 1 ;;
    esac
}

refuse_field() {
    line 'Field "%s" is not a valid field to query.\n' "$1"
    exit 2
}

# Takes the value of --format apart.
read_format() {
    csv=no header_shown=yes units_shown=yes
    IFS=', '
    for word in $1; do
        case $word in
            csv) csv=yes ;;
            noheader) header_shown=no ;;
            nounits) units_shown=no ;;
            *) csv=wrong && break ;;
        esac
    done
    IFS=$blank
    [ "$csv" = yes ] || usage_error '"--format=" switch is missing or not csv[,noheader][,nounits].'
}

count_cards() { [ "$is_first" = no ] || count=$((count + 1)); }

# entry DEPTH LABEL VALUE: one line of -q; a heading where there is no third word.
entry() {
    fill ' ' $(($1 * 4)) && label=$filled$2
    if [ $# -eq 2 ]; then line '%s' "$label"; else line '%-42s: %s' "$label" "$3"; fi
}

# wants SECTION: whether -d lets it be shown.
wants() {
    case ",$sections," in
        ,, | *",$1,"*) return 0 ;;
    esac
    return 1
}

log() {
    tell_time '%a %b %e %H:%M:%S %Y'
    count=0
    each count_cards
    line '\n==============NVSMI LOG==============\n'
    [ -z "$now" ] || entry 0 Timestamp "$now"
    entry 0 'Driver Version' "$driver"
    entry 0 'CUDA Version' "$runtime"
    line ''
    entry 0 'Attached GPUs' "$count"
    each log_card
    line ''
}

# measured VALUE [UNIT]: leaves in `shown` what -q says of it.
measured() {
    case $condition in
        lost) shown='GPU is lost' ;;
        failed) shown='Unknown Error' ;;
        *) show "$1" "${2:+ $2}" ;;
    esac
}

log_card() {
    is_chosen || return 0
    [ "$is_first" = no ] || log_whole
    [ -z "$profile" ] || [ -n "$sections" ] || log_part
}

log_whole() {
    line 'GPU %s' "0000$pci"
    [ -n "$sections" ] || log_identity
    # What is said of a card as a whole is not for who has a part of it.
    if [ -n "$profile" ]; then used='' total='' reserved='' utilization=''; fi
    ! wants MEMORY || log_memory
    if wants UTILIZATION; then
        entry 1 Utilization
        measured "$utilization" % && entry 2 Gpu "$shown"
        entry 2 Memory N/A
    fi
    ! wants ECC || log_ecc
    if wants TEMPERATURE; then
        entry 1 Temperature
        measured "$temperature" C && entry 2 'GPU Current Temp' "$shown"
        measured "$memory_temperature" C && entry 2 'Memory Current Temp' "$shown"
    fi
    if wants POWER; then
        entry 1 'GPU Power Readings'
        measured "$power" W && entry 2 'Average Power Draw' "$shown"
        measured "${limit:+$limit.00}" W && entry 2 'Current Power Limit' "$shown"
    fi
    [ -n "$sections" ] || entry 1 Processes None
}

log_identity() {
    mig_mode
    entry 1 'Product Name' "$product"
    entry 1 'Persistence Mode' Enabled
    entry 1 'MIG Mode'
    [ "$mig" != '[N/A]' ] || mig='N/A'
    entry 2 Current "$mig"
    entry 2 Pending "$mig"
    show "$serial" && entry 1 'Serial Number' "$shown"
    entry 1 'GPU UUID' "$card"
    entry 1 'Minor Number' "$minor"
    entry 1 PCI
    bus_of "$pci" && entry 2 Bus "0x$bus"
    entry 2 'Bus Id' "0000$pci"
    measured P0 && entry 1 'Performance State' "$shown"
    entry 1 'Compute Mode' Default
}

log_memory() {
    free_memory
    entry 1 'FB Memory Usage'
    measured "$total" MiB && entry 2 Total "$shown"
    measured "$reserved" MiB && entry 2 Reserved "$shown"
    measured "$used" MiB && entry 2 Used "$shown"
    measured "$free" MiB && entry 2 Free "$shown"
}

log_ecc() {
    ecc_errors
    entry 1 'ECC Mode'
    entry 2 Current Enabled
    entry 2 Pending Enabled
    entry 1 'ECC Errors'
    entry 2 Volatile
    measured "$corrected" && entry 3 'DRAM Correctable' "$shown"
    measured "$uncorrected" && entry 3 'DRAM Uncorrectable' "$shown"
}

log_part() {
    take "$text"
    entry 1 'MIG Device'
    entry 2 Index "$device"
    show "$instance" && entry 2 'GPU Instance ID' "$shown"
    entry 2 'Compute Instance ID' 0
    entry 2 'MIG UUID' "$unit"
    free_memory
    entry 2 'FB Memory Usage'
    measured "$total" MiB && entry 3 Total "$shown"
    measured "$used" MiB && entry 3 Used "$shown"
    measured "$free" MiB && entry 3 Free "$shown"
}
