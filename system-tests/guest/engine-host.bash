# shellcheck shell=bash  # The engine "host", which runs the command on this machine itself; sourced by run. Ignores --memory, --cpus and --writable.
#
# If this machine has an RDMA device, the command uses it. Otherwise, the first run creates the devices of a guest (two dummy interfaces, rxe0,
# siw0), and the last run that ends removes them. This requires root and a kernel with rdma_rxe.

run_command() {
    need "${GUEST_PACKAGES[@]}"
    mkdir -p "$cache"
    exec {users}> "$cache/host.lock"
    # A run that uses the devices holds a shared lock. A run that creates or removes them holds an exclusive lock. The loop is necessary because flock
    # releases one lock before it acquires the other, so that another run may remove the devices in between.
    while flock --shared "$users" && ! device_exists; do
        flock "$users"
        device_exists || make_devices
    done

    ulimit -l unlimited 2> /dev/null || say "this user may lock only $(ulimit -l) KiB of memory"
    [[ ! ${JAVA_HOME:-} ]] || PATH=$JAVA_HOME/bin:$PATH
    job=
    end_with clean_up
    setpriv --pdeathsig TERM timeout --kill-after=2 "$timeout" bash -c "$command" {users}>&- < /dev/null &
    job=$!
    wait "$job"
}

device_exists() { compgen -G '/sys/class/infiniband/*' > /dev/null; }

make_devices() {
    ((EUID == 0)) || fail "This machine has no RDMA device, and only root can create one with rdma_rxe."
    if ! add_device rxe jrdma-rxe 10.77.0.1/24; then
        remove_devices
        fail "This machine has no RDMA device, and its kernel $(uname -r) cannot create one with rdma_rxe. Use --engine uml or qemu."
    fi
    add_device siw jrdma-siw 10.77.1.1/24 2> /dev/null || remove_device jrdma-siw     # Debian's kernel has no siw, for example
}

# Creates an RDMA device like add_device in in-guest. The kernel loads the modules automatically.
add_device() {
    ip link add "$2" type dummy &&
        ip address add "$3" dev "$2" &&
        ip link set "$2" up &&
        rdma link add "${1}0" type "$1" netdev "$2"
}

# An RDMA device is removed together with its interface.
remove_device() { ip link delete "$1" 2> /dev/null || true; }

clean_up() {
    if [[ $job ]] && kill "$job" 2> /dev/null; then wait "$job" || true; fi
    if flock --nonblock "$users"; then remove_devices; fi
}

remove_devices() {
    remove_device jrdma-rxe
    remove_device jrdma-siw
}
