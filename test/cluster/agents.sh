#!/bin/sh
# Workstations and ssh alone: mpiexec starts agents of its own on two and four hosts that have an sshd.  What holds on one host holds there: who is
# which rank, labels, standard input, exit codes, signals; whichever part is killed, nothing is left on any host.  A host that is not there, one
# without Godwit, one with another version are told by name.  No port is opened, and no command line has more than --agent.
# users.md row 5
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in ssh ssh-keygen; do command -v $tool >/dev/null || { echo "agents: skipped: no $tool here (Debian: openssh-client)"; exit 77; }; done
    [ -x /usr/sbin/sshd ] || { echo "agents: skipped: no sshd here (Debian: openssh-server)"; exit 77; }
    [ "$(id -u)" = 0 ] || { echo "agents: skipped: sshd wants root"; exit 77; }
    exec "$here/cluster" --hosts 4 "$here/agents.sh" "$build"
fi
# shellcheck source=ssh.sh
. "$here/ssh.sh"
export GODWIT_HOST_TIMEOUT=3
unset GODWIT_LAUNCH_AGENT HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent
ssh_begin n1 n2 n3 n4
# A Godwit that hosts can lose, or have another version of, each for itself.
mkdir "$dir/bin"
cp "$build/mpiexec" "$dir/bin/mpiexec"
m=$dir/bin/mpiexec
trap 'for h in n1 n2 n3 n4; do on $h pkill -KILL -f "$dir/" || :; done; rm -rf "$dir"' EXIT
what=
fail() { echo "agents: $what: $*: $(head -c 2000 "$dir/out") $(head -c 2000 "$dir/err")"; exit 1; }
# run STATUS WORDS...: mpiexec with these words ends so
run() {
    want=$1 what="mpiexec $*" rc=0
    shift
    timeout 60 "$m" "$@" >"$dir/out" 2>"$dir/err" <"${input:-/dev/null}" || rc=$?
    [ $rc = "$want" ] || fail "status $rc, not $want"
}
same() { [ "$(cat "$dir/out")" = "$1" ] || fail "other output than: $1"; }
told() { grep -q "$1" "$dir/err" || fail "it is not said: $1"; }
# Nothing of a job on any host, 5 s after the end at most; the front end is a host, too.
left() {
    for h in n1 n2 n3 n4; do on $h pgrep -f "$dir/bin/mpiexec|sleep 73[0-9][0-9]|cluster_ring|mpiexec-keeper" | sed "s/^/$h /" || :; done
    pgrep -f "^$dir/bin/mpiexec|ssh.*--agent" | sed 's/^/front /' || :
}
nothing_left() {
    for _ in $(seq 100); do [ "$(left)" ] || return 0; sleep 0.1; done
    fail "left: $(left) $(for h in n1 n2 n3 n4; do on $h ps -eo pid,args | grep -v ' \[' | tail -5; done)"
}

# ---- who is which rank -----------------------------------------------------------------------------------------------------------
facts='echo $PMI_RANK of $PMI_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS on $(hostname)'
run 0 -host n1,n2 -n 4 sh -c "$facts"
[ "$(sort "$dir/out")" = "0 of 4, 0 of 2 on n1
1 of 4, 1 of 2 on n1
2 of 4, 0 of 2 on n2
3 of 4, 1 of 2 on n2" ] || fail "other ranks"
[ ! -s "$dir/err" ] || fail "it says something"
printf 'n2 slots=2\nn4:1\n' >"$dir/hosts"
run 0 -l -hostfile "$dir/hosts" sh -c 'hostname'
[ "$(sort "$dir/out")" = "[0] n2
[1] n2
[2] n4" ] || fail "other ranks or labels"
run 0 -host n1:2,n2:2 -n 1 sh -c 'echo a $PMI_RANK $(hostname)' : -n 2 sh -c 'echo b $PMI_RANK $(hostname)' : -n 1 -env X 5 sh -c 'echo c $PMI_RANK $X'
[ "$(sort "$dir/out")" = "a 0 n1
b 1 n1
b 2 n2
c 3 5" ] || fail "other sections"
# Folder and environment are those of here; what belongs to a host is its own.
cd "$dir/bin"
Y=7 GODWIT_QUIET=1 HOSTNAME=front run 0 -x Z=8 -host n3,n4 sh -c 'echo $PWD $Y $Z $GODWIT_QUIET ${HOSTNAME:-none}' </dev/null
[ "$(sort -u "$dir/out")" = "$dir/bin 7 8 1 none" ] || fail "another environment"
run 0 -wdir / -host n3,n4 pwd
[ "$(sort -u "$dir/out")" = / ] || fail "another folder"
for hosts in n1:2,n2:2 n1:2,n2:3,n3:1,n4:2; do
    run 0 -host $hosts "$build/cluster_ring" 5
    [ "$(grep -c '^turning' "$dir/out")" = 1 ] || fail "the ring did not turn"
done
run 0 -host n1:2,n2:3 -outfile-pattern "$dir/of-%r" sh -c 'echo I am $PMI_RANK'
[ "$(cat "$dir/of-4")" = "I am 4" ] || fail "no file of rank 4"

# ---- standard input -----------------------------------------------------------------------------------------------------------------
seq 200000 >"$dir/numbers"
input=$dir/numbers
run 0 -host n2,n3 sh -c 'cat'
cmp -s "$dir/out" "$dir/numbers" || fail "rank 0 has not got its input"
run 0 -stdin 1 -host n2,n3 sh -c 'cat'
cmp -s "$dir/out" "$dir/numbers" || fail "rank 1 has not got its input"
run 0 -stdin all -host n2,n3 sh -c 'cat | cksum'
[ "$(cat "$dir/out")" = "$(cksum <"$dir/numbers"; cksum <"$dir/numbers")" ] || fail "not all have got the input"
run 0 -stdin none -host n2,n3 sh -c 'cat'
same ""
input=

# ---- how ranks end --------------------------------------------------------------------------------------------------------------------
run 5 -host n1,n2,n3,n4 sh -c '[ $PMI_RANK != 3 ] || exit 5'
run 139 -host n1,n2 sh -c '[ $PMI_RANK = 1 ] || sleep 7301; kill -SEGV $$'
told '^mpiexec: rank 1 (host n2, pid [0-9]*) was killed by signal 11 (Segmentation fault).*; the other ranks end now$'
nothing_left
run 3 -host n1:2,n2:2 sh -c '[ $PMI_RANK = 0 ] && exit 3; exec '"$build/cluster_ring 5"
told '^mpiexec: rank 0 (host n1.*) ended with status 3 without calling MPI_Init, which the others wait for; they end now$'
nothing_left
run 127 -host n1,n2 "$dir/nosuch"
told "^mpiexec: cannot start $dir/nosuch: No such file or directory"
run 124 --timeout 2 -host n1,n2 sleep 7302
told '^mpiexec: the job ran longer than --timeout 2 s; it ends now:$'
nothing_left

# ---- signals, and parts that are killed -------------------------------------------------------------------------------------------------
# begin: starts a job of four ranks on n1 and n2 and awaits it; $pid
deaf='trap "" TERM INT HUP; echo ready; sleep 7303 & while :; do sleep 0.1; done'
polite='trap "echo caught; exit 0" TERM INT; echo ready; sleep 7304 & wait'
begin() {
    what=$1
    : >"$dir/out"
    setsid env --default-signal=INT,QUIT,HUP "$m" -host n1:2,n2:2 sh -c "$2" >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    for _ in $(seq 300); do [ "$(grep -c ready "$dir/out")" = 4 ] && return 0; sleep 0.1; done
    fail "it does not start"
}
ended() { # STATUS
    rc=0
    wait $pid || rc=$?
    [ $rc = "$1" ] || fail "status $rc, not $1"
    nothing_left
}
for sig in INT:130 TERM:143 HUP:129 KILL:137; do
    begin "SIG${sig%:*}, deaf ranks" "$deaf"
    kill -${sig%:*} $pid
    ended ${sig#*:}
done
begin "SIGINT of a terminal" "$polite"
kill -INT -$pid # ssh gets it, too
ended 130
[ "$(grep -c caught "$dir/out")" = 4 ] || fail "ranks were not told, or their last words are lost"
begin "an agent is killed" "$deaf"
[ "$(on n2 pgrep -f "^$m --agent" | wc -l)" -ge 1 ] || fail "an agent has other words on its command line: $(on n2 pgrep -fa mpiexec)"
# No door is open to a stranger: neither mpiexec nor an agent listens.
for h in "" "on n1" "on n2"; do ! $h ss -Hltnp | grep '"mpiexec' || fail "a port is open"; done
on n2 pkill -KILL -o -f "^$m --agent" # its keeper is younger
ended 125
told '^mpiexec: the agent on host n2 is gone'
begin "an agent is told to end" "$deaf"
on n2 pkill -TERM -o -f "^$m --agent"
ended 143
begin "ssh is killed" "$deaf"
pkill -KILL -f 'ssh .* n2 .*--agent'
ended 125
begin "a session of sshd is killed" "$deaf"
on n2 pkill -KILL -f 'sshd: root@notty'
ended 125
begin "a rank is killed" "$deaf"
on n2 sh -c 'kill -9 $(pgrep -f "^sh -c trap" | head -1)'
ended 137
told '^mpiexec: rank [23] (host n2, pid [0-9]*) was killed by signal 9'
begin "the cable of a host is pulled" "$deaf"
sleep 2 # mpiexec has heard of n2
cable n2 pull
rc=0
wait $pid || rc=$?
[ $rc = 125 ] || fail "status $rc"
told '^mpiexec: host n2 has not answered for 3 s (GODWIT_HOST_TIMEOUT); the job ends now$'
nothing_left # also on n2, which has not heard of mpiexec
cable n2 plug

# ---- hosts that cannot take part -----------------------------------------------------------------------------------------------------------
run 2 -host n1,n9 true
told '^mpiexec: host n9 is not known on host front'
on n3 pkill -f 'sshd: /usr/sbin/sshd' || fail "there is no sshd to end"
run 126 -host n1,n3 sleep 7305
told '^mpiexec: host n3 cannot be reached (ssh ended with status 255; what it said stands above)'
on n4 mount -t tmpfs tmpfs "$dir/bin"
run 126 -host n1,n4 sleep 7305
told "^mpiexec: host n4 cannot run $m: install Godwit there, too, of the same version and under the same prefix\$"
printf '#!/bin/sh\necho GODWIT-AGENT 1 0.0.9\ncat >/dev/null\n' >"$dir/other"
chmod +x "$dir/other"
on n2 mount --bind "$dir/other" "$m"
run 126 -host n1,n2 sleep 7305
told "^mpiexec: host n2 has Godwit 0.0.9 in $m, this host has .*: install the same version on all hosts\$"
nothing_left
on n2 umount "$m"
# Words of a shell there before the greeting change nothing.
cp "$m" "$dir/real"
printf '#!/bin/sh\necho Welcome to n2\nexec %s "$@"\n' "$dir/real" >"$dir/other"
on n2 mount --bind "$dir/other" "$m"
run 0 -host n1,n2 sh -c 'echo here'
same "here
here"
# An agent that sends what is none of ours
printf '#!/bin/sh\necho GODWIT-AGENT 1 %s\nhead -c 100 /dev/zero\ncat >/dev/null\n' "$("$m" --version | grep -o '[0-9][0-9.]*' | head -1)" >"$dir/other"
run 125 -host n1,n2 sleep 7305
told '^mpiexec: what host n2 sends is of no agent of Godwit; the job ends now$'
on n2 umount "$m"
GODWIT_LAUNCH_AGENT="$dir/ssh/ssh -q" run 0 -host n1,n2 true
GODWIT_LAUNCH_AGENT=rsh run 0 -host n1,n2 true
GODWIT_LAUNCH_AGENT=/nosuch run 127 -host n1,n2 true
told 'GODWIT_LAUNCH_AGENT=/nosuch cannot be run'
nothing_left
