# shellcheck shell=bash  # This machine itself; sourced by run. --memory, --cpus and --writable mean nothing here.
#
# Where there is an RDMA device, the command simply runs. Where there is none, but root can have rdma_rxe, the first run makes what a guest
# has (dummy interface, rxe0, siw0), and the last one that ends removes it.

run_command() {
    need "${GUEST_PACKAGES[@]}"
    mkdir -p "$cache"
    exec {users}> "$cache/host.lock"
    # Whoever uses the devices holds a shared lock, and whoever makes or removes them an exclusive one. There is a gap between the two.
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
    ip link add jrdma-dummy type dummy || fail "this machine has no RDMA device, and cannot make an interface for one"
    ip address add 10.77.0.1/24 dev jrdma-dummy
    ip link set jrdma-dummy up
    if ! rdma link add rxe0 type rxe netdev jrdma-dummy; then      # loads the module if need be
        remove_devices
        fail "this machine has no RDMA device, and its kernel $(uname -r) has no rdma_rxe: use --engine uml or qemu"
    fi
    rdma link add siw0 type siw netdev jrdma-dummy 2> /dev/null || true
}

# RDMA devices go with the interface they are on.
remove_devices() { ip link delete jrdma-dummy 2> /dev/null || true; }

clean_up() {
    end_job "$job"
    if flock --nonblock "$users"; then remove_devices; fi
}
