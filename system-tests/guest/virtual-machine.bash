# shellcheck shell=bash disable=SC2154  # Functions of the engines uml and qemu, which source this file. The script run sets the options.
#
# Both engines boot a kernel whose process 1 becomes in-guest, and share a directory with it, which contains these files:
#   settings, mounts     input: the command with its environment, and how to mount the writable directories
#   out, err, status     output: the output and the exit code of the command
#   console              the kernel's messages

[[ $(uname -m) == x86_64 ]] || fail "The engine $engine needs an x86-64 machine."

# Boots the guest with a command line ("$@"), copies the output of the guest's command, and exits with the exit code of that command.
run_guest() {
    local output ended code
    # timeout kills the guest when the time has elapsed, and when timeout itself receives SIGTERM, for example because this script was killed. It uses SIGKILL,
    # because User-Mode Linux may ignore other signals, and the guest has no state to save.
    setpriv --pdeathsig TERM timeout --signal=KILL --kill-after=0.1 "$timeout" "$@" > "$share/console" 2>&1 < /dev/null &
    machine=$!
    follow out &
    output=$!
    follow err >&2 &
    [[ ! $verbose ]] || follow console >&2 &
    # The process that copies the output ends before the guest only if the reader of the output has ended, as in "run 'yes' | head".
    wait -n -p ended "$machine" "$output" 2> /dev/null && code=0 || code=$?
    [[ $ended == "$machine" ]] || exit 141
    machine=
    wait        # until the rest of the output is copied
    [[ ! -s $share/status ]] || exit "$(< "$share/status")"
    if ((code == 137)); then
        say "The guest was ended after $timeout s (--timeout)."
        exit "$TIMED_OUT"
    fi
    [[ $verbose ]] || sed '/Call Trace:/,$d' "$share/console" | tail -n 20 >&2
    fail "The guest ended before the command ($engine: exit code $code)."
}

# Prints a file ($1) of the shared directory while the file is written, until the guest has ended.
follow() { exec tail --pid="$machine" --sleep-interval=0.05 -c +1 -f "$share/$1"; }

# Creates the shared directory, which is removed when this script ends.
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
