#!/bin/sh
# Ranks on a machine of two NUMA nodes: made by laying other files over /sys, in a namespace of the test's own.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
unshare -m true 2>/dev/null || { echo "skipped: may not mount in a namespace"; exit 77; }
cpus=0-3
taskset -c 0-3 true 2>/dev/null && [ "$(taskset -c 0-3 nproc)" = 4 ] || cpus=0-1
taskset -c 0-1 true 2>/dev/null && [ "$(taskset -c 0-1 nproc)" = 2 ] || { echo "skipped: needs cores 0 and 1"; exit 77; }
n=$(taskset -c $cpus nproc)
timeout 20 taskset -c $cpus "$build/mpiexec" -v -n "$n" true 2>&1 </dev/null | grep -q "any of" && { echo "skipped: a CPU quota below $n"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/node0" "$dir/node8" # numbers need not be dense
echo 0,8 >"$dir/online"
echo 0-1 >"$dir/node0/cpulist"
echo 2-3 >"$dir/node8/cpulist"
[ $cpus = 0-3 ] || { echo 0 >"$dir/node0/cpulist"; echo 1 >"$dir/node8/cpulist"; }
# want SETS OPTIONS...: the sets of CPUs, rank by rank
want() {
    sets=$1
    shift
    out=$(unshare -m sh -c 'd=$1; shift; mount --bind "$d" /sys/devices/system/node; for c in $(seq 0 $(($(taskset -c $0 nproc) - 1))); do
            echo $c >"$d/one$c"; mount --bind "$d/one$c" /sys/devices/system/cpu/cpu$c/topology/thread_siblings_list; done
        exec taskset -c $0 timeout 20 "$@"' $cpus "$dir" "$build/mpiexec" -v "$@" true 2>&1 </dev/null | sed -n 's/.* runs on //p' | tr ' \n' ,/)
    [ "$out" = "$sets" ] || { echo "numa: $* gives $out, not $sets"; exit 1; }
}
# those of some NUMA nodes alone, in aprun's words
if [ $cpus = 0-1 ]; then
    want 0/1/ -n 2
    want 0/1/ --bind-to numa -n 2
    for o in "-sl 8" "-sl 8 -sn 1" "-sl 0,8 --cpu-set 1"; do want 1/ $o -n 1; done
    for o in "-sl 0" "-sn 1" "-sl 0,8 -sn 1"; do want 0/ $o -n 1; done
    for o in "-sl 0,8" "-sl 0-0,8" "-sn 2"; do want 0/1/ $o -n 2; done
    want 1/1/ -sl 8 --oversubscribe -n 2
    exit 0
fi
for o in "-sl 8" "-sl 8 -sn 1"; do want 2/3/ $o -n 2; done
for o in "-sl 0" "-sn 1" "-sl 0,8 -sn 1"; do want 0/1/ $o -n 2; done
want 0,1/2,3/ -sl 0,8 -n 2
want 0,1/2,3/ -n 2
want 0/1/2/ -n 3
want 0/1/2/3/ -n 4
want 0/1/ --bind-to core -n 2
want 0,1/2,3/ --bind-to numa -n 2
want 0,1/0,1/2,3/2,3/ --bind-to numa -n 4
want 0,1,2,3/ --map-by numa -n 1
want 0,1/2,3/ --map-by numa -n 2
want 0/2/1/3/ --map-by numa -n 4
want 0/2/ --map-by numa --bind-to core -n 2
want 0,1/2,3/0,1/ --map-by numa --bind-to numa -n 3
exit 0
