# shellcheck shell=bash disable=SC2034  # what the scripts of this folder share; sourced, never run

guest=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin      # ip, rdma and modprobe, for users other than root
cache=${JRDMA_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/jrdma-guest}

# Exit codes of our own
MISSING_PACKAGES=77     # something has to be installed first
TIMED_OUT=124           # as timeout(1) says it
GUEST_FAILED=125        # the engine failed, not the command

say() { echo "guest: $*" >&2; }

fail() {
    say "$@"
    exit "$GUEST_FAILED"
}

# Sets JAVA_HOME.
find_jdk_25() {
    local jdk
    for jdk in "${JAVA_HOME:-}" "${JAVA25_HOME:-}" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/*; do
        if [[ -x $jdk/bin/javac ]] && grep -qs '^JAVA_VERSION="25' "$jdk/release"; then
            JAVA_HOME=$(realpath "$jdk")
            export JAVA_HOME
            return
        fi
    done
    fail "there is no JDK 25 in JAVA_HOME, JAVA25_HOME or below /usr/lib/jvm"
}

# ---- Debian packages

GUEST_PACKAGES=(busybox-static iproute2 ibverbs-providers ibverbs-utils rdmacm-utils perftest)
QEMU_PACKAGES=(qemu-system-x86 kmod)
CONTAINER_PACKAGES=(docker.io iptables busybox-static)
UML_BUILD_PACKAGES=(gcc libc6-dev make flex bison bc xz-utils debian-archive-keyring)
QEMU_BUILD_PACKAGES=(gcc libc6-dev make xz-utils zstd)

# Returns if all the packages named are installed, else exits with the one line that installs what is missing.
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

# The Debian release of this machine: bookworm, trixie, ...
codename() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

# The mirror this machine uses: where its apt finds the "main" of its own release.
debian_mirror() {
    local mirror=${JRDMA_GUEST_MIRROR:-}
    # shellcheck disable=SC2016  # the dollars are for apt-get
    [[ $mirror ]] || mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$(codename)" '$1 == release && $2 == "main" && !found++ { print $3 }')
    [[ $mirror ]] || fail "apt on this machine knows no Debian mirror: name one in JRDMA_GUEST_MIRROR"
    echo "$mirror"
}

# Runs apt-get or apt-cache with lists and downloads in ./apt, and the sources that ./apt/sources.list names, if it is there:
# the machine's own stay as they are.
private() {
    local tool=$1 options=()
    shift
    mkdir -p apt/lists/partial apt/cache/archives/partial
    [[ ! -e apt/sources.list ]] || options=(-o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null)
    "$tool" -q -o Dir::State::Lists="$PWD/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$PWD/apt/cache" \
        -o APT::Sandbox::User=root "${options[@]}" "$@"
}

# ---- Kernels in the cache: their names say what they were built by, so that a change makes a new one

# Changes whenever one of the files does, in more than its comments.
fingerprint() { cat -- "$@" | grep -v '^ *#' | sha256sum | cut -c1-12; }

uml_key() { fingerprint "$guest/uml.config" "$guest/build-uml"; }
qemu_key() { fingerprint "$guest/build-qemu" "$guest/init-qemu"; }

# The path of the newest kernel that is up to date; empty if there is none.
uml_kernel() { newest "$cache/linux-uml-$(uml_key)-"*; }
qemu_kernel() { newest "$cache/qemu-$(qemu_key)-"*; }

newest() {
    local newest=$1 path
    for path; do [[ ! $path -nt $newest ]] || newest=$path; done
    [[ ! -e $newest ]] || echo "$newest"
}

# ---- Ends

# Sees to it that this script runs a clean-up ($1), with its exit code in code, however it ends.
end_with() {
    # shellcheck disable=SC2064  # the name is known now
    trap "code=\$?; trap '' HUP INT TERM; $1" EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# ---- Building, in a directory that is gone afterwards

# Waits until nobody else builds this ($1); then the cache may have what was to be built.
lock_build() {
    mkdir -p "$cache"
    exec {lock}> "$cache/build-$1.lock"
    flock --nonblock "$lock" && return
    say "waiting for another build of the same"
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
    say "done in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}

clean_up() {
    rm -rf "$work"
    ((code == 0)) && return
    ((code > 128)) && exit "$code"      # told to end
    tail -n 20 "$log" >&2
    say "the build failed; its log: $log"
    exit "$GUEST_FAILED"
}
