#!/bin/sh
# What a job says of itself when asked: all settings, the version, the CPUs of each rank; defaults of a site.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "display: $*"; cat "$dir/err"; exit 1; }
run() { timeout 30 "$build/mpiexec" "$@" </dev/null >"$dir/out" 2>"$dir/err"; }

run -n 3 "$build/mpi_hello" || fail "hello"
! grep -q '^PE ' "$dir/err" || fail "nothing was asked for"
MPICH_ENV_DISPLAY=1 GODWIT_EAGER_MAX=4K run -n 3 "$build/mpi_hello" || fail "all settings"
for g in general RMA GPU 'Dynamic Process Management' SMP OFI COLLECTIVE MPIIO 'MPIIO statistics' 'Thread Safety'; do
    grep -qx "PE 0: MPICH $g environment settings:" "$dir/err" || fail "the group $g"
done
# in NAME GROUP: the group in which the setting stands
in_group() { awk -v name="$1" '/environment settings:$/ {g = $4} $3 == name {print g; exit}' "$dir/err"; }
for pair in MPICH_RMA_MAX_PENDING:RMA MPICH_GNI_MAX_EAGER_MSG_SIZE:OFI MPI_GNI_MAX_NDREG_SIZE:OFI MPICH_GATHERV_SHORT_MSG:COLLECTIVE \
    MPICH_MPIIO_HINTS:MPIIO MPICH_MAX_THREAD_SAFETY:Thread MPICH_SMP_SINGLE_COPY_SIZE:SMP MPICH_ENV_DISPLAY:general FI_CXI_RX_MATCH_MODE:OFI; do
    [ "$(in_group "${pair%:*}")" = "${pair#*:}" ] || fail "${pair%:*} stands in the group $(in_group "${pair%:*}")"
done
# The documented name first, then the others, who has set it, and of `auto` what is in force.
grep -qx 'PE 0:   MPICH_OFI_EAGER_MAX  *= 4K   \[set by GODWIT_EAGER_MAX\]' "$dir/err" || fail "a setting with its value"
grep -qx 'PE 0:   MPICH_ENV_DISPLAY  *= true   \[set by MPICH_ENV_DISPLAY; GODWIT_ENV_DISPLAY\]' "$dir/err" || fail "who has set it"
grep -qx 'PE 0:   MPICH_GNI_MAX_VSHORT_MSG_SIZE  *= 8152   \[auto; default; GODWIT_NET_SHORT_MAX\]' "$dir/err" || fail "the value in force"
grep -qx 'PE 0:   MPICH_ALLTOALL_SHORT_MSG  *= 64-512   \[auto; default; GODWIT_ALLTOALL_SHORT_MSG\]' "$dir/err" || fail "a value by size"
grep -qx 'PE 0:   MPICH_OFI_USE_PROVIDER .*; GODWIT_OFI_PROVIDER, MPIR_CVAR_OFI_USE_PROVIDER, .*, FI_PROVIDER\]' "$dir/err" || fail "all names"
# No value is left to be found out, and no name is told twice, but for that of who has set it.
! grep -Eq '= (auto|AUTO) |where it is used' "$dir/err" || fail "an auto is not resolved"
awk '/^PE 0:   [A-Za-z_0-9]* *= / { n = split(substr($0, index($0, "[")), w, /[^A-Za-z0-9_]+/); for (k in seen) delete seen[k]
    for (i = 1; i <= n; i++) if (w[i] ~ /^[A-Z][A-Z]*_[A-Z]/ && seen[w[i]]++) { print; bad = 1 } } END { exit bad }' "$dir/err" || fail "a name twice"
grep -Eq '^PE 0:   MPICH_SMP_SINGLE_COPY_MODE  *= (CMA|NONE) ' "$dir/err" || grep -qs '[23]' /proc/sys/kernel/yama/ptrace_scope || fail "direct copies in force"
grep -Eqx 'PE 0:   GODWIT_PROCESSOR  *= [a-z]+(/[0-9a-fx]+)*(\+[a-z0-9]+)*   \[auto; default\]' "$dir/err" || fail "the processor in force"
cp "$dir/err" "$dir/all"
MPICH_ENV_DISPLAY=1 MPICH_ALLOC_MEM_HUGE_PAGES=1 run -n 1 "$build/mpi_hello" || fail "large pages"
grep -q '^PE 0:   MPICH_ALLOC_MEM_PG_SZ  *= 2M ' "$dir/err" || fail "the size of pages in force"
mv "$dir/all" "$dir/err"
n=$("$build/godwit-info" --list | grep -c '^GODWIT_')
[ "$(grep -c '^PE 0:   [A-Za-z_0-9]* *= ' "$dir/err")" = "$n" ] || fail "$n settings"
grep -q '^PE 0: MPICH processor detected: .' "$dir/err" || fail "the processor"
tail -n 1 "$dir/err" | grep -qx 'PE 0: thread level: required MPI_THREAD_[A-Z]*, provided MPI_THREAD_[A-Z]*' || fail "the last line is the thread level"
! grep -q '^PE [12]' "$dir/err" || fail "rank 0 alone"
MPICH_ENV_DISPLAY=1 MPICH_MAX_THREAD_SAFETY=single run -n 2 "$build/mpi_thread_level" single || fail "a lower thread level"
tail -n 1 "$dir/err" | grep -qx 'PE 0: thread level: required MPI_THREAD_MULTIPLE, provided MPI_THREAD_SINGLE' || fail "the level that is asked for, and the one that is given"
MPICH_VERSION_DISPLAY=1 run -n 2 "$build/mpi_hello" || fail "version"
[ "$(grep -c '^PE 0: MPI VERSION    : Godwit [0-9]' "$dir/err")" = 1 ] || fail "version"
grep -Eqx 'PE 0: MPI BUILD INFO : [A-Z][a-z]{2} [ 0-9]{2} 2[0-9]{3} [0-9:]{8} \((gcc|Clang|.*[Cc]lang) .*[0-9]+\.[0-9]+.*\)' "$dir/err" || fail "date and compiler of the build"

# Where each rank runs, by rank; the nodes by their numbers and the machine's name.
MPICH_RANK_REORDER_DISPLAY=1 MPICH_RANK_REORDER_METHOD=0 run -n 5 --vnodes 2 "$build/mpi_hello" || fail "order"
[ "$(grep '^\[PE_0\]: rank' "$dir/err")" = "$(for r in 0 1 2 3 4; do echo "[PE_0]: rank $r is on node $((r % 2)), $(uname -n)"; done)" ] || fail "ranks and their nodes"
# The order as it is said, by whichever name, and wherever it is set: before, it was shown and not applied.
printf 'MPICH_RANK_REORDER_METHOD=0\n' >"$dir/order_site"
printf '0,2,4,1,3\n' >"$dir/order_file"
dealt() {
    MPICH_RANK_REORDER_DISPLAY=1 run "$@" "$build/mpi_hello" || fail "order: $*"
    [ "$(sed -n 's/^godwit:   node . (.*): //p' "$dir/err" | tr '\n' ' ')" = "0,2,4 1,3 " ] || fail "order by $what: $(cat "$dir/err")"
}
what=MPIR_CVAR MPIR_CVAR_RANK_REORDER_METHOD=0 dealt -n 5 --vnodes 2
what=site GODWIT_SITE=$dir/order_site dealt -n 5 --vnodes 2
what=-env dealt -n 5 -env MPICH_RANK_REORDER_METHOD 0 --vnodes 2
what=file MPICH_RANK_REORDER_METHOD=3 MPIR_CVAR_RANK_REORDER_FILE=$dir/order_file dealt -n 5 --vnodes 2
! run -n 2 -env MPICH_RANK_REORDER_METHOD 0 "$build/mpi_hello" : -n 1 "$build/mpi_hello" || fail "an order of one of two programs"
grep -q "MPICH_RANK_REORDER_METHOD: all programs of a job have one order" "$dir/err" || fail "an order of one of two programs: $(cat "$dir/err")"
MPICH_CPUMASK_DISPLAY=1 run --bind-to none -n 3 "$build/mpi_hello" || fail "CPUs"
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
for r in 0 1 2; do grep -qx "PE $r: host .*, CPUs $cpus" "$dir/err" || fail "CPUs of rank $r"; done

printf 'MPICH_VERSION_DISPLAY=1\n' >"$dir/site"
GODWIT_SITE=$dir/site run -n 2 "$build/mpi_hello" || fail "defaults of a site"
grep -q '^PE 0: MPI VERSION' "$dir/err" || fail "defaults of a site"
GODWIT_SITE=$dir/site MPICH_VERSION_DISPLAY=0 run -n 2 "$build/mpi_hello" || fail "the user's word"
! grep -q '^PE 0: MPI VERSION' "$dir/err" || fail "what the user says comes before the site's"
# Which line of it has set a variable, in mpiexec's ranks and in godwit-info.
printf '# ours\nMPICH_ENV_DISPLAY=1\nGODWIT_EAGER_MAX=8K\n' >"$dir/site"
GODWIT_SITE=$dir/site run -n 1 "$build/mpi_hello" || fail "lines of a site"
grep -q "^PE 0:   MPICH_OFI_EAGER_MAX  *= 8K   \[set by GODWIT_EAGER_MAX in $dir/site, line 3\]" "$dir/err" || fail "the line of a site's file"
GODWIT_SITE=$dir/site "$build/godwit-info" >"$dir/err" 2>&1
grep -q "GODWIT_EAGER_MAX=8K (from GODWIT_EAGER_MAX in $dir/site, line 3)" "$dir/err" || fail "godwit-info: the line of a site's file"
GODWIT_SITE=$dir/site GODWIT_EAGER_MAX=4K "$build/godwit-info" >"$dir/err" 2>&1
grep -q "GODWIT_EAGER_MAX=4K (from GODWIT_EAGER_MAX)" "$dir/err" || fail "godwit-info: the user's word"
