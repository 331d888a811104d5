#!/bin/sh
# What Godwit writes on its own account goes into no file that a link leads to: memory report, statistics of files, profile, cards' counters.
# A stranger can leave links in /tmp; each is reported in a sentence, and the job does not fail.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=${2:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
fail() { echo "output_files: $*"; cat "$out"; exit 1; }
echo "as it was" >"$dir/victim"
chmod 1777 "$dir"

# check FILE...: none was written through; then, without the links, each is a file
linked() { for f; do ln -s "$dir/victim" "$dir/$f"; done; }
unharmed() {
    [ "$(cat "$dir/victim")" = "as it was" ] || fail "$1 wrote where a link leads"
    grep -q "it is a link, which is not followed" "$out" || fail "$1: no word of the link in"
    [ -z "$(ls -A "$dir" | grep '^\.godwit' || :)" ] || fail "$1 leaves a file behind: $(ls -A "$dir")"
}
written() { for f; do [ -s "$dir/$f" ] && [ ! -L "$dir/$f" ] || fail "$f was not written"; done; }
twice() { # WHAT FILES COMMAND...: with links, without, and once more over the files
    what=$1 files=$2
    shift 2
    linked $files
    "$@" >"$out" 2>&1 || fail "$what: the job failed"
    unharmed "$what"
    for f in $files; do rm "$dir/$f"; done
    for _ in 1 2; do
        "$@" >"$out" 2>&1 || fail "$what: the job failed"
        written $files
        ! grep -q link "$out" || fail "$what: there is no link"
    done
}

twice "the memory report" "memory.0 memory.1" env MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE="$dir/memory." timeout 60 \
    "$build/mpiexec" -n 2 "$build/mpi_memory_use" 1 0 0
twice "the statistics of files" "io.0.csv io.1.csv" env MPICH_MPIIO_STATS=2 MPICH_MPIIO_STATS_FILE="$dir/io" TMPDIR="$dir" timeout 60 \
    "$build/mpiexec" -n 2 "$build/mpi_io_basic"
if [ "$prefix" ] && [ -x "$prefix/bin/mpicc" ]; then
    printf '#include <mpi.h>\nint main(int n, char **a) { MPI_Init(&n, &a); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n' >"$dir/p.c"
    "$prefix/bin/mpicc" -o "$dir/p" "$dir/p.c"
    twice "the profile" page.html timeout 60 "$prefix/bin/mpiexec" --profile="$dir/page.html" -n 2 "$dir/p"
fi
nic=$("$build/godwit-info" --network 2>/dev/null | sed -n 's/.*index=0, domain_name=\([^,]*\),.*/\1/p') || true
if [ "$nic" ]; then
    mkdir -p "$dir/root/run/cxi/$nic"
    echo 5 >"$dir/root/run/cxi/$nic/spt_timeouts"
    twice "the cards' counters" "cards.$(hostname)" env GODWIT_NET_IFACE="$nic" GODWIT_WIRES=ofi MPICH_OFI_CXI_COUNTER_REPORT=5 \
        MPICH_OFI_CXI_COUNTER_REPORT_FILE="$dir/cards" GODWIT_NIC_COUNTER_ROOT="$dir/root" timeout 60 "$build/mpiexec" -n 2 "$build/mpi_hello"
fi

# A stranger's file in a folder that is everybody's: not written to, and not replaced.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    printf 'of another\n' >"$dir/theirs.0"
    chmod 666 "$dir/theirs.0"
    if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$build/mpi_memory_use"; then
        env MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE="$dir/theirs." setpriv --reuid 65534 --regid 65534 --clear-groups timeout 60 \
            "$build/mpiexec" -n 1 "$build/mpi_memory_use" 1 0 0 >"$out" 2>&1 || fail "as another user"
        [ "$(cat "$dir/theirs.0")" = "of another" ] || fail "a stranger's file was written"
        grep -q "cannot be written" "$out" || fail "no word of the stranger's file"
    fi
fi
