# shellcheck shell=bash disable=SC2154  # The engine "uml", which runs User-Mode Linux, a kernel that is a normal program; sourced by run
. "$guest/virtual-machine.bash"

# Prints the number of a random processor of those that this process may use.
any_processor() {
    local range
    for range in $(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr , ' '); do seq "${range%-*}" "${range#*-}"; done | shuf -n 1
}

run_command() {
    local kernel available cpus=${cpus:-1} pin=()
    kernel=$(uml_kernel)
    if [[ ! $kernel ]]; then
        need "${GUEST_PACKAGES[@]}" "${UML_BUILD_PACKAGES[@]}"
        kernel=$("$guest/build-uml")
    fi
    need "${GUEST_PACKAGES[@]}"

    prepare_share
    cp "$guest/init-uml" "$share/init"
    # Copies the start of /proc/cpuinfo for the guest, because perftest needs the line "cpu MHz", which the /proc/cpuinfo of User-Mode Linux lacks.
    awk -v RS= -v ORS='\n\n' -v cpus="$cpus" 'NR <= cpus' /proc/cpuinfo > "$share/cpuinfo"
    {
        echo 'mount --bind /run/share/cpuinfo /proc/cpuinfo'
        for directory in "${writable[@]}"; do printf 'mount -t hostfs -o %q none %q\n' "$directory" "$directory"; done
    } > "$share/mounts"
    # The memory of the guest is a file, by default in /dev/shm. In a container, /dev/shm is often too small for it, and the guest would be killed by SIGBUS.
    available=$(df --output=avail -m /dev/shm | tail -n 1) || available=0
    ((available >= memory)) || export TMPDIR=$share

    # Each system call of a program in the guest switches to the guest's kernel, which is a separate process on this machine. A switch to a process on
    # another processor takes several times as long as a switch on the same processor.
    ((cpus > 1)) || pin=(taskset --cpu-list "$(any_processor)")

    run_guest "${pin[@]}" "$kernel" mem="${memory}M" ncpus="$cpus" seccomp=auto uml_dir="$share/" umid=uml con=null con0=null,fd:1 quiet \
        random.trust_cpu=on rootfstype=hostfs root=/dev/root ro init="$share/init" share="$share"
}
