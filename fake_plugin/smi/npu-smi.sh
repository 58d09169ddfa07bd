# npu-smi info, in the layout of driver 25.2 for cards of one chip.

box='+------------------------------------------------------------------------------------------------+'
thin='+---------------------------+---------------+----------------------------------------------------+'
thick='+===========================+===============+====================================================+'

fail() {
    line '%s' "$1"
    exit 1
}

not_imitated() {
    line 'gpu-lab: this npu-smi does not imitate %s; npu-smi -h says what it does.' "$1"
    exit 1
}

help() {
    line 'npu-smi %s, as gpu-lab imitates it.\n' "$driver"
    line 'npu-smi info                              the table of this container'\''s NPUs'
    line 'npu-smi info -l                           which there are'
    line 'npu-smi info -m                           their numbers, and the names of their chips'
    line 'npu-smi info -t TYPE -i NPU [-c CHIP]     one NPU; TYPE: health, power, temp, usages'
    line 'npu-smi -v                                the version'
    line 'npu-smi -h                                this text\n'
    line 'It needs a shell and nothing else. A figure that gpu-lab does not know is NA or -.'
}

# Leaves the word for the state of the current card in `health`.
judge() {
    health=OK
    [ "$condition" = ok ] || health=Alarm
}

# Leaves $1 in `figure`, or the dash of npu-smi.
figure() { figure=${1:--}; }

table() {
    line "$box"
    line '| npu-smi %-25sVersion: %-53s|' "$driver" "$driver"
    line "$thin"
    line '| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|'
    line '| Chip                      | Bus-Id        | AICore(%%)   Memory-Usage(MB)  HBM-Usage(MB)        |'
    line "$thick"
    each npu_row
    line "$thin"
    line '| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |'
    line "$thick"
    each process_row
}

npu_row() {
    judge
    name=${architecture:-$product}
    if [ ${#name} -gt 19 ]; then name=${name%"${name#???????????????????}"}; fi
    figure "${power%?}" && watts=$figure
    figure "$temperature" && heat=$figure
    figure "$utilization" && busy=$figure
    figure "$used" && hbm=$figure
    figure "$total" && room=$figure
    line '| %-5s %-19s | %-13s | %-11s %-17s %-5s/ %-14s|' \
        "$minor" "$name" "$health" "$watts" "$heat" 0 0
    line '| %-25s | %-13s | %-11s %-5s/ %-11s%-5s/ %-14s|' 0 "$pci" "$busy" 0 0 "$hbm" "$room"
    line "$thick"
}

process_row() {
    line '| %-95s|' "No running processes found in NPU $minor"
    line "$thick"
}

entry() { line '\t%-31s: %s' "$1" "$2"; }

count_units() { count=$((count + 1)); }

list() {
    count=0
    each count_units
    entry 'Total Count' "$count"
    each list_row
}

list_row() {
    line ''
    entry 'NPU ID' "$minor"
    entry 'Chip Count' 1
}

mapping() {
    line '\t%-30s %-30s %-30s %-30s' 'NPU ID' 'Chip ID' 'Chip Logic ID' 'Chip Name'
    logic=0
    each mapping_rows
}

# Beside its chip, each card has a management controller, which is listed as one.
mapping_rows() {
    name=$product
    case $architecture in 910* | 310*) name="Ascend $architecture" ;; esac
    line '\t%-30s %-30s %-30s %-30s' "$minor" 0 "$logic" "$name"
    line '\t%-30s %-30s %-30s %-30s' "$minor" 1 - Mcu
    logic=$((logic + 1))
}

one() {
    any=no
    each one_unit
    [ "$any" = yes ] || fail "Error parameter of -i, NPU $chosen is not in this container"
}

one_unit() {
    [ "$minor" = "$chosen" ] || return 0
    any=yes
    "one_$kind"
}

one_health() {
    judge
    entry 'Health Status' "$health"
    entry 'Error Code' "${code:-NA}"
    entry 'Error Information' NA
}

heading() {
    entry 'NPU ID' "$minor"
    entry 'Chip Count' 1
    line ''
}

one_power() {
    heading
    power=${power%?}
    entry 'NPU Real-time Power(W)' "${power:-NA}"
    entry 'Chip ID' 0
}

one_temp() {
    heading
    entry 'NPU Temperature (C)' "${temperature:-NA}"
    entry 'Chip ID' 0
}

one_usages() {
    heading
    rate=''
    if [ -n "$used" ] && [ -n "$total" ]; then rate=$((100 * used / total)); fi
    entry 'HBM Capacity(MB)' "${total:-NA}"
    entry 'HBM Usage Rate(%)' "${rate:-NA}"
    entry 'Aicore Usage Rate(%)' "${utilization:-NA}"
    entry 'Chip ID' 0
}

# Names the devices that Ascend's runtime would have given: numbers, ranges of them, or names.
names_of_runtime() {
    [ "$given" = no ] || return 0
    IFS=,
    for word in ${ASCEND_VISIBLE_DEVICES-}; do
        case $word in
            *[!0-9-]* | -* | *-) names=$names,$word ;;
            *-*)
                number=${word%%-*}
                while [ "$number" -le "${word##*-}" ]; do
                    names=$names,$number
                    number=$((number + 1))
                done
                ;;
            *) names=$names,$word ;;
        esac
    done
    IFS=$blank
}

action=table chosen='' kind=''
case ${1-} in
    info) shift ;;
    -v) action=version && shift ;;
    -h | --help | '') action=help && shift $# ;;
    *) not_imitated "$1" ;;
esac
while [ $# -gt 0 ]; do
    option=$1
    shift
    case $option in
        -l) action=list ;;
        -m) action=mapping ;;
        -h) action=help ;;
        -t | -i | -c)
            [ $# -gt 0 ] || fail "Error parameter of $option, its value is missing"
            case $option in
                -t) action=one kind=$1 ;;
                -i) chosen=$1 ;;
            esac
            shift
            ;;
        *) not_imitated "$option" ;;
    esac
done
case $action:$kind in
    one:health | one:power | one:temp | one:usages)
        [ -n "$chosen" ] || fail 'Error parameter of -i, the NPU is missing'
        ;;
    one:*) not_imitated "info -t $kind" ;;
esac

names_given
names_of_runtime
load ascend || fail 'dcmi module initialize failed. ret is -8005'
case $action in
    version) line 'npu-smi version: %s' "$driver" && exit ;;
    help) help && exit ;;
esac
[ -n "$mine" ] || fail 'dcmi model initialized failed, because the device is used. ret is -8020'
$action
