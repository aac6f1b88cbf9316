# shellcheck shell=bash  # The engine "host": this machine; sourced by run. Ignores --memory, --cpus and --writable.
#
# If there is an RDMA device, the command simply runs. Otherwise, if root can load rdma_rxe, the first run makes the devices of a guest
# (dummy interface, rxe0, siw0), and the last run that ends removes them.

run_command() {
    need "${GUEST_PACKAGES[@]}"
    mkdir -p "$cache"
    exec {users}> "$cache/host.lock"
    # A run that uses the devices holds a shared lock; a run that makes or removes them holds an exclusive lock. There is a gap between the two.
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
    ((EUID == 0)) || fail "this machine has no RDMA device, and only root could make one with rdma_rxe"
    if ! add_device rxe jrdma-rxe 10.77.0.1/24; then
        remove_devices
        fail "this machine has no RDMA device, and its kernel $(uname -r) cannot make one with rdma_rxe: use --engine uml or qemu"
    fi
    add_device siw jrdma-siw 10.77.1.1/24 2> /dev/null || remove_device jrdma-siw     # Debian's kernel has no siw, for example
}

# Like add_device of in-guest, but the kernel loads the modules by itself.
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
