#!/bin/sh
# Godwit where the system's pages are of 64 KiB, as on many machines with AArch64: a library that is loaded before programs and mpiexec
# makes the system's calls refuse what they would refuse there (pages64k.c).
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -shared -fPIC -O1 -o "$folder/pages64k.so" "$(dirname "$0")/pages64k.c"
[ "$(LD_PRELOAD=$folder/pages64k.so getconf PAGESIZE)" = 65536 ] || { echo "pages64k.so does not stand before the system's library"; exit 1; }
for setting in HUGE_PAGES=auto HUGE_PAGES=all VNODES=2; do
    for program in hello p2p_modes coll_basic rma_passive rma_fence huge_pages io_basic spawn_basic; do
        env "GODWIT_$setting" LD_PRELOAD="$folder/pages64k.so" timeout 100 "$build/mpiexec" -n 3 "$build/mpi_$program" > "$folder/out" 2>&1 &&
            ! grep -q pages64k: "$folder/out" && continue
        echo "$program with GODWIT_$setting:"
        head -n 10 "$folder/out" | cut -c1-300
        exit 1
    done
done
