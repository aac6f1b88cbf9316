# shellcheck shell=bash disable=SC2154  # what the engines uml and qemu have in common; sourced by them; the options come from run
#
# Both boot a kernel that ends in in-guest, and share a directory with it:
#   settings, mounts     go in: the command and what it needs to know; how to mount what is writable
#   out, err, status     come out: what the command wrote, its exit code
#   console              what the kernel says

[[ $(uname -m) == x86_64 ]] || fail "the engine $engine needs an x86-64 machine"

# Boots what "$@" starts, passes on what the command writes and exits as it did.
run_guest() {
    local output ended code
    # timeout ends the guest by force, at once or when it is told to end itself, which happens also if this script is killed: User-Mode Linux may
    # ignore anything else, and nothing in the guest is worth saving.
    setpriv --pdeathsig TERM timeout --signal=KILL --kill-after=0.1 "$timeout" "$@" > "$share/console" 2>&1 < /dev/null &
    machine=$!
    follow out &
    output=$!
    follow err >&2 &
    [[ ! $verbose ]] || follow console >&2 &
    # The output ends first only if nobody reads it any more, as in "run 'yes' | head".
    wait -n -p ended "$machine" "$output" 2> /dev/null && code=0 || code=$?
    [[ $ended == "$machine" ]] || exit 141
    machine=
    wait        # for the rest of the output
    [[ ! -s $share/status ]] || exit "$(< "$share/status")"
    if ((code == 137)); then
        say "ended after $timeout s"
        exit "$TIMED_OUT"
    fi
    [[ $verbose ]] || sed '/Call Trace:/,$d' "$share/console" | tail -n 20 >&2
    fail "the guest ended before the command did ($engine: exit code $code)"
}

# Prints what is written to a file of the shared directory, until the machine has ended.
follow() { exec tail --pid="$machine" --sleep-interval=0.05 -c +1 -f "$share/$1"; }

# Makes the shared directory, which is gone when this script ends.
prepare_share() {
    machine=
    end_with clean_up
    share=$(mktemp -d --tmpdir jrdma-guest.XXXXXX)
    touch "$share"/{out,err,console}
    cp "$guest/in-guest" "$share"
    JAVA_HOME=${JAVA_HOME:-} directory=$PWD
    declare -p command directory HOME JAVA_HOME PATH > "$share/settings"
}

clean_up() {
    if [[ $machine ]] && kill "$machine" 2> /dev/null; then wait "$machine" 2> /dev/null || true; fi
    rm -rf "$share"
}
