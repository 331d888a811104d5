#!/bin/sh
# Nothing of a job is left when mpiexec returns, not even a zombie for process 1: after a failed start, under a limit of processes, and of
# daemons that ranks have started, double-forked and in sessions of their own, whether the job ended well or not.
# users.md row 5
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
mark=gw-orphans-$$
left() { grep -lzsx "GW_MARK=$mark" /proc/[0-9]*/environ | cut -d/ -f3 | tr '\n' ' '; }
trap 'for p in $(left); do kill -9 $p 2>/dev/null || :; done; rm -rf "$dir"' EXIT
fail() { echo "orphans: $*"; exit 1; }
export GW_MARK=$mark

# adopt STATUS COMMAND...: runs it as process 1 of a container would that reaps no process; those that it has inherited in the end are left over
cat >"$dir/adopt.py" <<'END'
import ctypes, os, subprocess, sys
if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
    sys.exit("no subreaper here")
status = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, timeout=60).returncode
status = 128 - status if status < 0 else status
left = []
for name in os.listdir("/proc"):
    try:
        with open("/proc/" + name + "/stat") as f:
            words = f.read().rsplit(")", 1)
        if words[1].split()[1] == str(os.getpid()):
            left.append(name + words[0].split("(", 1)[1] + " " + words[1].split()[0])
    except (OSError, IndexError):
        pass
if left or status != int(sys.argv[1]):
    sys.exit("status %d, left: %s" % (status, left))
END
adopt() { python3 "$dir/adopt.py" "$@" 2>"$dir/err" || fail "$*: $(cat "$dir/err")"; }
gone() { l=$(left); [ -z "$(for p in $l; do [ "$(cat /proc/$p/comm 2>/dev/null)" = sleep ] && echo $p; done)" ] || fail "$1: these are left: $(ps -o pid,args -p "$(echo $l | tr ' ' ,)")"; }

adopt 127 "$build/mpiexec" -n 27 "$dir/not-there"
grep -q "cannot start" "$dir/err" || fail "a start that fails is not told: $(cat "$dir/err")"
adopt 127 "$build/mpiexec" -n 9 sleep 7351 : -n 1 "$dir/not-there"
adopt 126 "$build/mpiexec" -n 9 sh -c 'sleep 7351 & sleep 7351' : -n 1 "$dir"
gone "a failed start"
if [ "$(id -u)" = 0 ]; then
    user="setpriv --reuid 54329 --regid 54329 --clear-groups"
    if $user test -x "$build/mpiexec" 2>/dev/null; then
        adopt 126 $user prlimit --nproc=12 "$build/mpiexec" -n 27 sleep 7352
        grep -q "cannot start rank .*ulimit -u" "$dir/err" || fail "the limit of processes is not told: $(cat "$dir/err")"
        [ -z "$(ps -o pid= -u 54329)" ] || fail "under a limit of processes these are left: $(ps -o pid,args -u 54329)"
        $user prlimit --nproc=12 "$build/mpiexec" --pmix off -n 3 true || fail "the next job finds no room"
    fi
fi

# A daemon, and how the rank ends that has started it
cat >"$dir/daemon" <<'END'
#!/bin/sh
# HOW...: what the rank does when the daemon is there
python3 -c '
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        def told(sig, frame):
            open(sys.argv[1], "w").write("told")
            os._exit(0)
        signal.signal(signal.SIGTERM, told if os.environ.get("POLITE") else signal.SIG_IGN)
        os.close(1)
        open(sys.argv[1] + ".up", "w").close()
        if os.environ.get("POLITE"):
            while True: signal.pause()
        os.execvp("sleep", ["sleep", "7353"])
    os._exit(0)
os.wait()
' "$DAEMON.$GODWIT_RANK"
until [ -e "$DAEMON.$GODWIT_RANK.up" ]; do sleep 0.05; done
eval "$*"
END
chmod +x "$dir/daemon"
export DAEMON=$dir/d
for n in 1 4; do
    for _ in 1 2 3; do # one that does not get to run for a second is killed
        rm -f "$dir"/d.*
        POLITE=1 adopt 0 "$build/mpiexec" -n $n "$dir/daemon" true
        told=$(cat "$dir"/d.? | wc -c)
        [ "$told" != $((4 * n)) ] || break
    done
    [ "$told" = $((4 * n)) ] || fail "$n ranks: not every daemon was told to end, three times"
    rm -f "$dir"/d.*
    adopt 0 "$build/mpiexec" -n $n "$dir/daemon" exit 0
    grep -q "^mpiexec: .* (pid [0-9]*), which a rank has left running, ends now: .* must wait for what it starts" "$dir/err" ||
        fail "$n ranks that do not wait: nothing is said: $(cat "$dir/err")"
    gone "a daemon that does not end when it is told, $n ranks"
    rm -f "$dir"/d.*
    adopt 3 "$build/mpiexec" -n $n "$dir/daemon" exit 3
    rm -f "$dir"/d.*
    adopt 124 "$build/mpiexec" --timeout 1 -n $n "$dir/daemon" sleep 7354
    gone "a daemon of a job that was ended, $n ranks"
done

"$build/mpiexec" -n 2 sh -c 'sleep 0.01 & wait' 2>"$dir/err" && [ ! -s "$dir/err" ] || fail "one that waits: $(cat "$dir/err")"

# Nobody reads any more what ranks print: mpiexec goes as any program then, and takes all with it.
rm -f "$dir"/d.*
"$build/mpiexec" -n 3 "$dir/daemon" 'while echo line; do :; done; sleep 7355' 2>"$dir/err" | head -n 3 >"$dir/out"
[ "$(cat "$dir/out")" = "$(printf 'line\nline\nline')" ] || fail "three lines of ranks are: $(cat "$dir/out")"
gone "a daemon of a job whose reader has gone"

# Who has ended meanwhile does not stay as a zombie.
cat >"$dir/many" <<'END'
for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.01 &) ; done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    n=$(ps -o stat= --ppid $PPID | grep -c '^Z') || :
    [ "$n" = 0 ] && [ $i -gt 3 ] && exit 0
    sleep 0.1
done
echo "$n zombies"
exit 1
END
adopt 0 "$build/mpiexec" -n 1 sh "$dir/many"
