#!/bin/sh
# mpiexec doctor: a line for each check, with advice where it is not ok; its exit status; what it says of programs that cannot be
# started, or that load another MPI library, or none.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "doctor: $*"; exit 1; }
# doctor ARGUMENTS...: its output is in $dir/out; its status is 1 where a line is a problem (this machine may have some), else 0
doctor() {
    rc=0 want=0
    timeout 60 "$build/mpiexec" doctor "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    if grep -q '^problem' "$dir/out"; then want=1; fi
    [ $rc = $want ] || fail "doctor $* ended with status $rc, not $want: $(cat "$dir/out" "$dir/err")"
}
# refused WORDS ARGUMENTS...: status 2 and a line of explanation
refused() {
    words=$1 rc=0
    shift
    timeout 60 "$build/mpiexec" doctor "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc = 2 ] || fail "doctor $* ended with status $rc, not 2"
    [ ! -s "$dir/out" ] || fail "doctor $* printed $(cat "$dir/out")"
    grep -q "^mpiexec: doctor: .*$words" "$dir/err" || fail "doctor $* gives $(cat "$dir/err")"
}
# says FINDING WHAT WORDS [ADVICE]: there is such a line, and advice behind it where that is wanted
says() {
    line=$(grep -n "^$1 *$2: .*$3" "$dir/out") || fail "no '$1 $2: $3' in $(cat "$dir/out")"
    [ $# -lt 4 ] || sed -n "$((${line%%:*} + 1))p" "$dir/out" | grep -q "^         .*$4" || fail "behind '$line' no advice '$4'"
}

doctor /bin/true
while IFS= read -r line; do
    case $line in
    "ok       "*": "* | "note     "*": "* | "problem  "*": "* | "         "* | [0-9]*" problem"*) ;;
    *) fail "a line of no form: $line" ;;
    esac
done <"$dir/out"
[ "$(grep -c '^[onp]' "$dir/out")" -ge 30 ] || fail "fewer than 30 checks: $(cat "$dir/out")"
[ "$(grep -c '^[np]' "$dir/out")" = "$(grep -c '^         ' "$dir/out")" ] || fail "notes without advice: $(cat "$dir/out")"
says ok "shared memory" "memfd works"
says ok Godwit "$build/mpiexec"
says ok library "$build/libmpi_abi.so.1"
says "[a-z]*" cores "hardware threads"
says "[a-z]*" "direct copies" "process_vm_readv"
says ok program "/bin/true; it names no MPI library"
[ -s "$dir/err" ] && fail "words on stderr: $(cat "$dir/err")"
GODWIT_WAIT=spin
export GODWIT_WAIT
doctor
unset GODWIT_WAIT
says ok settings GODWIT_WAIT=spin
grep -q ' program: ' "$dir/out" && fail "a line for a program that was not given"

# programs
doctor "$build/mpi_world_size" -n 3 --its --own
says ok program "it loads $build/libmpi_abi.so.1 (Godwit)"
(export GODWIT_NOSUCH=1 GODWIT_CHECK=abc; doctor; says note settings "2 warnings" "GODWIT_CHECK=abc is not a word") || exit 1
(export GODWIT_SITE="$dir/no-site"; doctor; says note settings "1 warning" "$dir/no-site cannot be read") || exit 1
(export GODWIT_TUNE="$dir/no-table"; doctor; says note settings "$dir/no-table cannot be read" "unset GODWIT_TUNE") || exit 1
doctor gw-no-such-program
says problem program "gw-no-such-program is not in PATH" "./a.out"
doctor ./gw-no-such-program
says problem program "No such file"
doctor "$dir"
says problem program "is no file"
doctor /etc/passwd
says problem program "may not be executed" "chmod +x"
printf '#!/bin/sh\r\ntrue\r\n' >"$dir/windows"
printf '#! /gw/no/such -x\n' >"$dir/missing"
printf 'true\n' >"$dir/bare"
printf '#!/bin/sh\ntrue\n' >"$dir/good"
chmod +x "$dir"/[wmbg]*
doctor "$dir/windows"
says problem program "lines end as on Windows" "carriage returns"
doctor "$dir/missing"
says problem program "a script for /gw/no/such, which cannot be started: No such file"
doctor "$dir/bare"
says note program "a script without #!" "#!/bin/sh"
printf '\0\1' >"$dir/bytes"
chmod +x "$dir/bytes"
doctor "$dir/bytes"
says problem program "no program of this machine"
doctor "$dir/good"
says ok program "a script for /bin/sh"
cp "$build/mpi_world_size" "$dir/other"
printf '\377' | dd of="$dir/other" bs=1 seek=18 conv=notrunc 2>/dev/null # e_machine
doctor "$dir/other"
says problem program "another kind of processor"
cp "$build/mpi_world_size" "$dir/alone" # it looks for its library beside itself
doctor "$dir/alone"
says problem program "libmpi_abi.so.1 is not found" "LD_LIBRARY_PATH=$build,"
if command -v mpicc.openmpi >/dev/null && command -v mpicc.mpich >/dev/null; then
    printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n' >"$dir/p.c"
    mpicc.openmpi "$dir/p.c" -o "$dir/with_openmpi"
    mpicc.mpich "$dir/p.c" -o "$dir/with_mpich"
    doctor "$dir/with_openmpi"
    says note program "libmpi.so.40 (Open MPI)" "through the door"
    doctor "$dir/with_mpich"
    says note program "libmpich.so.12 (MPICH)" "by PMI-1"
fi

# limits of this process
(ulimit -n 40; doctor -n 50; says problem "open files" "at most 40; 50 ranks need about 182" "ulimit -Hn 182") || exit 1
(ulimit -f 0; timeout 60 "$build/mpiexec" doctor 2>&1 </dev/null) | cat >"$dir/out"
says problem "other limits" "size of files 0 bytes" "ulimit -f"

# After a failure mpiexec asks the doctor itself, and shows problems alone.
# after STATUS WORDS ARGUMENTS...: mpiexec's output is in $dir/out; WORDS "": no line of the doctor's
after() {
    want=$1 words=$2 rc=0
    shift 2
    timeout 60 "$build/mpiexec" "$@" >"$dir/out" 2>&1 </dev/null || rc=$?
    [ $rc = "$want" ] || fail "$* ended with status $rc, not $want: $(cat "$dir/out")"
    if grep '^note \|^ok ' "$dir/out"; then fail "$*: a line that is no problem"; fi
    if [ "$words" ]; then
        grep -q "^problem *$words" "$dir/out" || fail "$*: no problem '$words' in $(cat "$dir/out")"
    else
        if grep '^problem' "$dir/out"; then fail "$*: there is no problem"; fi
    fi
}
after 127 "program: $dir/windows, .*end as on Windows" -n 2 "$dir/windows"
after 127 "program: $dir/missing, .*No such file" -n 1 true : -n 1 "$dir/missing"
after 127 "program: $dir/alone; libmpi_abi.so.1 is not found" -n 2 "$dir/alone"
after 0 "" -x LD_LIBRARY_PATH="$build" -n 2 "$dir/alone"
after 127 "program: $dir/alone; libmpi_abi.so.1 is not found" -x LD_LIBRARY_PATH=/nowhere -n 2 "$dir/alone"
after 127 "" -n 2 gw-no-such-program
after 127 "" -n 2 sh -c 'exit 127'
after 1 "" -n 2 false
after 0 "" -n 2 "$dir/bare"
(ulimit -f 0; timeout 60 "$build/mpiexec" -n 2 true 2>&1 </dev/null || echo "status $?") | cat >"$dir/out"
grep -q "^problem *other limits: size of files 0 bytes" "$dir/out" && grep -q "^status 126" "$dir/out" || fail "no files: $(cat "$dir/out")"
# Too small for the ranks' memory, and large enough for what mpiexec makes of it: a page for its head and a slot (just under 2 KiB) a rank, and
# one behind them; with two ranks that is three pages, 24 blocks.
for small in "16 1" "24 2"; do
    (ulimit -f ${small% *}; timeout 60 "$build/mpiexec" -n ${small#* } "$build/mpi_world_size" 2>&1 </dev/null || echo "status $?") | cat >"$dir/out"
    grep -q "^problem *other limits: size of files" "$dir/out" && grep -q "^status 1$" "$dir/out" || fail "small files, $small: $(cat "$dir/out")"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null; then # a user who has no processes left; for root there is no limit
    chmod 755 "$dir"
    cp "$build/mpiexec" "$dir/mpiexec"
    rc=0
    setpriv --reuid=61234 --regid=61234 --clear-groups prlimit --nproc=4 timeout 60 "$dir/mpiexec" -n 12 sleep 7371 >"$dir/out" 2>&1 \
        </dev/null || rc=$?
    [ $rc = 126 ] || fail "no processes: status $rc: $(cat "$dir/out")"
    grep -q "^problem *processes: at most 4 of this user" "$dir/out" || fail "no processes: $(cat "$dir/out")"
fi

# its own options
doctor --help
grep -q "^usage: mpiexec doctor" "$dir/out" || fail "--help says $(cat "$dir/out")"
refused "did you mean --help?" --hlep
for n in 0 x ''; do refused "a number of ranks" -n "$n"; done
refused "a number of ranks" -n

# misspelt; and a program of this name is still to be had
doctor
grep -q "network: TCP" "$dir/out" || [ -e /sys/class/infiniband ] || [ -e /sys/class/cxi ] || fail "it does not say that messages between nodes go by TCP: $(cat "$dir/out")"
export GODWIT_WIRES=shm,ofi
doctor
grep -q "network: libfabric" "$dir/out" || fail "it does not say that messages between nodes go by libfabric: $(cat "$dir/out")"
unset GODWIT_WIRES
cp /bin/echo "$dir/doctor"
out=$(timeout 60 "$build/mpiexec" doctr 2>&1 </dev/null) && fail "doctr was taken"
case $out in "mpiexec: cannot start doctr: "*'did you mean the command `mpiexec doctor`?'*) ;; *) fail "doctr gives '$out'" ;; esac
[ "$(PATH=$dir:$PATH timeout 60 "$build/mpiexec" -n 1 doctor x </dev/null)" = x ] || fail "a program called doctor is not started"
exit 0
