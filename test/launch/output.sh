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
run() { timeout 100 "$build/mpiexec" "$@" </dev/null; }

head -c 10000000 /dev/urandom >"$dir/big"

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

# With labels every line comes out whole, also when ranks write it in parts and wait between: never a part of a line, never two on one.
cat >"$dir/parts.py" <<'END'
import os, time
rank = os.environ["GODWIT_RANK"]
for i in range(4):
    for part in ["rank " + rank, " line ", str(i), " x" * 20, "\n"]:
        for fd in (1, 2):
            os.write(fd, part.encode())
        time.sleep(0.08) # longer than a part waits without labels
END
run -l -n 5 python3 "$dir/parts.py" >"$dir/out" 2>"$dir/err"
for r in 0 1 2 3 4; do for i in 0 1 2 3; do printf '[%d] rank %d line %d%s\n' $r $r $i " x x x x x x x x x x x x x x x x x x x x"; done; done | sort >"$dir/want"
for f in out err; do sort "$dir/$f" | cmp - "$dir/want" || fail "parts of lines with labels ($f)"; done
head -c 3000000 /dev/zero | tr '\0' y >"$dir/long" # one line, longer than what goes out without labels
run -l -n 1 cat "$dir/long" : -n 1 sh -c 'for i in 1 2 3 4 5; do echo $i; sleep 0.05; done' >"$dir/out"
[ "$(wc -l <"$dir/out")" = 6 ] && [ "$(grep -c '^\[1\] [1-5]$' "$dir/out")" = 5 ] && [ "$(grep -c '^\[0\] y*$' "$dir/out")" = 1 ] || fail "a long line with labels"

# What lines begin with.
[ "$(run -prepend-pattern '%r@%h,%p,%g%%: ' -n 2 echo x | sort | tr '\n' ,)" = "0@$(hostname),0,0%: x,1@$(hostname),0,0%: x," ] || fail "-prepend-pattern"
run --timestamp-output -l -n 2 echo x | grep -c '^20[0-9][0-9]-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9][0-9][0-9] \[[01]\] x$' |
    grep -qx 2 || fail "--timestamp-output"
now=$(date +%s)
then=$(run -prepend-pattern '%t ' -n 1 echo x | cut -d' ' -f1)
[ "$then" -ge "$now" ] && [ "$then" -le "$(date +%s)" ] || fail "%t is $then at $now"
run -prepend-pattern '%z' -n 1 true 2>"$dir/err" && fail "an unknown field"
grep -q "^mpiexec: -prepend-pattern '%z': there are %r" "$dir/err" || fail "an unknown field: $(cat "$dir/err")"
both='echo out $GODWIT_RANK; echo err $GODWIT_RANK >&2'
[ "$(run --merge-stderr-to-stdout -l -n 2 sh -c "$both" 2>/dev/null | sort | tr '\n' ,)" = "[0] err 0,[0] out 0,[1] err 1,[1] out 1," ] ||
    fail "--merge-stderr-to-stdout"
[ "$(run --merge-stderr-to-stdout -n 1 sh -c "$both" 2>/dev/null | sort | tr '\n' ,)" = "err 0,out 0," ] || fail "--merge-stderr-to-stdout, one rank"

# Files: one a rank, one for all, with folders; what went there is not printed, or is, as it was asked for.
mkdir "$dir/f"
holds() { [ "$(sort "$1" | tr '\n' ,)" = "$2" ] || fail "$1 holds '$(cat "$1")', not $2"; }
run -outfile-pattern "$dir/f/o.%r" -errfile-pattern "$dir/f/e.%r" -n 3 sh -c "$both" >"$dir/out" 2>&1 || fail "-outfile-pattern"
for r in 0 1 2; do holds "$dir/f/o.$r" "out $r," && holds "$dir/f/e.$r" "err $r,"; done
[ ! -s "$dir/out" ] || fail "-outfile-pattern prints $(cat "$dir/out")"
run -outfile-pattern "$dir/f/o.%r" -n 1 echo new # a single rank; what was there is gone
holds "$dir/f/o.0" "new,"
run -outfile-pattern "$dir/f/all" -l -n 3 sh -c "$both" 2>"$dir/err"
holds "$dir/f/all" "[0] out 0,[1] out 1,[2] out 2,"
holds "$dir/err" "[0] err 0,[1] err 1,[2] err 2,"
run -n 1 -outfile-pattern "$dir/f/big.%r" cat "$dir/big" : -n 1 true
cmp "$dir/f/big.0" "$dir/big" || fail "10 MB into a file"
run -o "$dir/f/%3t.%n.%N.txt" -n 3 sh -c "$both" >"$dir/out" 2>&1
for r in 0 1 2; do holds "$dir/f/00$r.0.$(hostname -s).txt" "err $r,out $r,"; done
[ ! -s "$dir/out" ] || fail "-o prints $(cat "$dir/out")"
run --output="$dir/f/x.%t" -e "$dir/f/y" -n 2 sh -c "$both"
holds "$dir/f/x.1" "out 1,"
holds "$dir/f/y" "err 0,err 1,"
run -o 1 -n 3 sh -c "$both" >"$dir/out" 2>/dev/null
holds "$dir/out" "out 1,"
run -o none -e none -n 1 sh -c "$both" >"$dir/out" 2>&1
[ ! -s "$dir/out" ] || fail "-o none"
run --output-filename "$dir/of/a" -n 11 sh -c "$both" >"$dir/out" 2>"$dir/err"
holds "$dir/of/a/1/rank.03/stdout" "out 3,"
holds "$dir/of/a/1/rank.10/stderr" "err 10,"
[ "$(wc -l <"$dir/out")" = 11 ] && [ "$(wc -l <"$dir/err")" = 11 ] || fail "--output-filename does not print as well"
run --output-filename "$dir/o%f:nojobid,nocopy" -n 2 sh -c "$both" >"$dir/out" 2>&1
holds "$dir/o%f/rank.1/stdout" "out 1,"
[ ! -s "$dir/out" ] || fail "nocopy prints $(cat "$dir/out")"
run --output tag,dir="$dir/pr" -n 2 sh -c "$both" >"$dir/out" 2>/dev/null
holds "$dir/pr/1/rank.1/stdout" "[1] out 1,"
holds "$dir/out" "[0] out 0,[1] out 1,"
# refused: what cannot be opened, a symbolic link; nothing is started then
ln -s "$dir/victim" "$dir/f/link"
for f in "$dir/none/x" "$dir/f/link" "$dir/f"; do
    rc=0
    run -outfile-pattern "$f" -n 2 touch "$dir/started" 2>"$dir/err" || rc=$?
    [ $rc = 126 ] && grep -q "^mpiexec: cannot write $f: " "$dir/err" && [ ! -e "$dir/started" ] && [ ! -e "$dir/victim" ] || fail "$f: $rc, $(cat "$dir/err")"
done

# What cannot be written is told, once, and the status is not 0; that of ranks that failed comes first.
lost() {
    [ $rc = "$1" ] && [ "$(grep -c "^mpiexec: cannot write $2" "$dir/err")" = 1 ] || fail "$2 is not told: status $rc, $(cat "$dir/err")"
}
many='for i in 1 2 3 4 5 6 7 8 9; do echo $i; done'
rc=0; run -n 3 sh -c "$many" >/dev/full 2>"$dir/err" || rc=$?
lost 1 "standard output: No space left on device"
rc=0; run -l -n 1 sh -c "$many" >/dev/full 2>"$dir/err" || rc=$?
lost 1 "standard output: No space left on device"
rc=0; run -n 2 sh -c "$many; exit 7" >/dev/full 2>"$dir/err" || rc=$?
lost 7 "standard output: No space left on device"
for n in 1 2; do
    rc=0; run -n $n sh -c "$many" >&- 2>"$dir/err" || rc=$?
    lost 1 "standard output: Bad file descriptor"
    run -n $n true >&- || fail "nothing is lost, and the status is not 0"
done
rc=0; run -outfile-pattern /dev/full -n 2 sh -c "$many" 2>"$dir/err" || rc=$?
lost 1 "/dev/full: No space left on device"
(trap '' PIPE; rc=0; run -n 2 sh -c 'until [ -e "$1" ]; do sleep 0.1; done; echo a; sleep 0.3; echo b' sh "$dir/gone" 2>"$dir/err" || rc=$?
    echo $rc >"$dir/status") | (exec <&-; : >"$dir/gone")
[ "$(cat "$dir/status")" = 1 ] && grep -q "cannot write standard output: Broken pipe" "$dir/err" || fail "a reader that is gone: $(cat "$dir/status" "$dir/err")"

# 10 MB through one rank of two, as output and as errors, to a file and to a slow pipe.
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

(rc=0; timeout 100 "$build/mpiexec" -stdin all -n 2 yes || rc=$?; echo $rc >"$dir/status") <"$dir/big" 2>/dev/null | head -1 >"$dir/out"
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
