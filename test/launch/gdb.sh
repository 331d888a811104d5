#!/bin/sh
# mpiexec --gdb: one rank under gdb with commands from a pipe, and on a terminal where Ctrl-C reaches gdb alone; several in windows
# of tmux; nothing stays when mpiexec is killed; what it says where there is no window, no gdb, no such rank.
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=$2
fail() { echo "gdb: $*"; exit 1; }
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
command -v gdb >/dev/null || { echo "there is no gdb"; exit 77; }
unset DISPLAY TMUX || true
dir=$(mktemp -d)
server=0 # a new one each time: one that is about to end takes nobody
tmux() { command tmux -S "$dir/tmux-$server" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$dir"' EXIT
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
static int __attribute__((noinline)) solve(int rank)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d of %s sums %d\n", rank, argc > 1 ? argv[1] : "-", solve(rank));
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -g -O0 "$dir/p.c" -o "$dir/p" -Wl,-rpath,"$build"
text=$(gdb -nx -q -batch -ex run "$dir/p" 2>&1) || true
case $text in *"exited normally"*) ;; *) echo "gdb cannot run a program here: $text" | tail -n 1; exit 77 ;; esac

# one rank, commands from a pipe
printf 'break solve\nrun\nprint 1000 + rank\nbacktrace\ncontinue\n' |
    timeout 60 "$build/mpiexec" -n 3 --gdb=2 "$dir/p" 'a b' >"$dir/out" 2>"$dir/err" || fail "--gdb=2 gives status $?: $(cat "$dir/err")"
for words in '= 1002' '#1 .* main (' 'rank 0 of a b sums 3' 'rank 1 of a b sums 3' 'rank 2 of a b sums 3' 'exited normally'; do
    grep -q "$words" "$dir/out" || fail "--gdb=2: no '$words' in $(cat "$dir/out")"
done
echo run | timeout 60 "$build/mpiexec" --gdb -n 1 "$dir/p" >"$dir/out" 2>&1 || fail "--gdb of one rank gives status $?"
grep -q 'rank 0 of - sums 0' "$dir/out" || fail "--gdb of one rank: $(cat "$dir/out")"

# refused STATUS WORDS OPTIONS...
refused() {
    want=$1 words=$2 rc=0
    shift 2
    timeout 60 "$build/mpiexec" "$@" >"$dir/out" 2>&1 </dev/null || rc=$?
    [ $rc = "$want" ] || fail "$* gives status $rc, not $want: $(cat "$dir/out")"
    grep -q "^mpiexec: .*$words" "$dir/out" || fail "$* says $(cat "$dir/out")"
}
refused 2 "there are only 2 ranks" -n 2 --gdb=2 "$dir/p"
for list in x 1-0 1, ,1 0-x -1 '0;1'; do refused 2 "--gdb wants ranks" -n 2 --gdb="$list" "$dir/p"; done
refused 2 "needs a window for each: start mpiexec in tmux" -n 2 --gdb "$dir/p"
refused 2 "of 2 ranks needs a window" -n 3 --gdb=0,2-2 "$dir/p"
refused 2 "did you mean --gdb?" -n 2 --gbd "$dir/p"
(mkdir "$dir/empty"; PATH=$dir/empty "$build/mpiexec" --gdb -n 1 "$dir/p" >"$dir/out" 2>&1) && fail "without gdb it starts"
grep -q "^mpiexec: --gdb needs gdb" "$dir/out" || fail "without gdb: $(cat "$dir/out")"
printf '#!/bin/sh\nexit 1\n' >"$dir/empty/tmux"
chmod +x "$dir/empty/tmux"
path=$PATH
PATH=$dir/empty:$PATH
export TMUX=/nowhere
refused 126 "tmux opens no window (it failed)" -n 2 --gdb "$dir/p"
unset TMUX
PATH=$path
refused 2 "for mpiexec --gdb alone" --gdb-window gw-nobody 0

command -v tmux >/dev/null || { echo "there is no tmux: terminals and windows are not tested"; exit 77; }
# sees PANE WORDS: until they are on its screen
sees() {
    for try in $(seq 600); do
        tmux capture-pane -p -J -t "$1" >"$dir/screen" 2>/dev/null || true
        if grep -q -e "$2" "$dir/screen"; then return 0; fi
        sleep 0.1
    done
    fail "no '$2' on $1: $(cat "$dir/screen") $(cat "$dir/err")"
}
# ends STATUS: mpiexec has ended with it
ends() {
    for try in $(seq 600); do
        if [ -s "$dir/done" ]; then break; fi
        sleep 0.1
    done
    [ "$(cat "$dir/done")" = "$1" ] || fail "status '$(cat "$dir/done")', not $1: $(cat "$dir/err")"
    rm "$dir/done"
}
# stops PANE: by Ctrl-C, which gdb itself takes while it still starts the program
stops() {
    for try in $(seq 60); do
        tmux send-keys -t "$1" C-c
        sleep 1
        tmux capture-pane -p -J -t "$1" >"$dir/screen" 2>/dev/null || true
        if grep -q 'received signal SIGINT' "$dir/screen"; then return 0; fi
    done
    fail "Ctrl-C does not stop $1: $(cat "$dir/screen") $(cat "$dir/err")"
}
enter() { tmux send-keys -t "$1" "$2" Enter; }
# begin OPTIONS...: mpiexec in window "job" of a new server
begin() {
    server=$((server + 1))
    : >"$dir/done"
    cat >"$dir/job" <<END
#!/bin/sh
"$build/mpiexec" $* 2>"$dir/err"
echo \$? >"$dir/done"
stty -a >"$dir/stty"
sleep 100
END
    chmod +x "$dir/job"
    tmux new-session -d -x 200 -y 60 -n job "$dir/job"
}

# one rank on a terminal: Ctrl-C stops it in gdb, and mpiexec and the other rank do not notice
begin -n 2 --gdb=0 "$dir/p" : -n 1 sh -c "'sleep 1000'"
sees job '^(gdb) *$'
enter job run
sees job 'Starting program'
stops job
sees job '^(gdb) *$'
enter job 'print 40 + 2'
sees job '= 42'
enter job 'kill'
enter job 'y'
enter job 'quit'
ends 1 # it left MPI behind: mpiexec ends the job, and has the terminal again
tmux kill-server

# two ranks, a window each
begin -n 3 --gdb=0,2 "$dir/p" two
sees 'rank 0' '^(gdb) *$'
sees 'rank 2' '^(gdb) *$'
enter 'rank 0' run
sees 'rank 0' 'Starting program'
stops 'rank 0' # its own terminal, so it stops in gdb
enter 'rank 0' continue
enter 'rank 2' 'break solve'
enter 'rank 2' run
sees 'rank 2' 'Breakpoint 1, solve (rank=2)'
enter 'rank 2' continue
sees 'rank 2' 'rank 2 of two sums 3'
sees 'rank 0' 'rank 0 of two sums 3'
sees job 'rank 1 of two sums 3'
enter 'rank 2' quit
enter 'rank 0' quit
ends 0
for try in $(seq 100); do
    [ "$(tmux list-windows -F '#W')" != job ] || break
    sleep 0.1
done
[ "$(tmux list-windows -F '#W')" = job ] || fail "windows stay: $(tmux list-windows)"
tmux kill-server

# mpiexec killed: windows, gdb and ranks go
begin -n 2 --gdb "$dir/p"
sees 'rank 1' '^(gdb) *$'
enter 'rank 1' run
sees 'rank 1' 'Starting program'
kill -9 "$(pgrep -f "^$build/mpiexec -n 2 --gdb $dir/p" | head -n 1)"
ends 137
for try in $(seq 100); do
    if [ "$(tmux list-windows -F '#W')" = job ] && ! pgrep -f "$dir/p" >/dev/null; then exit 0; fi
    sleep 0.1
done
fail "something stays: $(tmux list-windows) $(pgrep -a -f "$dir/p")"
