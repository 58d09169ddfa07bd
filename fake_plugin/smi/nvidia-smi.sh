# nvidia-smi: what is asked for, and of which devices.

# Exit codes are those of the real one's manual, section RETURN VALUE.
usage_error() {
    line '%s Please run '\''nvidia-smi -h'\'' for help.\n' "$1"
    exit 2
}

not_imitated() {
    line 'gpu-lab: this nvidia-smi does not imitate %s; nvidia-smi --help says what it does.' "$1"
    exit 3
}

help() {
    line 'NVIDIA System Management Interface -- v%s, as gpu-lab imitates it.\n' "$driver"
    line 'nvidia-smi [OPTION]...\n'
    line '  (none)                        the table of this container'\''s GPUs'
    line '  -L, --list-gpus               one line per GPU and MIG device'
    line '  -q, --query                   all that is known, line by line'
    line '  -d, --display=SECTION,...     of -q only MEMORY, UTILIZATION, ECC, TEMPERATURE, POWER'
    line '  --query-gpu=FIELD,...         a row per GPU, with --format=csv[,noheader][,nounits]'
    line '  --query-compute-apps=FIELD,.. the processes: always none'
    line '  --help-query-gpu              the fields of --query-gpu'
    line '  -i, --id=ID,...               only these: index, UUID or PCI bus ID'
    line '  -l, --loop=SECONDS            again and again, until Ctrl-C; -lms for milliseconds'
    line '  --version                     the versions of tool, library and driver'
    line '  -h, --help                    this text\n'
    line 'It needs a shell and nothing else. A figure that gpu-lab does not know is N/A.'
}

help_fields() {
    driver='' now='' count='' index='' product='' serial='' card='' pci='' partitionable='' profile=''
    architecture='' condition='' temperature='' memory_temperature='' total='' used=''
    utilization='' power='' limit='' reserved='' clock='' memory_clock=''
    for field in timestamp driver_version count index name serial uuid pci.bus_id pci.domain \
        pci.bus pci.device persistence_mode mig.mode.current mig.mode.pending compute_mode \
        compute_cap pstate ecc.mode.current ecc.mode.pending temperature.gpu temperature.memory \
        memory.total memory.used memory.free memory.reserved utilization.gpu utilization.memory \
        power.draw power.draw.instant power.draw.average power.limit enforced.power.limit \
        power.default_limit power.max_limit fan.speed clocks.sm clocks.mem clocks.gr \
        clocks.max.sm clocks.max.mem clocks.max.graphics vbios_version pcie.link.gen.current \
        pcie.link.width.current ecc.errors.corrected.volatile.total \
        ecc.errors.corrected.aggregate.total ecc.errors.uncorrected.volatile.total \
        ecc.errors.uncorrected.aggregate.total; do
        csv_field "$field"
        line '"%s"%s' "$field" "${suffix:+ in $suffix}"
    done
}

versions() {
    line 'NVIDIA-SMI version  : %s' "$driver"
    line 'NVML version        : %s' "${driver%.*}"
    line 'DRIVER version      : %s' "$driver"
    line 'CUDA Version        : %s' "$runtime"
}

list() { each list_unit; }

list_unit() {
    is_chosen || return 0
    if [ "$is_first" = yes ]; then
        if [ "$condition" = lost ]; then
            line 'Unable to determine the device handle for gpu %s: Unknown Error' "$pci"
        else
            line 'GPU %s: %s (UUID: %s)' "$index" "$product" "$card"
        fi
    fi
    [ -z "$profile" ] || [ "$condition" = lost ] ||
        line '  MIG %-11s Device %2s: (UUID: %s)' "$profile" "$device" "$unit"
}

rows() {
    tell_time '%Y/%m/%d %H:%M:%S.000'
    count=0
    each count_cards
    each csv_row
}

# Says whether -i names the current unit's card, or nothing.
is_chosen() {
    case ",$chosen," in
        ,, | *",$index,"* | *",$card,"* | *",$unit,"* | *",0000$pci,"* | *",$pci,"*) return 0 ;;
    esac
    return 1
}

find_chosen() { ! is_chosen || any_chosen=yes; }

# Names the devices that NVIDIA's runtime would have given: by its variable where Allocate's is not
# there, and by file names where that is the path of a folder (strategy volume-mounts).
names_of_runtime() {
    [ "$given" = no ] || return 0
    names=${NVIDIA_VISIBLE_DEVICES-}
    case $names in
        /*)
            folder=$names names=''
            set +f
            for path in "$folder"/*; do names=$names,${path##*/}; done
            set -f
            ;;
        none | void) names='' ;;
    esac
}

open_driver() {
    load nvidia
    case $? in
        1)
            line 'NVIDIA-SMI has failed because it couldn'\''t communicate with the NVIDIA driver. %s\n' \
                'Make sure that the latest NVIDIA driver is installed and running.'
            exit 9
            ;;
        2)
            line 'Failed to initialize NVML: Driver/library version mismatch'
            exit 18
            ;;
    esac
}

open_devices() {
    open_driver
    any_chosen=no
    each find_chosen
    [ "$any_chosen" = yes ] || {
        line 'No devices were found'
        exit 6
    }
}

action=table chosen='' sections='' fields='' format='' every=''

# ask ACTION: one question at a time, as with the real one.
ask() {
    case $action in
        table | "$1") action=$1 ;;
        *) usage_error 'Invalid combination of input arguments.' ;;
    esac
}

# Arithmetic on what is no number could run it.
number() {
    case $1 in
        '' | *[!0-9]*) usage_error "ERROR: Option $option has the value $1, which is no number." ;;
    esac
}

while [ $# -gt 0 ]; do
    option=$1
    shift
    case $option in
        --*=*)
            argument=${option#*=}
            option=${option%%=*}
            ;;
        -i | -d | -lms | --id | --display | --query-gpu | --query-compute-apps | --format | --loop-ms)
            [ $# -gt 0 ] || usage_error "ERROR: Option $option is missing its value."
            argument=$1
            shift
            ;;
        -l | --loop)
            argument=5
            case ${1-} in [0-9]*) argument=$1 && shift ;; esac
            ;;
        *) argument='' ;;
    esac
    case $option in
        -h | --help) ask help ;;
        --help-query-gpu) ask help_fields ;;
        --version) ask versions ;;
        -L | --list-gpus) ask list ;;
        -q | --query) ask log ;;
        -d | --display) sections=$argument ;;
        -i | --id) chosen=$argument ;;
        --query-gpu) ask rows && fields=$argument && header=csv_field ;;
        --query-compute-apps) ask processes && fields=$argument && header=process_field ;;
        --format) format=$argument ;;
        -l | --loop) number "$argument" && every=$argument ;;
        -lms | --loop-ms)
            number "$argument"
            every=$(printf '%d.%03d' $((argument / 1000)) $((argument % 1000)))
            ;;
        dmon | pmon | topo | nvlink | mig | clocks | vgpu | daemon | replay | boost-slider | \
            power-hint | drain | conf-compute | -x | --xml-format | -f | --filename | -u | --unit | \
            -B | --list-excluded-gpus | -r | --gpu-reset | -pm | -pl | -mig | -c | -e | -ac | -lgc)
            not_imitated "$option"
            ;;
        *) usage_error "ERROR: Option $option is not recognized." ;;
    esac
done

names_given
names_of_runtime
case $action in
    help | versions) open_driver && $action && exit ;;
    help_fields) help_fields && exit ;;
    rows | processes) read_format "$format" ;;
esac
open_devices
case $action in
    rows | processes)
        now='' count=0
        csv_header "$header"
        ;;
esac
[ "$action" != processes ] || action=:
$action
while [ -n "$every" ]; do
    [ -n "$(command -v sleep)" ] || not_imitated '--loop in an image that has no sleep'
    sleep "$every" || exit
    open_devices
    $action
done
