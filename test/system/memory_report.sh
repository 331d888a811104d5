#!/bin/sh
# The reports at MPI_Finalize: memory (MPICH_MEMORY_REPORT, _FILE), every line and the amounts in it; counters (MPICH_STATS_DISPLAY).
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
fail() { echo "memory_report: $*"; cat "$out"; exit 1; }
run() { timeout 60 "$build/mpiexec" -n 3 "$build/mpi_memory_use" "$@" </dev/null >"$out" 2>&1 || fail "the job failed"; }
# between NUMBER LOW HIGH, in MiB
between() { [ "$1" -ge $(($2 << 20)) ] && [ "$1" -lt $(($3 << 20)) ]; }
# summary Max|Min WORD: bytes and rank of the line
summary() { sed -n "s/^# MPICH_MEMORY: $1 memory allocated by $2:  *\([0-9]*\) bytes by rank \([0-9]*\)\$/\1 \2/p" "$out"; }

run 20 0 0
[ ! -s "$out" ] || fail "nothing was asked for"

# Rank 1 had 20 MiB more than the others in its heap, though it gave them back.
MPICH_MEMORY_REPORT=1 run 20 0 0
sed 's/[0-9][0-9]* bytes/N bytes/; s/rank [0-2]$/rank R/' "$out" >"$dir/shape"
cat >"$dir/want" <<END
# MPICH_MEMORY: Max memory allocated by malloc:  N bytes by rank R
# MPICH_MEMORY: Min memory allocated by malloc:  N bytes by rank R
# MPICH_MEMORY: Max memory allocated by mmap:    N bytes by rank R
# MPICH_MEMORY: Min memory allocated by mmap:    N bytes by rank R
# MPICH_MEMORY: Max memory allocated by shmget:  N bytes by rank R
# MPICH_MEMORY: Min memory allocated by shmget:  N bytes by rank R
END
cmp -s "$dir/shape" "$dir/want" || fail "the lines are others"
set -- $(summary Max malloc) $(summary Min malloc)
[ "$2" = 1 ] && [ "$4" != 1 ] && between $(($1 - $3)) 20 24 || fail "malloc of rank 1: $*"
set -- $(summary Max mmap) $(summary Min mmap) $(summary Max shmget) $(summary Min shmget)
[ "$1" = "$3" ] && [ "$2" = 0 ] && [ "$4" = 0 ] || fail "all ranks map the node's memory: $*"
[ "$5" = "$1" ] && [ "$6" = 0 ] && [ "$7 $8" = "0 1" ] || fail "it counts for the lowest rank of the node: $*"
segment=$1

# A large block, and a window of 3 times 5 MiB: given back both.
MPICH_MEMORY_REPORT=1 run 0 70 5
set -- $(summary Max malloc) $(summary Min malloc)
[ "$2" = 2 ] && between $(($1 - $3)) 70 74 || fail "malloc of rank 2: $*"
set -- $(summary Max mmap) $(summary Min mmap) $(summary Max shmget) $(summary Min shmget)
between $(($1 - segment)) 15 16 && [ "$1" = "$3" ] && [ "$5 $6 $7 $8" = "$1 0 0 1" ] || fail "with a window: $*"

# A file a rank; both; a file that cannot be made.
MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE=$dir/rank. run 20 0 0
[ ! -s "$out" ] || fail "level 2 printed"
for r in 0 1 2; do
    sed 's/[0-9][0-9]* bytes/N bytes/' "$dir/rank.$r" >"$dir/shape"
    printf '# [%d] Max memory allocated by malloc:  N bytes\n# [%d] Max memory allocated by mmap:    N bytes\n# [%d] Max memory allocated by shmget:  N bytes\n' \
        $r $r $r | cmp -s - "$dir/shape" || fail "the file of rank $r"
done
grep -qx "# \[0\] Max memory allocated by shmget:  $segment bytes" "$dir/rank.0" || fail "shmget of rank 0"
malloc_of() { sed -n 's/.*malloc:  \([0-9]*\) bytes/\1/p' "$dir/rank.$1"; }
between "$(malloc_of 1)" 20 40 && between $(($(malloc_of 1) - $(malloc_of 0))) 20 24 || fail "malloc in the file of rank 1"
rm "$dir"/rank.*
MPICH_MEMORY_REPORT=3 MPICH_MEMORY_REPORT_FILE=$dir/rank. run 0 0 0
[ "$(grep -c '^# MPICH_MEMORY: ' "$out")" = 6 ] && [ -s "$dir/rank.2" ] || fail "level 3"
MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE=$dir/none/rank. run 0 0 0
[ "$(grep -c '^# \[[0-2]\] Max memory allocated by ' "$out")" = 9 ] && grep -q "$dir/none/rank.1 cannot be written" "$out" || fail "no file: stderr"
MPICH_MEMORY_REPORT=2 run 0 0 0
[ "$(grep -c '^# \[[0-2]\] Max memory allocated by ' "$out")" = 9 ] || fail "without a file: stderr"
MPICH_MEMORY_REPORT=4 run 0 0 0
grep -q 'MPICH_MEMORY_REPORT=4 is not a number in 0..3' "$out" || fail "there is no level 4"

# Counters: nobody's zeros; sums and extremes over ranks.
MPICH_STATS_DISPLAY=1 run 0 0 1
! grep -v '^# MPICH_STATS: ' "$out" || fail "other lines"
! grep -q 'sum 0,' "$out" || fail "what nobody counted"
timeout 60 env MPICH_STATS_DISPLAY=1 "$build/mpiexec" -n 2 --vnodes 2 "$build/mpi_p2p_modes" >"$out" 2>&1 || fail "p2p_modes"
for path in E0 E1 R1; do # messages to another node over TCP
    grep -Eqx "# MPICH_STATS: $path messages +sum [1-9][0-9]*, max [0-9]+ by rank [01], min [0-9]+ by rank [01]" "$out" || fail "messages by $path"
    grep -Eqx "# MPICH_STATS: $path bytes +sum [1-9][0-9]*, .*" "$out" || fail "bytes by $path"
done
MPICH_STATS_DISPLAY=1 run 0 0 1
grep -Eqx '# MPICH_STATS: barrier leaf +sum ([3-9]|[1-9][0-9]+), max ([0-9]+) by rank [0-2], min [0-9]+ by rank [0-2]' "$out" || fail "the barriers of a window"
timeout 60 env MPICH_STATS_DISPLAY=1 MPICH_COLL_SYNC=bcast "$build/mpiexec" -n 5 "$build/mpi_coll_sync" >"$out" 2>&1 || fail "coll_sync"
grep -qx '# MPICH_STATS: bcast leaf                   sum 25, max 5 by rank 0, min 5 by rank 0' "$out" || fail "five broadcasts of five ranks"
