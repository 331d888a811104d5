#!/bin/sh
# Where ranks run: --bind-to core gives each a core of its own, none leaves all, the default gives equal shares, a single rank all;
# more ranks than cores are not bound, and a smaller cpuset of mpiexec is kept.
# users.md rows 8, 20
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
command -v taskset >/dev/null || { echo "no taskset"; exit 77; }
fail() { echo "bind: $*"; exit 1; }
# where OPTIONS...: the list of CPUs of every rank, a line each
where() { timeout 60 "$build/mpiexec" "$@" sh -c 'taskset -cp $$' </dev/null | sed 's/.*: //'; }
# cpus: CPU lists from standard input, such as 0-2,5, as one number a line
cpus() { tr ',' '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done; }
# same_as WANT: all lines from standard input are WANT
same_as() { [ "$(sort -u)" = "$1" ]; }

all=$(taskset -cp $$ | sed 's/.*: //')
n_cpus=$(echo "$all" | cpus | wc -l)
# The ranks that are started by default: one per core that we may use.
cores=$(timeout 60 "$build/mpiexec" sh -c 'echo $GODWIT_SIZE' </dev/null | sort -u)
threads=$(cpus </sys/devices/system/cpu/cpu"$(echo "$all" | cpus | head -1)"/topology/thread_siblings_list | wc -l)

where --bind-to none -n 3 | same_as "$all" || fail "--bind-to none binds"
where -n 1 | same_as "$all" || fail "a single rank is bound"
where -n $((cores + 1)) | same_as "$all" || fail "ranks are bound although they outnumber the cores"
where --bind-to core -n $((cores + 1)) 2>/dev/null | same_as "$all" || fail "--bind-to core binds although ranks outnumber the cores"
timeout 60 "$build/mpiexec" --bind-to core -n $((cores + 1)) true 2>&1 | grep -q "nobody is bound" || fail "it does not say so"

# A core each: disjoint, and no more than the hardware threads of one.
list=$(where --bind-to core -n "$cores")
[ "$(echo "$list" | wc -l)" = "$cores" ] || fail "--bind-to core: $list"
echo "$list" | while read -r one; do
    [ "$(echo "$one" | cpus | wc -l)" -le "$threads" ] || fail "--bind-to core gives $one"
done
[ -z "$(echo "$list" | cpus | sort | uniq -d)" ] || fail "--bind-to core: ranks share a CPU: $list"

if [ "$cores" -ge 2 ]; then
    # Equal shares.
    list=$(where -n 2)
    [ -z "$(echo "$list" | cpus | sort | uniq -d)" ] || fail "shares overlap: $list"
    a=$(echo "$list" | sed -n 1p | cpus | wc -l) b=$(echo "$list" | sed -n 2p | cpus | wc -l)
    [ "$a" = "$b" ] || [ $((n_cpus % 2)) = 1 ] || [ "$threads" -gt 1 ] || fail "unequal shares: $list"
    # -v says what is so.
    timeout 60 "$build/mpiexec" -v --bind-to core -n 2 sh -c 'echo $GODWIT_RANK $(taskset -cp $$ | sed "s/.*: //")' \
        </dev/null 2>&1 | tr ',' ' ' | sed 's/^mpiexec: rank \([0-9]*\) runs on/\1/' | sort | uniq -c | awk '$1 != 2 {bad = 1} END {exit bad}' ||
        [ "$threads" -gt 1 ] || fail "-v says another place than the rank has"
    # Within our own cpuset only.
    one=$(echo "$all" | cpus | tail -1)
    list=$(taskset -c "$one" timeout 60 "$build/mpiexec" --bind-to core -n 1 sh -c 'taskset -cp $$' </dev/null | sed 's/.*: //')
    [ "$list" = "$one" ] || fail "in a cpuset of $one the rank got $list"
    list=$(taskset -c "$one" timeout 60 "$build/mpiexec" -n 2 sh -c 'taskset -cp $$' </dev/null | sed 's/.*: //' | sort -u)
    [ "$list" = "$one" ] || fail "in a cpuset of $one two ranks got $list"

    # -r 1 keeps a core free: no rank runs there, however many there are, and progress threads do, nowhere else.
    free=$(timeout 60 "$build/mpiexec" -r 1 -n 1 sh -c 'echo $GODWIT_PROGRESS_CPUS' </dev/null)
    [ -n "$free" ] || fail "-r 1 does not say which core is free"
    for n in 1 $((cores - 1)) $((cores + 3)); do
        for bind in core none; do
            [ -z "$({ where -r 1 --bind-to $bind -n $n 2>/dev/null | cpus | sort -u; echo "$free" | cpus; } | sort | uniq -d)" ] ||
                fail "-r 1 --bind-to $bind -n $n: a rank may run on $free"
        done
    done
    timeout 60 "$build/mpiexec" -r "$cores" -n 1 true 2>/dev/null && fail "all cores can be reserved"
    GODWIT_PROGRESS_THREAD=1 timeout 60 "$build/mpiexec" -r 1 -n 2 "$build/mpi_idle" 1.4 most 90 &
    sleep 0.7
    n=0
    for p in $(pgrep -f "^$build/mpi_idle 1.4 most 90"); do
        for t in /proc/"$p"/task/*; do
            list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$t/status" | cpus)
            if [ "$list" = "$(echo "$free" | cpus)" ]; then n=$((n + 1)); fi
        done
    done
    wait $! || fail "the ranks with progress threads"
    [ "$n" = 2 ] || fail "$n of 2 progress threads run on the core that was kept for them"
fi
exit 0
