# The container's units, for all programs: which they are, and their fields one by one.
# Nothing here but what the shell itself can do: an image may have no other program.

# shellcheck shell=sh
# No file names are made of what stands in the table or in the environment.
set -u -f
newline='
'
blank=" 	$newline"
IFS=$blank
LC_ALL=C
export LC_ALL

# line FORMAT VALUE…
line() {
    format_=$1
    shift
    # shellcheck disable=SC2059 # the formats are this program's own
    printf "$format_\\n" "$@"
}

# Leaves 20 times $1, or as often as $2 says, in `filled`.
fill() {
    filled=''
    while [ "${#filled}" -lt "$2" ]; do filled=$filled$1; done
}

# Collects the names that Allocate gave: every resource of a container has a variable of its own,
# and where two answers set the short one, the kubelet keeps either.
names_given() {
    names='' given=no
    IFS=$newline
    for exported in $(export -p); do
        case $exported in
            'export GPULAB_VISIBLE_DEVICES'* | 'declare -x GPULAB_VISIBLE_DEVICES'*) ;;
            *) continue ;;
        esac
        suffix=${exported#*GPULAB_VISIBLE_DEVICES}
        suffix=${suffix%%=*}
        # What looks like a variable may be a line of another one's value.
        case $suffix in *[!A-Z0-9_]*) continue ;; esac
        is_set=''
        eval "is_set=\${GPULAB_VISIBLE_DEVICES$suffix+yes}"
        [ "$is_set" = yes ] || continue
        given=yes
        eval "names=\$names,\$GPULAB_VISIBLE_DEVICES$suffix"
    done
    IFS=$blank
}

# Says whether the unit of the current fields is this container's: by its name, or by a number.
is_mine() {
    case ",$names," in
        *",all,"* | *",$unit,"* | *",$card,"*) return 0 ;;
    esac
    [ "$given" = no ] || return 1
    case ",$names," in
        *",$minor,"* | *",$minor:$part,"*) return 0 ;;
    esac
    return 1
}

# Takes a line apart; the order is that of fake_plugin/smi/table.py.
take() {
    IFS='|'
    # shellcheck disable=SC2086 # this is the taking apart
    set -- $1
    IFS=$blank
    unit=$3 card=$4 minor=$5 pci=$6 serial=$7 product=$8 architecture=$9
    shift 9
    partitionable=$1 profile=$2 part=$3 instance=$4 condition=$5 code=$6
    utilization=$7 used=$8 total=$9
    shift 9
    power=$1 limit=$2 temperature=$3 memory_temperature=$4
    reserved=$5 clock=$6 memory_clock=$7
}

# Reads the lines of vendor $1 that are this container's into `mine`: 1 where there is no table, 2
# where it is of a format that this program does not know.
load() {
    mine='' driver='' runtime='' found=''
    [ -r "$units" ] || return 1
    while IFS= read -r text; do
        case $text in
            'gpulab-units|'*)
                found=${text#*|}
                [ "$found" = "$table_format|." ] || return 2
                ;;
            "driver|$1|"*)
                text=${text#"driver|$1|"}
                driver=${text%%|*}
                runtime=${text#*|}
                runtime=${runtime%%|*}
                ;;
            "unit|$1|"*)
                take "$text"
                is_mine && mine=$mine$text$newline
                ;;
        esac
    done <"$units"
    [ -n "$found" ] || return 1
}

# each FUNCTION: calls it for every unit, with its fields taken. `index` counts cards from 0, as
# they count in a container, `device` the parts of a card; `is_first` says yes on the first of one.
each() {
    index=-1 last=''
    IFS=$newline
    for text in $mine; do
        take "$text"
        if [ "$card" = "$last" ]; then
            device=$((device + 1)) is_first=no
        else
            index=$((index + 1)) device=0 last=$card is_first=yes
        fi
        "$1"
    done
    IFS=$blank
}

# Leaves the value $1 with its unit $2 in `shown`, or what the tools say where there is none.
show() {
    if [ -n "$1" ]; then shown=$1${2-}; else shown='N/A'; fi
}

# Leaves the time in `now`, formatted by $1; empty where the image has no `date`.
tell_time() {
    now=''
    if [ -n "$(command -v date)" ]; then now=$(date "+$1"); fi
}
