#!/bin/sh
# Where ranks run: --bind-to core gives each a core of its own, none leaves all, the default gives equal shares, a single rank all;
# more ranks than cores are not bound, and a smaller cpuset of mpiexec is kept.
# users.md rows 8, 20
# run.py: timeout=60 tags=quick alone=yes
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

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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

# refused WORDS OPTIONS...: status 2, one line with WORDS
refused() {
    words=$1 rc=0
    shift
    out=$(timeout 60 "$build/mpiexec" "$@" true 2>&1 </dev/null) || rc=$?
    case $rc:$out in 2:"mpiexec: "*"$words"*) ;; *) fail "$* gives $rc: $out, not $words" ;; esac
}
first=$(echo "$all" | cpus | head -1) last=$(echo "$all" | cpus | tail -1)

# CPUs by name: rank by rank, and from the beginning where ranks are more; also more ranks than cores.
[ "$(timeout 60 "$build/mpiexec" -bind-to "user:$last,$first" -n 5 sh -c 'echo $GODWIT_RANK $(taskset -cp $$ | sed "s/.*: //")' </dev/null | sort | tr '\n' ' ')" = \
    "0 $last 1 $first 2 $last 3 $first 4 $last " ] || fail "-bind-to user"
where --bind-to "user:$first+$last" -n 2 | cpus | sort -u | tr '\n' ' ' | grep -qx "$(printf '%s\n%s\n' "$first" "$last" | sort -u | tr '\n' ' ')" || fail "user:A+B"
where --cpu-bind="map_cpu:$last" -n 3 | same_as "$last" || fail "--cpu-bind map_cpu"
refused "CPU 8000 is not among those that may be used" --bind-to user:8000 -n 1
refused "wants CPUs rank by rank" --bind-to user:a -n 1
refused "ends with a comma" --bind-to "user:$first," -n 1
# A set of CPUs for the job: ranks are counted by it, and none leaves it.
where --cpu-set "$last" -n 3 | same_as "$last" || fail "--cpu-set"
where --cpu-set "$last" --bind-to none -n 1 | same_as "$last" || fail "--cpu-set, not bound"
[ "$(timeout 60 "$build/mpiexec" --cpu-set "$last" sh -c 'echo $GODWIT_SIZE' </dev/null)" = 1 ] || fail "--cpu-set counts other cores"
refused "none of these CPUs" --cpu-set 8001 -n 1
refused "wants a list of CPUs" --cpu-set 3-1 -n 1
# A file of places.
printf '# two\nrank 1=localhost slot=0\n\nrank 0=+n0   slot=0:*\nrank 2=%s slot=0:0\n' "$(hostname)" >"$dir/ranks"
timeout 60 "$build/mpiexec" -l --rankfile "$dir/ranks" sh -c 'echo $GODWIT_SIZE $(taskset -cp $$ | sed "s/.*: //")' </dev/null | sort >"$dir/out"
[ "$(wc -l <"$dir/out")" = 3 ] && [ "$(sed -n 's/^\[1\] 3 //p' "$dir/out")" = "$(sed -n 's/^\[2\] 3 //p' "$dir/out")" ] || fail "--rankfile: $(cat "$dir/out")"
[ "$(sed -n 's/^\[1\] 3 //p' "$dir/out" | cpus | head -1)" = "$first" ] || fail "--rankfile: $(cat "$dir/out")"
where --rankfile "$dir/ranks" -n 2 >"$dir/out" && [ "$(wc -l <"$dir/out")" = 2 ] || fail "--rankfile for more ranks than there are"
refused "has 3 ranks, and 4 are to start" --rankfile "$dir/ranks" -n 4
for bad in "rank 0=gw-other slot=0:gw-other is another machine" "rank 0=localhost slot=5000:cores that are not here" "rank 0=localhost:line 1: a line is" \
    "rank 1=localhost slot=0:there is no line for rank 0" "rank 0=localhost slot=7:0:cores that are not here"; do
    echo "${bad%:*}" >"$dir/ranks"
    refused "${bad##*:}" --rankfile "$dir/ranks"
done
refused "No such file" --rankfile "$dir/none"
# So many ranks on each unit.
[ "$(timeout 60 "$build/mpiexec" --map-by ppr:3:node sh -c 'echo $GODWIT_SIZE' </dev/null 2>/dev/null | tr '\n' ' ')" = "3 3 3 " ] || fail "ppr:3:node"
[ "$(where --ppr 1:core 2>/dev/null | wc -l)" -ge "$cores" ] || fail "ppr:1:core"
refused "are more than 1 on each unit" --map-by ppr:1:node -n 2
refused "wants N:UNIT" --map-by ppr:x:node -n 1
refused "behind the colon may stand" --map-by core:gw -n 1
refused "behind the colon stands a number" --bind-to core:x -n 1
timeout 60 "$build/mpiexec" --bind-to core:$((cores + 1)) -n 1 true 2>&1 </dev/null | grep -q "1 ranks with $((cores + 1)) cores each do not fit" || fail "too wide is not told"
[ -z "$(timeout 60 "$build/mpiexec" -q --bind-to core:$((cores + 1)) -n 1 true 2>&1 </dev/null)" ] || fail "-q"
where --bind-to "core:$cores" -n 1 | cpus | sort -n | tr '\n' ' ' | grep -qx "$(echo "$all" | cpus | sort -n | tr '\n' ' ')" || fail "core:$cores"
for unit in hwthread l2cache l3cache socket package machine board; do where --bind-to $unit -n 1 >"$dir/out" || fail "--bind-to $unit"; done
[ "$(where --bind-to hwthread -n 1 | cpus | wc -l)" = 1 ] || fail "--bind-to hwthread"
where --bind-to machine -n 2 | same_as "$all" || fail "--bind-to machine"
# Where memory lies.
policy='sed -n "s/^[0-9a-f]* \([a-z]*\).*/\1/p" /proc/self/numa_maps | sort -u'
if [ -r /proc/self/numa_maps ]; then
    for p in "bind bind" "bind:machine bind" "interleave interleave" "firsttouch default"; do
        got=$(timeout 60 "$build/mpiexec" -membind "${p% *}" -n 2 sh -c "$policy" 2>&1 </dev/null | sort -u)
        case $got in "${p#* }" | *"kernel sets no such policy"*) ;; *) fail "-membind ${p% *}: $got" ;; esac
    done
fi
refused "did you mean bind?" -membind bond -n 1
# What would be done.
timeout 60 "$build/mpiexec" --display-map --do-not-launch --bind-to "user:$last" -n 2 touch "$dir/started" : -n 1 true </dev/null >"$dir/out" || fail "--display-map"
printf '3 ranks on %s:\n  rank 0 of program 0 (touch): CPUs %s\n  rank 1 of program 0 (touch): CPUs %s\n  rank 2 of program 1 (true): CPUs %s\n' \
    "$(hostname)" "$last" "$last" "$last" | cmp - "$dir/out" || fail "--display-map: $(cat "$dir/out")"
[ ! -e "$dir/started" ] || fail "--do-not-launch launches"

if [ "$cores" -ge 2 ]; then
    # Two cores for each rank, also in other launchers' words, and the cores of a list.
    for o in "--bind-to core:2" "--map-by core:PE=2" "--map-by slot:pe=2" "--cpus-per-rank 2"; do
        [ "$(where $o -n 1 | cpus | wc -l)" -ge 2 ] || fail "$o: $(where $o -n 1)"
        [ "$(where $o -n 1 | cpus | wc -l)" -le $((2 * threads)) ] || fail "$o: $(where $o -n 1)"
    done
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
    GODWIT_PROGRESS_THREAD=1 timeout 100 "$build/mpiexec" -r 1 -n 2 "$build/mpi_idle" 90 most 90 &
    pid=$! n=0
    for _ in $(seq 300); do
        sleep 0.1
        was=$n n=0
        for p in $(pgrep -f "^$build/mpi_idle 90 most 90"); do
            for t in /proc/"$p"/task/*; do
                list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$t/status" 2>/dev/null | cpus)
                if [ "$list" = "$(echo "$free" | cpus)" ]; then n=$((n + 1)); fi
            done
        done
        [ "$n$was" != 22 ] || break # and no more come
    done
    kill $pid
    wait $pid || [ $? = 143 ] || fail "the ranks with progress threads"
    [ "$n" = 2 ] || fail "$n of 2 progress threads run on the core that was kept for them"
fi
# A start looks at nothing of the machine that its options do not ask for: caches are some ten files of each CPU.
if command -v strace >/dev/null; then
    strace -f -qq -o "$dir/opens" -e trace=openat "$build/mpiexec" -n 2 true
    grep -q thread_siblings_list "$dir/opens" || fail "strace shows no files"
    if grep -E 'cpu[0-9]+/cache/|physical_package_id' "$dir/opens" | head -n 3 | grep .; then fail "a plain start reads caches and packages"; fi
fi
exit 0
