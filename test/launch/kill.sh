#!/bin/sh
# Whatever ends mpiexec, nothing of the job is left 2.5 s later: no rank, no child of a rank, no helper, no file.
# users.md rows 5, 14
# run.py: timeout=300 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'for p in $(left); do kill -9 $p || :; done; clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "kill: $*"; exit 1; }
mark=gw-kill-$$
mkdir "$dir/tmp"
ls /dev/shm /tmp | grep -i -e godwit -e gw- | sort >"$dir/before" || :
# Processes of the job, whatever they became: all that have the mark in their environment.
left() { grep -lzsx "GW_MARK=$mark" /proc/[0-9]*/environ | cut -d/ -f3 | tr '\n' ' '; }

# start OPTIONS...: starts mpiexec as the one in a terminal would be (a shell's background ignores SIGINT); $pid
start() {
    : >"$dir/out" # not the last one's words
    env --default-signal=INT,QUIT,HUP GW_MARK=$mark TMPDIR="$dir/tmp" "$build/mpiexec" "$@" >"$dir/out" 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 300); do
        [ "$(grep -c ready "$dir/out")" = 4 ] && return 0
        sleep 0.1
    done
    fail "$what did not start: $(cat "$dir/out")"
}
# gone STATUS MS: mpiexec ends with STATUS, and MS after $t0 nothing is there
gone() {
    rc=0
    wait $pid || rc=$?
    [ $(($(now_ms) - t0)) -lt "$2" ] || fail "$what: mpiexec ended after $(($(now_ms) - t0)) ms"
    while l=$(left) && [ "$l" ]; do
        [ $(($(now_ms) - t0)) -lt "$2" ] || { ps -o pid,args -p "$(echo $l | tr ' ' ,)"; kill -9 $l; fail "$what: this is left after $2 ms"; }
        sleep 0.05
    done
    [ "$1" = any ] || [ $rc = "$1" ] || fail "$what: status $rc, not $1"
    [ -z "$(ls -A "$dir/tmp")" ] || fail "$what: left in TMPDIR: $(ls -A "$dir/tmp")"
}
case_one() { # SIGNALS STATUS MS PROGRAM...
    sigs=$1 status=$2 ms=$3
    shift 3
    start "$@"
    t0=$(now_ms)
    first=yes
    for s in $sigs; do
        [ $first ] || sleep 0.2
        first=
        kill -"$s" $pid 2>/dev/null || : # a second one may come too late
    done
    gone "$status" "$ms"
}

plain='echo ready; sleep 7331 & sleep 7331 & wait'
deaf='trap "" TERM INT HUP; echo ready; sleep 7331 & while :; do sleep 0.1; done'
polite='trap "exit 0" TERM INT HUP; sleep 7331 & sleep 7331 & echo ready; while :; do sleep 0.1; done'
programs="plain deaf polite"
[ -z "${TEST_QUICK:-}" ] || programs=deaf
for program in $programs; do
    eval "text=\$$program"
    for s in "KILL 137" "TERM 143" "INT 130" "HUP 129"; do
        what="$program, ${s% *}"
        case_one "${s% *}" "${s#* }" 2500 -n 4 sh -c "$text"
    done
    what="$program, INT twice"
    case_one "INT INT" 130 2500 -n 4 sh -c "$text"
    what="$program, TERM, then KILL"
    case_one "TERM KILL" any 2500 -n 4 sh -c "$text"
done

what="a stopped rank"
start -n 4 sh -c 'echo ready; if [ $GODWIT_RANK = 1 ]; then kill -STOP $$; fi; sleep 7331 & wait'
t0=$(now_ms)
kill -TERM $pid
gone 143 2500

what="one rank fails, the others are deaf"
start -n 4 sh -c 'trap "" TERM; echo ready; sleep 7331 & if [ $GODWIT_RANK = 2 ]; then sleep 1; kill -9 $$; fi; while :; do sleep 0.1; done'
t0=$(($(now_ms) + 1000))
gone 137 2500

what="killed while it starts"
for after in 0 0.001 0.002 0.004 0.006 0.008 0.01 0.012 0.015 0.02 0.03; do
    for s in TERM KILL; do
        env GW_MARK=$mark TMPDIR="$dir/tmp" "$build/mpiexec" -n 8 sh -c "sleep 7331 & $deaf" >"$dir/out" 2>&1 </dev/null &
        pid=$!
        sleep $after
        kill -$s $pid
        t0=$(now_ms)
        gone any 2500
    done
done

what="the keeper is killed, then mpiexec"
start -n 4 sh -c "$plain"
keeper() { for p in $(left); do [ "$(cat /proc/$p/comm 2>/dev/null)" = mpiexec-keeper ] && echo $p; done || :; }
first=$(keeper)
kill -KILL $first
t0=$(now_ms)
while second=$(keeper) && { [ -z "$second" ] || [ "$second" = "$first" ]; }; do
    [ $(($(now_ms) - t0)) -lt 2500 ] || fail "$what: no keeper came after it"
    sleep 0.1
done
t0=$(now_ms)
kill -KILL $pid
gone 137 2500

what="nobody takes the output"
mkfifo "$dir/fifo"
sleep 60 <"$dir/fifo" &
reader=$!
env GW_MARK=$mark "$build/mpiexec" -n 2 sh -c 'sleep 7331 & yes' >"$dir/fifo" 2>"$dir/out" </dev/null &
pid=$!
sleep 0.5
t0=$(now_ms)
kill -TERM $pid
gone 143 2500
kill $reader

what="nohup"
start -n 4 sh -c 'echo ready; sleep 7331'
kill -TERM $pid
t0=$(now_ms)
gone 143 2500
: >"$dir/out"
env GW_MARK=$mark nohup "$build/mpiexec" -n 2 sh -c 'echo started; sleep 1; echo done' >"$dir/out" 2>&1 </dev/null &
pid=$!
until [ "$(grep -c started "$dir/out")" = 2 ]; do sleep 0.1; done
kill -HUP $pid
t0=$(now_ms)
gone 0 2500
[ "$(grep -c done "$dir/out")" = 2 ] || fail "under nohup SIGHUP ends the job"

what="Ctrl-C in a terminal"
for twice in "" yes; do
    cat >"$dir/terminal.py" <<'END'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
seen = b""
while seen.count(b"ready") < 4:
    seen += os.read(fd, 1000)
open(sys.argv[2], "w").close()
os.write(fd, b"\x03")
if sys.argv[1]:
    time.sleep(0.1)
    os.write(fd, b"\x03")
try:
    while os.read(fd, 1000): pass
except OSError: pass
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
END
    rm -f "$dir/typed"
    GW_MARK=$mark timeout 60 python3 "$dir/terminal.py" "$twice" "$dir/typed" "$build/mpiexec" -n 4 sh -c "$deaf" &
    pid=$!
    while [ ! -e "$dir/typed" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
    t0=$(now_ms)
    gone 130 2500
done

if [ "${2-}" ] && [ -x "$2/bin/mpicc" ]; then
    "$2/bin/mpicc" "$(dirname "$0")/ends.c" -o "$dir/ends"
    cat >"$dir/mpi" <<'END'
#!/bin/sh
echo ready
exec "$@"
END
    chmod +x "$dir/mpi"
    for s in "KILL 137" "TERM 143" "INT 130"; do
        what="ranks in MPI_Recv, ${s% *}"
        start -n 4 "$dir/mpi" "$dir/ends" 0 wait
        sleep 0.3
        t0=$(now_ms)
        kill -"${s% *}" $pid
        gone "${s#* }" 2500
    done
fi
ls /dev/shm /tmp | grep -i -e godwit -e gw- | sort >"$dir/after" || :
new=$(comm -13 "$dir/before" "$dir/after")
[ -z "$new" ] || fail "these were left in /dev/shm or /tmp: $new"
