# shellcheck shell=bash disable=SC2034  # what the scripts of this folder share; sourced, never run

guest=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${JRDMA_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/jrdma-guest}

MISSING_PACKAGES=77     # exit code: something has to be installed first
GUEST_FAILED=125        # exit code: the engine failed, not the command in the guest

say() { echo "guest: $*" >&2; }

fail() {
    say "$@"
    exit "$GUEST_FAILED"
}

# ---- Debian packages

GUEST_PACKAGES=(busybox-static iproute2 ibverbs-providers ibverbs-utils rdmacm-utils perftest)
UML_BUILD_PACKAGES=(gcc libc6-dev make flex bison bc xz-utils debian-archive-keyring)

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
        awk -v release="$(codename)" '$1 == release && $2 == "main" { print $3; exit }')
    [[ $mirror ]] || fail "apt on this machine knows no Debian mirror: name one in JRDMA_GUEST_MIRROR"
    echo "$mirror"
}

# Runs apt-get or apt-cache with sources, lists and downloads in ./apt: the machine's own stay as they are.
private() {
    local tool=$1
    shift
    mkdir -p apt/lists/partial apt/cache/archives/partial
    "$tool" -q -o Dir::State::Lists="$PWD/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$PWD/apt/cache" \
        -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root "$@"
}

# ---- Kernels in the cache: their names say what they were built by, so that a change makes a new one

# Changes whenever one of the files does, in more than its comments.
fingerprint() { cat -- "$@" | grep -v '^ *#' | sha256sum | cut -c1-12; }

uml_key() { fingerprint "$guest/uml.config" "$guest/build-uml"; }

# The path of the newest kernel built by this script from this configuration; empty if there is none.
uml_kernel() {
    local kernels
    kernels=$(ls -t "$cache/linux-uml-$(uml_key)"-* 2> /dev/null) || true
    head -n 1 <<< "$kernels"
}
