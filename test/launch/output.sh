#!/bin/sh
# What ranks print comes out whole: lines are never mixed, labels stand before lines, bytes are exact, the end of a line may be
# missing, and what a rank left running in the background does not hold mpiexec.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
export GW_LONG=7311.$$ # how long our processes sleep: nobody else's do
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "output: $*"; exit 1; }
run() { timeout 30 "$build/mpiexec" "$@" </dev/null; }

# Labels: on every line, of output and of errors.
run -l -n 4 sh -c 'echo out; echo err >&2; echo; echo end' >"$dir/out" 2>"$dir/err"
for r in 0 1 2 3; do printf '[%d] out\n[%d] \n[%d] end\n' $r $r $r; done | sort >"$dir/want"
sort "$dir/out" | cmp - "$dir/want" || fail "labels of output"
sort "$dir/err" | tr '\n' ' ' | grep -qx '\[0\] err \[1\] err \[2\] err \[3\] err ' || fail "labels of errors"
[ "$(run -l -n 1 echo x)" = "[0] x" ] || fail "label of a single rank"
[ "$(run -n 1 echo x)" = x ] || fail "no label without -l"

# 8 ranks with 2000 lines each, written in one piece a line, in pieces that end anywhere, and slowly enough for a flush between.
cat >"$dir/lines.py" <<'END'
import os, sys, time
rank, how = int(os.environ["GODWIT_RANK"]), sys.argv[1]
lines = ["r%d %d %s\n" % (rank, i, chr(97 + rank) * (i * 7 % 300)) for i in range(2000)]
if how == "line":
    for l in lines: os.write(1, l.encode())
else:
    text = "".join(lines).encode()
    for i, at in enumerate(range(0, len(text), 997)):
        os.write(1, text[at:at + 997])
        if i % 4 == 0: time.sleep(0.002) # in all longer than a partial line waits
END
cat >"$dir/check.py" <<'END'
import sys
next_of, bad = [0] * 8, 0
for line in open(sys.argv[1], encoding="ascii"):
    line = line.rstrip("\n")
    if sys.argv[2]:
        label, line = line.split(" ", 1)
    words = line.split(" ")
    rank, i = int(words[0][1:]), int(words[1])
    assert next_of[rank] == i and words[2] == chr(97 + rank) * (i * 7 % 300) and len(words) == 3, "mixed: " + line[:200]
    assert not sys.argv[2] or label == "[%d]" % rank, label
    next_of[rank] += 1
assert next_of == [2000] * 8, next_of
END
tries=0
for how in line pieces; do
    for label in "" -l; do
        until run $label -n 8 python3 "$dir/lines.py" $how | cat >"$dir/out"; python3 "$dir/check.py" "$dir/out" "$label" 2>"$dir/why"; do
            # On a machine that stands still for longer than a partial line waits, one may be cut: not three times.
            tries=$((tries + 1))
            [ $how = pieces ] && [ $tries -lt 3 ] || fail "lines were mixed ($how $label): $(tail -1 "$dir/why")"
        done
    done
done

# 10 MB through one rank of two, as output and as errors, to a file and to a slow pipe.
head -c 10000000 /dev/urandom >"$dir/big"
run -n 1 cat "$dir/big" | cmp - "$dir/big" || fail "10 MB of a single rank"
run -n 1 cat "$dir/big" : -n 1 true | cmp - "$dir/big" || fail "10 MB by pipe"
run -n 1 cat "$dir/big" : -n 1 true >"$dir/out"
cmp "$dir/out" "$dir/big" || fail "10 MB to a file"
run -n 1 true : -n 1 sh -c 'cat "$1" >&2' sh "$dir/big" 2>"$dir/out" >"$dir/none"
cmp "$dir/out" "$dir/big" || fail "10 MB of errors"
[ ! -s "$dir/none" ] || fail "errors came out as output"
run -n 1 cat "$dir/big" : -n 1 true | (sleep 0.5; cat) | cmp - "$dir/big" || fail "10 MB into a slow pipe"
tr -d '\n' <"$dir/big" >"$dir/flat"
run -n 1 cat "$dir/flat" : -n 1 true | cmp - "$dir/flat" || fail "one line of 10 MB"

# A line without an end: at the end of the job, and before it where the rank waits.
[ "$(run -n 2 sh -c '[ $GODWIT_RANK = 1 ] || printf "no end"')" = "no end" ] || fail "the line without an end is missing"
run -l -n 2 sh -c 'printf "no end"' | sort | tr '\n' , | grep -qx '\[0\] no end,\[1\] no end,' || fail "labelled lines without an end"
run -n 1 sh -c 'printf "name? "; until [ -e "$1" ]; do sleep 0.1; done' sh "$dir/seen" : -n 1 true >"$dir/out" &
prompted=$!
until [ "$(cat "$dir/out")" = "name? " ] || ! kill -0 $prompted 2>/dev/null; do sleep 0.1; done
touch "$dir/seen"
wait $prompted || fail "a prompt does not appear"

# Who reads our output goes away: the job does not hang.
run -n 2 sh -c 'yes | head -c 3000000' 2>/dev/null | head -1 >"$dir/out"
[ "$(cat "$dir/out")" = y ] || fail "head"

(rc=0; timeout 30 "$build/mpiexec" -stdin all -n 2 yes || rc=$?; echo $rc >"$dir/status") <"$dir/big" 2>/dev/null | head -1 >"$dir/out"
[ "$(cat "$dir/out")" = y ] && [ "$(cat "$dir/status")" = 141 ] || fail "head, with input: status $(cat "$dir/status")"

# A grandchild that holds the pipe, and one that writes on and on.
t0=$(now_ms)
out=$(run -n 2 sh -c 'sleep $GW_LONG & echo left') || fail "a grandchild makes mpiexec fail"
[ "$out" = "$(printf 'left\nleft')" ] || fail "with a grandchild: $out"
{ run -n 2 sh -c 'while :; do echo y; done & sleep 0.2' || echo "status $?"; } | tail -1 >"$dir/out"
[ "$(cat "$dir/out")" = y ] || fail "a grandchild that writes on holds mpiexec: $(cat "$dir/out")"
[ $(($(now_ms) - t0)) -lt 5000 ] || fail "a grandchild holds mpiexec"
for p in $(ps -eo pid,args | awk -v d="$GW_LONG" '$2 == "sleep" && $3 "" == d "" {print $1}'); do kill "$p"; done
exit 0
