# shellcheck shell=bash disable=SC2154  # what the engines uml and qemu have in common; sourced by them; the options come from run
#
# Both boot a kernel that ends in in-guest, and share a directory with it:
#   settings, mounts     go in: the command and what it needs to know; how to mount what is writable
#   out, err, status     come out: what the command wrote, its exit code
#   console              what the kernel says

# Boots what "$@" starts, passes on what the command writes and exits as it did.
run_guest() {
    local ended
    # timeout puts the guest into a process group of its own and ends all of it, also when this script dies or is told to end.
    setpriv --pdeathsig TERM timeout --kill-after=2 "$timeout" "$@" > "$share/console" 2>&1 < /dev/null &
    machine=$!
    follow out &
    local output=$!
    follow err >&2 &
    [[ ! $verbose ]] || follow console >&2 &
    # The output ends first only if nobody reads it any more, as in "run 'yes' | head".
    wait -n -p ended "$machine" "$output" && machine_status=0 || machine_status=$?
    [[ $ended == "$machine" ]] || exit 141
    machine=
    wait
    leave
}

# Prints what is written to a file of the shared directory, until the machine has ended.
follow() { exec tail --pid="$machine" --sleep-interval=0.05 -c +1 -f "$share/$1"; }

leave() {
    [[ ! -s $share/status ]] || exit "$(< "$share/status")"
    if ((machine_status == 124 || machine_status == 137)); then
        say "ended after $timeout s"
        exit 124
    fi
    [[ $verbose ]] || tail -n 20 "$share/console" >&2
    fail "the guest ended before the command did ($engine: exit code $machine_status)"
}

# Makes the shared directory, which is gone when this script ends, however it ends.
prepare_share() {
    machine=
    end_with clean_up
    share=$(mktemp -d --tmpdir jrdma-guest.XXXXXX)
    touch "$share"/{out,err,console}
    cp "$guest/in-guest" "$share"
    JAVA_HOME=${JAVA_HOME:-} directory=$PWD
    declare -p command directory HOME JAVA_HOME > "$share/settings"
}

clean_up() {
    end_job "$machine"
    rm -rf "$share"
}
