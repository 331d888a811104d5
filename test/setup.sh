# setup.sh -- sourced by ./quickstart and ./check: messages, Debian packages on a machine that lacks them, build folders.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
say() { printf '\n== %s\n' "$*"; }
fail() { printf 'godwit: %s\n' "$*" >&2; exit 1; }

packages_for() {
    case $1 in
    build) echo gcc libc6-dev meson ninja-build pkg-config python3 libpmix-dev libfabric-dev ;;
    check) echo make xz-utils autoconf automake libtool libblas-dev g++ gfortran clang clang-format clang-tidy libclang-rt-14-dev cmake valgrind iproute2 util-linux binutils mpich libmpich-dev openmpi-bin libopenmpi-dev nftables slurm-wlm libpmi2-0-dev munge libmunge-dev procps gdb tmux chromium libsimgrid-dev python3-jsonschema ;;
    long) echo liblapack-dev zlib1g-dev m4 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user openssh-server dpkg-dev debhelper lintian abigail-tools lmod ;;
    esac
}

# configure DIR [meson options]: unless it is; again if files were added or removed since, as by git pull.
configure() {
    if [ ! -f "$1/build.ninja" ]; then
        meson setup "$@"
    elif [ -n "$(find src test tools sim fuzz fortran lib -type d -newer "$1/build.ninja" -print -quit)" ]; then
        meson setup --reconfigure "$1"
    fi
}

# with_progress QUIET LOG COMMAND...: its output goes into the log, of which the last [n/m], of ninja, is told: on a terminal by a line that renews
# itself, elsewhere every ten seconds.  QUIET: not empty: it is not.  Its status is the command's.
with_progress() {
    quiet_=$1 log_=$2
    shift 2
    "$@" > "$log_" 2>&1 &
    pid_=$! tick_=0
    trap 'kill "$pid_" 2> /dev/null; exit 130' INT TERM
    while [ -z "$quiet_" ] && kill -0 "$pid_" 2> /dev/null; do
        sleep 1 & # waited for, so that a command that ends at once does not cost a second
        wait "$!"
        tick_=$((tick_ + 1))
        at_=$(tr '\r' '\n' < "$log_" | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 of \2 steps/p' | tail -n 1)
        if [ -t 2 ]; then
            printf '\r%s, %d s\033[K' "${at_:-${log_##*/}}" "$tick_" >&2
        elif [ $((tick_ % 10)) = 0 ]; then
            echo "${at_:-${log_##*/}}, $tick_ s" >&2
        fi
    done
    [ -n "$quiet_" ] || [ ! -t 2 ] || printf '\r\033[K' >&2
    trap - INT TERM
    wait "$pid_"
}

# need_packages SET...: installs what is missing, saying so; with sudo where not root.
need_packages() {
    missing=
    for set_ in "$@"; do
        for p in $(packages_for "$set_"); do
            dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
        done
    done
    if [ -z "$missing" ]; then
        echo "all there"
        return 0
    fi
    command -v apt-get >/dev/null || fail "these Debian packages are needed, but there is no apt-get here:$missing"
    root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "please install as root: apt-get install$missing"
        root=sudo
    fi
    echo "installing from Debian:$missing"
    log=$(mktemp)
    if ! { $root apt-get update && $root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } > "$log" 2>&1; then
        tail -n 20 "$log"
        fail "apt-get could not install:$missing (log: $log)"
    fi
    rm -f "$log"
}
