#!/bin/sh
# A host that nobody knows is told before anything starts, also from a file; what ssh has another name or a way of its own for is handed over,
# and where a program of the user's own starts processes there, a warning is all.  The engine and ssh are stand-ins.  Ranks that the real Hydra
# has started by itself end when its ssh has failed.
# users.md row 1
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "unknown_host: $*"; cat out; exit 1; }
unset HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC HYDRA_BOOTSTRAP HYDRA_BOOTSTRAP_EXEC PBS_NODEFILE LSB_DJOB_HOSTFILE SLURM_JOB_ID FLUX_URI
mkdir bin
printf '#!/bin/sh\n[ "$1" != --version ] || { echo "HYDRA Version: 4.0.2"; exit; }\necho started\n' >bin/mpiexec.hydra
cat >bin/ssh <<'END2'
#!/bin/sh
[ "$1 $2" = "-G --" ] || exit 255
case $3 in
alias.invalid) echo hostname localhost ;;
far.invalid) printf 'hostname far.invalid\nproxycommand connect far.invalid 22\n' ;;
wrong.invalid) echo hostname also-wrong.invalid ;;
*) echo "hostname $3" ;;
esac
END2
chmod +x bin/*
PATH=$dir/bin:$PATH
run() { rc=0; timeout 30 "$build/mpiexec" --engine hydra "$@" ./a.out >out 2>&1 </dev/null || rc=$?; }
refused() { # HOST OPTIONS...
    host=$1
    shift
    run "$@"
    [ $rc = 2 ] && ! grep -q "^started$" out || fail "$*: status $rc"
    grep -q "^mpiexec: host $host is not known on host $(hostname): .*Nothing was started" out || fail "$*: does not say which host"
}
passed() {
    run "$@"
    [ $rc = 0 ] && grep -q '^started$' out || fail "$*: status $rc"
}
printf 'localhost slots=2\nnobody.invalid slots=2\n' >hosts
refused nobody.invalid -n 2 -host nobody.invalid
refused nobody.invalid -n 2 -host localhost,nobody.invalid:3
refused me@nobody.invalid -n 2 -host me@nobody.invalid
refused nobody.invalid -n 2 -hostfile hosts
refused nobody.invalid -n 2 --default-hostfile hosts
refused wrong.invalid -n 2 -host wrong.invalid
HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=/usr/bin/ssh refused nobody.invalid -n 2 -host nobody.invalid
passed -n 2 -host 192.0.2.1
passed -n 2 -host alias.invalid
passed -n 2 -host far.invalid,alias.invalid
! grep -q known out || fail "an alias is warned of"
HYDRA_LAUNCHER_EXEC=/opt/enter passed -n 2 -host nobody.invalid
grep -q "warning: host nobody.invalid is not known on host .*HYDRA_LAUNCHER_EXEC" out || fail "no warning"
GODWIT_HOST_TIMEOUT=0 passed -n 2 -host nobody.invalid

[ -x /usr/bin/mpiexec.hydra ] || exit 0
rc=0
timeout 40 /usr/bin/mpiexec.hydra -hosts localhost,nobody.invalid -n 2 "$build/mpi_world_size" >out 2>&1 </dev/null || rc=$?
[ $rc != 0 ] && [ $rc != 124 ] || fail "Hydra, and an unknown host: status $rc"
grep -q "godwit: rank 0 (.*): the remote shell that mpiexec.* (process [0-9]*) had started for another host has failed with status 255" out ||
    fail "Hydra, and an unknown host:"
