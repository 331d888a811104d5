#!/bin/sh
# SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG, and SMA_ names: PE 0 alone prints, once, and only if it is asked to; a misspelt name is named.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$2
[ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for name in VERSION INFO DEBUG; do unset SHMEM_$name SMA_$name; done
unset GODWIT_EXPLAIN
wrong() { echo "$*"; cat "$tmp/out" "$tmp/err"; exit 1; }
cat > "$tmp/a.c" <<'END'
#include <shmem.h>
int main(void)
{
    for (int i = 0; i < 2; i++) {
        shmem_init();
        shmem_barrier_all();
        shmem_finalize();
    }
    return 0;
}
END
"$prefix/bin/oshcc" "$tmp/a.c" -o "$tmp/a"
run() { env "$@" timeout 100 "$prefix/bin/oshrun" -n 3 "$tmp/a" > "$tmp/out" 2> "$tmp/err" || wrong "$*: failed"; }
number=$("$prefix/bin/godwit-info" --version | sed 's/^Godwit //')

"$prefix/bin/godwit-info" > "$tmp/out" 2> "$tmp/err"
grep -q "^Godwit $number, MPI .*; OpenSHMEM 1.6 " "$tmp/out" || wrong "godwit-info names no OpenSHMEM"
"$prefix/bin/godwit-info" "$tmp/a" > "$tmp/out"
grep -q "/a was built for Godwit's OpenSHMEM: it runs on Godwit as it is\$" "$tmp/out" || wrong "godwit-info PROGRAM"
run GW_MARK=1
[ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ] || wrong "says something without being asked"
for name in SHMEM_VERSION SMA_VERSION; do
    for value in 1 0 yes; do
        run $name=$value
        [ "$(cat "$tmp/out")" = "OpenSHMEM 1.6 (Godwit $number)" ] && [ ! -s "$tmp/err" ] || wrong "$name=$value"
    done
done
for name in SHMEM_INFO SMA_INFO; do
    run $name=1 SMA_SYMMETRIC_SIZE=3M
    [ "$(grep -c '^Variables of OpenSHMEM' "$tmp/out")" = 1 ] || wrong "$name: not one PE, once"
    for variable in SHMEM_VERSION= SHMEM_DEBUG= 'SHMEM_INFO=1 (from SHMEM_INFO)' 'SHMEM_SYMMETRIC_SIZE=3M (from SMA_SYMMETRIC_SIZE)'; do
        [ $name = SHMEM_INFO ] || variable=$(printf '%s' "$variable" | sed 's/from SHMEM_INFO/from SMA_INFO/')
        grep -qF "  $variable" "$tmp/out" || wrong "$name has no $variable"
    done
    [ ! -s "$tmp/err" ] || wrong "$name complains"
    ! grep -q 'from default' "$tmp/out" || wrong "$name: a default has an origin"
done
for name in SHMEM_DEBUG SMA_DEBUG; do
    run $name=1
    grep -q '^godwit\[0\] ' "$tmp/err" && [ ! -s "$tmp/out" ] || wrong "$name explains nothing"
done
# The name of the specification comes first.
run SHMEM_SYMMETRIC_SIZE=5M SMA_SYMMETRIC_SIZE=3M SHMEM_INFO=1
grep -qF 'SHMEM_SYMMETRIC_SIZE=5M (from SHMEM_SYMMETRIC_SIZE)' "$tmp/out" || wrong "SMA_ comes before SHMEM_"
run SHMEM_VERSON=1 SMA_DEBUGG=1
[ "$(grep -c 'SHMEM_VERSON is not a variable that is read; did you mean SHMEM_VERSION?' "$tmp/err")" = 1 ] || wrong "a misspelt name"
[ "$(grep -c 'SMA_DEBUGG is not a variable that is read; did you mean SMA_DEBUG?' "$tmp/err")" = 1 ] || wrong "a misspelt SMA_ name"
# Cray's names: the size holds; the others are told, each once.
run XT_SYMMETRIC_HEAP_SIZE=3M SHMEM_INFO=1
grep -qF 'SHMEM_SYMMETRIC_SIZE=3M (from XT_SYMMETRIC_HEAP_SIZE)' "$tmp/out" || wrong "XT_SYMMETRIC_HEAP_SIZE"
names="VERSION_DISPLAY ENV_DISPLAY MEMINFO_DISPLAY ABORT_ON_ERROR ERROR_FILE DEBUG_LEVEL DEBUG_CATEGORIES DEBUG_RANKS FREEMEM_THRESHOLD
OPTIMIZED_MEMCPY USE_DSMML USE_DSMML_SSHEAP LOCALITY_ONNODE LOCALITY_OFFNODE SMP_SIZE_LIMIT ALLTOALL_BLOCK_SIZE ALLTOALL_SHORT_MSG
ALLTOALL_SYMBUF_SIZE ALLTOALL_SYNC_FREQ ALLTOALL_USE_GETS ALLTOALLV_TSIZE_CHK COLL_OPT_OFF REDUCE_CUTOFF_SIZE USE_LARGE_OPT_REDUCE
MASSIVE_BCAST_CUTOFF USE_OPT_MASSIVE_BCAST USE_OPTIMIZED_VSMSG_BCAST USE_TREE_ALLREDUCE TEAM_SMP_REDUCE NUM_TEAM_PSYNC TEAMS_MEM_OPT_LEVEL
TEAM_FREE_ASSO_CHILD OFI_PROVIDER_DISPLAY OFI_FABRIC_DISPLAY OFI_USE_PROV_NAME OFI_USE_DOMAIN_NAME OFI_GLOBAL_EXIT OFI_STARTUP_CONNECT
OFI_PROGRESS OFI_USE_SEP OFI_DEFAULT_TCLASS OFI_NIC_POLICY OFI_NIC_MAPPING OFI_NUM_NICS MAX_NUM_THREADS MAX_CTX"
run $(for name in $names; do echo SHMEM_$name=7; done)
for name in $names; do
    [ "$(grep -c "SHMEM_$name=7 is of no effect: " "$tmp/err")" = 1 ] || wrong "SHMEM_$name is not told once"
done
# Names that mean nothing here are told so; at their defaults nothing is said.
run SHMEM_MAX_CTX=7 SHMEM_VERSION_DISPLAY=0 SHMEM_OFI_GLOBAL_EXIT=1
[ "$(grep -c 'SHMEM_MAX_CTX=7 is of no effect: ' "$tmp/err")" = 1 ] && [ "$(wc -l < "$tmp/err")" = 1 ] || wrong "names without effect"
