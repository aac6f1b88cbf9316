# shellcheck shell=bash disable=SC2034  # Functions that are shared by scripts of this directory and by other scripts, which source this file

guest=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin      # ip, rdma and modprobe, for users other than root
cache=${JRDMA_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/jrdma-guest}

# Exit codes of these scripts
MISSING_PACKAGES=77     # a Debian package is not installed
TIMED_OUT=124           # the exit code of timeout(1)
GUEST_FAILED=125        # the engine failed, not the command

say() { echo "guest: $*" >&2; }

fail() {
    say "$@"
    exit "$GUEST_FAILED"
}

# Sets JAVA_HOME to a JDK 25.
find_jdk_25() {
    local jdk
    for jdk in "${JAVA_HOME:-}" "${JAVA25_HOME:-}" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/*; do
        if [[ -x $jdk/bin/javac ]] && grep -qs '^JAVA_VERSION="25' "$jdk/release"; then
            JAVA_HOME=$(realpath "$jdk")
            export JAVA_HOME
            return
        fi
    done
    fail "There is no JDK 25 in JAVA_HOME, JAVA25_HOME or below /usr/lib/jvm. Install one and set JAVA_HOME to its directory."
}

# Runs Maven offline first, because that is faster. If that fails, for example because an artifact is missing, runs Maven again with downloads.
maven() {
    mvn --quiet --batch-mode --offline "$@" > /dev/null 2>&1 || mvn --quiet --batch-mode "$@" >&2
}

# Prints 'N passed, N failed, N skipped': the sums over all outputs of JUnit's console launcher in a file ($1).
print_totals() {
    awk '/tests (successful|failed|skipped|aborted) *\]/ { count[$4] += $2 }
        END { printf "%d passed, %d failed, %d skipped\n", count["successful"], count["failed"], count["skipped"] + count["aborted"] }' "$1"
}

# ---- Debian packages

GUEST_PACKAGES=(busybox-static iproute2 ibverbs-providers ibverbs-utils rdmacm-utils perftest)
QEMU_PACKAGES=(qemu-system-x86 kmod)
NVME_PACKAGES=(e2fsprogs fio)
MOUNT_PACKAGES=(fuse3 fio git)
CONTAINER_PACKAGES=(docker.io iptables busybox-static)
UML_BUILD_PACKAGES=(gcc libc6-dev make flex bison bc xz-utils debian-archive-keyring)
QEMU_BUILD_PACKAGES=(gcc libc6-dev make xz-utils zstd)

# Returns if all of these packages are installed. Otherwise prints the command that installs the missing ones, and exits.
need() {
    local package missing=() installed
    installed=" $(dpkg-query -W -f '${Package}/${db:Status-Status} ' "$@" 2> /dev/null)" || true
    for package; do
        [[ $installed == *" $package/installed "* ]] || missing+=("$package")
    done
    ((${#missing[@]} == 0)) && return
    say "missing packages. Install them with: apt-get install --no-install-recommends ${missing[*]}"
    exit "$MISSING_PACKAGES"
}

# Prints the code name of the Debian release of this machine: bookworm, trixie, ...
codename() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

# Prints the address of the Debian mirror from which apt on this machine gets the component "main" of its own release.
debian_mirror() {
    local mirror=${JRDMA_GUEST_MIRROR:-}
    # shellcheck disable=SC2016  # the dollars are for apt-get
    [[ $mirror ]] || mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$(codename)" '$1 == release && $2 == "main" && !found++ { print $3 }')
    [[ $mirror ]] || fail "Cannot find a Debian mirror in the apt sources of this machine. Set JRDMA_GUEST_MIRROR to the address of one."
    echo "$mirror"
}

# Runs apt-get or apt-cache with lists and downloads in ./apt, and with the sources of ./apt/sources.list if that file exists.
# Does not change the lists and downloads of the machine.
private() {
    local tool=$1 options=()
    shift
    mkdir -p apt/lists/partial apt/cache/archives/partial
    [[ ! -e apt/sources.list ]] || options=(-o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null)
    "$tool" -q -o Dir::State::Lists="$PWD/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$PWD/apt/cache" \
        -o APT::Sandbox::User=root "${options[@]}" "$@"
}

# ---- Kernels in the cache: the name of a kernel contains a hash of the files that configure its build, so that a change of these files causes a new build

# Prints a hash of the files without their comment lines.
fingerprint() { cat -- "$@" | grep -v '^ *#' | sha256sum | cut -c1-12; }

uml_key() { fingerprint "$guest/uml.config" "$guest/build-uml"; }
qemu_key() { fingerprint "$guest/build-qemu" "$guest/init-qemu"; }

# Prints the path of the newest kernel in the cache that matches the current files, or nothing if there is none.
uml_kernel() { newest "$cache/linux-uml-$(uml_key)-"*; }
qemu_kernel() { newest "$cache/qemu-$(qemu_key)-"*; }

newest() {
    local newest=$1 path
    for path; do [[ ! $path -nt $newest ]] || newest=$path; done
    [[ ! -e $newest ]] || echo "$newest"
}

# ---- Clean-up

# Makes the script run a command ($1) when it ends for any reason. The command finds the exit code in the variable "code".
end_with() {
    # shellcheck disable=SC2064  # $1 is expanded now
    trap "code=\$?; trap '' HUP INT TERM; $1" EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# ---- Builds in a temporary directory

# Waits until no other process builds the same kernel ($1: uml or qemu). After the wait, the cache may contain the kernel.
lock_build() {
    mkdir -p "$cache"
    exec {lock}> "$cache/build-$1.lock"
    flock --nonblock "$lock" && return
    say "waiting for another process that builds the same kernel"
    flock "$lock"
}

start_build() {
    log=$cache/build-$1.log
    work=$(mktemp -d "$cache/build-$1.XXXXXX")
    end_with clean_up
    cd "$work" || exit
    : > "$log"
}

quietly() { "$@" >> "$log" 2>&1; }

finish_build() {
    rm "$log"
    say "The build took $((SECONDS / 60)) min $((SECONDS % 60)) s."
}

clean_up() {
    rm -rf "$work"
    ((code == 0)) && return
    ((code > 128)) && exit "$code"      # ended by a signal
    tail -n 20 "$log" >&2
    say "the build failed. Its log: $log"
    exit "$GUEST_FAILED"
}
