# rocm-smi, in the layout of ROCm 6.3.

# centred TEXT: a line of 90 equals signs, or as many as `width` says, with TEXT in the middle.
centred() {
    [ -z "$json" ] || return 0
    middle=$1
    # An odd text gets a sign more, so that both sides are equal.
    [ $((${#middle} % 2)) = 0 ] || middle=$middle=
    fill '=' $(((width - ${#middle}) / 2))
    line '%s' "$filled$middle$filled"
}

rule() {
    [ -z "$json" ] || return 0
    fill '=' "$width"
    line '%s' "$filled"
}

not_imitated() {
    line 'gpu-lab: this rocm-smi does not imitate %s; rocm-smi --help says what it does.' "$1" >&2
    exit 2
}

help() {
    line 'ROCm System Management Interface | ROCm %s, as gpu-lab imitates it\n' "$runtime"
    line 'rocm-smi [OPTION]...\n'
    line '  (none), -a                 the table of this container'\''s GPUs'
    line '  -i, --showid               device IDs'
    line '  --showproductname          names'
    line '  --showserial               serial numbers'
    line '  --showbus                  PCI addresses'
    line '  -u, --showuse              utilisation'
    line '  --showmeminfo vram         memory, in bytes'
    line '  -t, --showtemp             temperatures'
    line '  -P, --showpower            power'
    line '  -M, --showmaxpower         the most power that a card may take'
    line '  --showdriverversion        version of the driver'
    line '  -d, --device INDEX...      only these'
    line '  --json                     as JSON; not for the table'
    line '  -V, --version              version of the tool'
    line '  -h, --help                 this text\n'
    line 'It needs a shell and nothing else. A figure that gpu-lab does not know is N/A.'
}

# A driver that lost its card, or cannot talk to it, has no figures of it.
silence() {
    case $condition in
        lost | failed)
            power='' temperature='' memory_temperature='' utilization='' used='' limit=''
            clock='' memory_clock=''
            ;;
    esac
}

is_chosen() {
    case " $chosen " in
        '  ' | *" $unit_index "*) return 0 ;;
    esac
    return 1
}

# per_unit FUNCTION: as `each`, with numbers of its own: to ROCm, every part of a card is a GPU.
per_unit() {
    unit_index=-1 called=$1
    each call_unit
}

call_unit() {
    unit_index=$((unit_index + 1))
    ! is_chosen || { silence && $called; }
}

# Rows of the table are joined by bars and lines, to be measured before they are written.
table() {
    [ -z "$json" ] || {
        line 'ERROR: Cannot print JSON/CSV output for concise output'
        exit 1
    }
    heads='Device|Node|IDs||Temp|Power|Partitions|SCLK|MCLK|Fan|Perf|PwrCap|VRAM%|GPU%'
    below='||(DID,|GUID)|(Junction)|(Socket)|(Mem, Compute, ID)|||||||'
    body=''
    per_unit add_row
    measure
    width=0
    for each_width in $widths; do width=$((width + each_width)); done
    rows=$body
    pad "$heads" && heads=$padded
    pad "$below" && below=$padded
    even=$((width + width % 2))
    width=$even
    line '\n'
    centred ' ROCm System Management Interface '
    centred ' Concise Info '
    line '%s' "$heads"
    line '%s' "$below"
    rule
    IFS=$newline
    for row in $rows; do
        pad "$row"
        degrees "$padded"
    done
    IFS=$blank
    rule
    centred ' End of ROCm SMI Log '
}

add_row() {
    partition_of
    heat='N/A' watts='N/A' cap=Unsupported share=Unsupported busy=Unsupported perf=auto
    case $condition in lost | failed) perf=unsupported ;; esac
    if [ -n "$temperature" ]; then heat=$temperature.0@C; fi
    if [ -n "$power" ]; then watts=${power%?}W; fi
    if [ -n "$limit" ]; then cap=$limit.0W; fi
    if [ -n "$used" ] && [ -n "$total" ]; then share=$(((200 * used / total + 1) / 2))%; fi
    if [ -n "$utilization" ]; then busy=$utilization%; fi
    show "$clock" Mhz && sclk=$shown
    show "$memory_clock" Mhz && mclk=$shown
    body="$body$unit_index|N/A|N/A, |N/A|$heat|$watts|$memory_mode, $compute_mode, $part_id"
    body="$body|$sclk|$mclk|0%|$perf|$cap|$share|$busy$newline"
}

# Leaves the modes of the card in `compute_mode` and `memory_mode`; a profile is named after both.
partition_of() {
    compute_mode='N/A' memory_mode='N/A' part_id=${part:-0}
    if [ "$partitionable" = 1 ]; then compute_mode=SPX memory_mode=NPS1; fi
    [ -n "$profile" ] || return 0
    memory_mode='N/A'
    compute_mode=${profile%%_*}
    case $profile in *_*) memory_mode=${profile#*_} ;; esac
}

# Leaves the width of every column in `widths`: that of its longest word, and two spaces.
measure() {
    widths=''
    column=0
    while [ "$column" -lt 14 ]; do
        longest=0
        IFS=$newline
        for row in $heads $below $body; do
            cell "$row" $column
            [ ${#cell} -le "$longest" ] || longest=${#cell}
        done
        IFS=$blank
        widths="$widths $((longest + 2))"
        column=$((column + 1))
    done
}

# cell ROW COLUMN: leaves the word in `cell`.
cell() {
    rest=$1 skipped=0
    while [ "$skipped" -lt "$2" ]; do
        rest=${rest#*|}
        skipped=$((skipped + 1))
    done
    cell=${rest%%|*}
}

pad() {
    padded='' number=0
    IFS=$blank
    for each_width in $widths; do
        cell "$1" $number
        padded=$padded$(printf "%-${each_width}s" "$cell")@@
        padded=${padded%@@}
        number=$((number + 1))
    done
}

# The sign of degrees has two bytes: it is put in when the width is known.
degrees() {
    case $1 in
        *@C*) line '%s' "${1%%@C*}°C${1#*@C}" ;;
        *) line '%s' "$1" ;;
    esac
}

# entry LABEL VALUE [TABS]: what is told of one GPU.
entry() {
    if [ -z "$json" ]; then
        line 'GPU[%s]\t\t: %s: %b%s' "$unit_index" "$1" "${3-}" "$2"
    else
        quote "$2"
        pairs="$pairs${pairs:+, }\"$1\": \"$quoted\""
    fi
}

# Leaves $1 in `quoted` as it stands in a JSON string.
quote() {
    quoted='' rest=$1
    while [ -n "$rest" ]; do
        letter=${rest%"${rest#?}"}
        rest=${rest#?}
        case $letter in '"' | \\) quoted=$quoted\\$letter ;; *) quoted=$quoted$letter ;; esac
    done
}

# The sections, in the order in which the real one writes them.
report() {
    width=90
    if [ -n "$json" ]; then
        objects=''
        [ "$sections" = ' driver' ] || per_unit add_object
        case $sections in
            ' driver'*)
                objects="$objects${objects:+, }\"system\": {\"Driver version\": \"$driver\"}"
                ;;
        esac
        line '{%s}' "$objects"
        return
    fi
    line '\n'
    centred ' ROCm System Management Interface '
    for section in $sections; do
        "title_$section"
        per_unit "tell_$section"
        rule
    done
    centred ' End of ROCm SMI Log '
}

add_object() {
    pairs=''
    for told in $sections; do "tell_$told"; done
    objects="$objects${objects:+, }\"card$unit_index\": {$pairs}"
}

title_id() { centred ' ID '; }
tell_id() {
    entry 'Device Name' "$product" '\t\t'
    entry 'Device ID' N/A '\t\t'
    entry 'Device Rev' N/A '\t\t'
    entry 'Subsystem ID' N/A '\t'
    entry GUID N/A '\t\t'
}

title_product() { centred ' Product Info '; }
tell_product() {
    entry 'Card Series' "$product" '\t\t'
    entry 'Card Model' N/A '\t\t'
    entry 'Card Vendor' 'Advanced Micro Devices, Inc. [AMD/ATI]' '\t\t'
    entry 'Card SKU' N/A '\t\t'
    show "$architecture" && entry 'GFX Version' "$shown" '\t\t'
}

title_serial() { centred ' Serial Number '; }
tell_serial() { show "$serial" && entry 'Serial Number' "$shown"; }

title_bus() { centred ' PCI Bus ID '; }
tell_bus() { entry 'PCI Bus' "$pci"; }

title_use() { centred ' % time GPU is busy '; }
tell_use() { show "$utilization" && entry 'GPU use (%)' "$shown"; }

title_memory() { centred ' Memory Usage (Bytes) '; }
tell_memory() {
    show "${total:+$((total * 1048576))}" && entry 'VRAM Total Memory (B)' "$shown"
    show "${used:+$((used * 1048576))}" && entry 'VRAM Total Used Memory (B)' "$shown"
}

title_temperature() { centred ' Temperature '; }
tell_temperature() {
    show "${temperature:+$temperature.0}" && entry 'Temperature (Sensor junction) (C)' "$shown"
    show "${memory_temperature:+$memory_temperature.0}" &&
        entry 'Temperature (Sensor memory) (C)' "$shown"
}

title_power() { centred ' Power Consumption '; }
tell_power() {
    show "${power%?}" && entry 'Current Socket Graphics Package Power (W)' "$shown"
}

title_limit() { centred ' Power Cap '; }
tell_limit() {
    show "${limit:+$limit.0}" && entry 'Max Graphics Package Power (W)' "$shown"
}

# Of the node, and not of a card.
title_driver() {
    centred ' Version of System Component '
    line 'Driver version: %s' "$driver"
}
tell_driver() { :; }

action=table json='' chosen='' asked=' ' width=90
while [ $# -gt 0 ]; do
    case $1 in
        -i | --showid) asked="$asked id " ;;
        --showproductname) asked="$asked product " ;;
        --showserial) asked="$asked serial " ;;
        --showbus) asked="$asked bus " ;;
        -u | --showuse) asked="$asked use " ;;
        -t | --showtemp) asked="$asked temperature " ;;
        -P | --showpower) asked="$asked power " ;;
        -M | --showmaxpower) asked="$asked limit " ;;
        --showdriverversion) asked="$asked driver " ;;
        --showmeminfo)
            [ "${2-}" = vram ] || not_imitated "--showmeminfo ${2-}"
            asked="$asked memory "
            shift
            ;;
        -a) ;;
        -d | --device)
            while case ${2-} in [0-9]*) true ;; *) false ;; esac; do
                chosen="$chosen ${2}"
                shift
            done
            ;;
        --json) json=yes ;;
        -h | --help) action=help ;;
        -V | --version) action=version ;;
        *) not_imitated "$1" ;;
    esac
    shift
done
sections=''
for section in driver id temperature limit power use serial bus memory product; do
    case $asked in *" $section "*) sections="$sections $section" action=${action%table} ;; esac
done

names_given
load amd || {
    line 'ERROR:root:Driver not initialized (amdgpu not found in modules)' >&2
    exit
}
case ${action:-report} in
    help) help && exit ;;
    version) line 'ROCM-SMI version: 3.0.0\nROCM-SMI-LIB version: 7.5.0' && exit ;;
esac
[ -n "$mine" ] || {
    line 'WARNING: No AMD GPUs specified' >&2
    exit
}
${action:-report}
