#!/bin/sh
# The library and its tests built for AArch64 by Debian's cross compiler, without a warning, and run by qemu: unit tests of rooms that go by
# the processor, and jobs of ranks that our mpiexec of this machine starts.
# run.py: timeout=1800 tags=extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "this is for x86-64, to cross from"; exit 77; }
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool > /dev/null || { echo "no $tool here (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/cross" <<END
[binaries]
c = [$(command -v ccache > /dev/null && echo "'ccache', ")'aarch64-linux-gnu-gcc']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8'
endian = 'little'
END
# Headers of PMIx and libfabric alone are used, and those are the same.
meson setup "$tmp/build" --cross-file "$tmp/cross" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
units="unit_base_base unit_match_match_state unit_op_op unit_type_type unit_plan_exec"
programs="hello p2p_modes coll_basic coll_reduce rma_fence rma_passive"
ninja -C "$tmp/build" libmpi_abi.so.1.0.0 mpiexec godwit-info $units $(printf 'mpi_%s ' $programs) > "$tmp/log" 2>&1 ||
    { grep -A5 -E 'error|FAILED' "$tmp/log"; exit 1; }
run() { timeout 300 "$@" > "$tmp/out" 2>&1 || { echo "$*:"; cat "$tmp/out"; exit 1; }; }
emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
for unit in $units; do run $emulator "$tmp/build/$unit"; done
for program in $programs; do
    run "$build/mpiexec" -n 3 $emulator "$tmp/build/mpi_$program"
    run "$build/mpiexec" -n 3 --vnodes 2 $emulator "$tmp/build/mpi_$program"
done
