#!/bin/sh
# Standard input reaches the rank it is for, byte by byte: rank 0, another, all or none; a loop around mpiexec loses no line.
# users.md row 13
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "stdin: $*"; exit 1; }
run() { timeout 100 "$build/mpiexec" "$@"; }
head -c 20000000 /dev/urandom >"$dir/in"
: >"$dir/empty"
# save COPY.RANK: what a rank reads
cat >"$dir/save" <<'END'
#!/bin/sh
exec cat >"$1.$GODWIT_RANK"
END
chmod +x "$dir/save"
# got RANK FILE: that rank read this
got() { cmp "$dir/got.$1" "$2" || fail "$what: rank $1 did not read what it should"; }

for how in file pipe; do
    feed() {
        rm -f "$dir"/got.*
        if [ $how = file ]; then run "$@" "$dir/save" "$dir/got" <"$dir/in"; else cat "$dir/in" | run "$@" "$dir/save" "$dir/got"; fi
    }
    what="default, $how"
    feed -n 3
    got 0 "$dir/in"
    got 1 "$dir/empty"
    got 2 "$dir/empty"
    what="-n 1, $how"
    feed -n 1
    got 0 "$dir/in"
    what="-stdin 1, $how"
    feed -stdin 1 -n 3
    got 0 "$dir/empty"
    got 1 "$dir/in"
    got 2 "$dir/empty"
    what="-stdin all, $how"
    feed -stdin all -n 4
    for r in 0 1 2 3; do got $r "$dir/in"; done
    what="-stdin none, $how"
    feed -stdin none -n 2
    got 0 "$dir/empty"
    got 1 "$dir/empty"
done

# All, where the readers are of different speed, one reads a part and one nothing.
what="different readers"
rm -f "$dir"/got.*
cat "$dir/in" | run -stdin all -n 4 sh -c 'case $GODWIT_RANK in
    0) exec cat >"$1.0" ;;
    1) sleep 0.3; exec cat >"$1.1" ;;
    2) exec head -c 1000 >"$1.2" ;;
    3) ;;
    esac' sh "$dir/got"
got 0 "$dir/in"
got 1 "$dir/in"
head -c 1000 "$dir/in" | cmp - "$dir/got.2" || fail "$what: rank 2"

# Slow input arrives as it comes, not at its end.
mkfifo "$dir/fifo"
for who in 0 all; do
    slow=$dir/slow.$who
    : >"$slow"
    (echo first; n=0; until [ -s "$slow" ] || [ $n = 200 ]; do n=$((n + 1)); sleep 0.1; done; [ -s "$slow" ] || : >"$slow.late"; echo second) >"$dir/fifo" &
    run -stdin $who -n 2 sh -c 'if read a; then echo "$a" >>"$1"; read b; fi; exit 0' sh "$slow" <"$dir/fifo" &
    wait
    [ ! -e "$slow.late" ] || fail "the first line does not arrive before the second (-stdin $who)"
    [ "$(sort -u "$slow")" = first ] || fail "the first line is not what arrives (-stdin $who): $(cat "$slow")"
done

# A job that reads nothing leaves the lines of a loop alone; one that reads takes them.
seq 40 >"$dir/lines"
for o in "-n 1" "-n 2" "-stdin none -n 2" "-stdin 1 -n 2"; do
    n=0
    while read -r line; do
        run $o true
        n=$((n + 1))
    done <"$dir/lines"
    [ $n = 40 ] || fail "a loop around mpiexec $o saw $n lines of 40"
    n=$(cat "$dir/lines" | while read -r line; do run $o true; echo "$line"; done | wc -l)
    [ "$n" = 40 ] || fail "a loop behind a pipe around mpiexec $o saw $n lines of 40"
done
n=$( (read -r a; run -n 2 sh -c 'if [ $GODWIT_RANK = 0 ]; then wc -l; fi') <"$dir/lines")
[ "$n" = 39 ] || fail "the rank saw $n of the 39 lines that were left"

# No standard input at all.
for o in "-n 1" "-n 2" "-stdin all -n 2"; do
    [ "$(run $o wc -c <&- | sort -u)" = 0 ] || fail "closed input, $o"
    [ "$(run $o wc -c </dev/null | sort -u)" = 0 ] || fail "empty input, $o"
done
# What cannot be written is lost, which the exit status says; a rank that prints nothing loses nothing.
if run -n 2 echo x >&- 2>/dev/null; then fail "closed output"; fi
run -n 2 true >&- || fail "closed output, nothing printed"
[ "$(run -n 2 echo x 2>&-)" = "$(printf 'x\nx')" ] || fail "closed errors"
# A slow reader does not keep mpiexec busy while the others wait.
(head -c 300000 "$dir/in"; sleep 1) | "$build/mpiexec" -stdin all -n 2 sh -c '[ $GODWIT_RANK = 1 ] || until [ -e "$1" ]; do sleep 0.1; done
    exec cat >/dev/null' sh "$dir/go" &
sleep 1.7
ticks=$(awk '{print $14 + $15}' "/proc/$!/stat")
: >"$dir/go"
wait
[ "$ticks" -lt 30 ] || fail "mpiexec is busy while a rank does not read: $ticks ticks"
