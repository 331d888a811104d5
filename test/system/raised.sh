#!/bin/sh
# A program with raised rights (set-user-ID, file capabilities) lets no variable of the user who starts it choose a library, a file to read
# or one to write: settings of the environment do not count, those of the site's files do, and it is said.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=${2:-}
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { echo "only root can act as two users"; exit 77; }
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "needs an installation"; exit 77; }
prefix=$(cd "$prefix" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
out=$dir/out
fail() { echo "raised: $*"; cat "$out"; exit 1; }
me() { setpriv --reuid 65534 --regid 65534 --clear-groups timeout 60 "$@"; }
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>
int main(int n, char **a)
{
    char port[MPI_MAX_PORT_NAME];
    int size;
    MPI_Init(&n, &a);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n > 1) MPI_Open_port(MPI_INFO_NULL, port);
    printf("raised %d, user %d, %d ranks\n", getauxval(AT_SECURE) != 0, (int)geteuid(), size);
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -Wl,-rpath,"$prefix/lib" -o "$dir/p" "$dir/p.c"
me "$dir/p" >"$out" 2>&1 && grep -q '^raised 0' "$out" || { echo "another user cannot start a program of $prefix"; exit 77; }
cp "$dir/p" "$dir/suid"
chmod 4755 "$dir/suid"
me "$dir/suid" >"$out" 2>&1 || fail "the program alone"
grep -q '^raised 1, user 0, 1 ranks' "$out" || { echo "no program gets another user's rights here"; exit 77; }
[ "$(wc -l <"$out")" = 1 ] || fail "words without a reason"

# Libraries that say that they were loaded.
printf 'extern int creat(const char *, unsigned);\n__attribute__((constructor)) static void loaded(void) { creat("%s/loaded", 0644); }\n' "$dir" >"$dir/evil.c"
mkdir -p "$dir/evil/lib"
cc -shared -fPIC -o "$dir/evil/lib/libpmix.so.2" "$dir/evil.c"
cp "$dir/evil/lib/libpmix.so.2" "$dir/evil/libevil-fi.so"
mkdir "$dir/mca"
cp "$dir/evil/lib/libpmix.so.2" "$dir/mca/mca_gds_evil.so"

# try WORD VARIABLE...: it goes on, as if they were not there, and says so
try() {
    word=$1
    shift
    me env "$@" "$dir/suid" port >"$out" 2>&1 || fail "$*: it fails"
    grep -q '^raised 1, user 0, 1 ranks' "$out" || fail "$*: it does not run"
    grep -q "warning: this program has raised rights.*: $word" "$out" || fail "$*: no word of it"
    [ ! -e "$dir/loaded" ] || fail "$*: a library was loaded"
}
printf 'GODWIT_EXPLAIN=help\nthis is secret\n' >"$dir/secret"
chmod 600 "$dir/secret"
try GODWIT_TUNE GODWIT_TUNE="$dir/secret"
! grep -q 'line [12]\|cannot be read' "$out" || fail "a file of root's was read"
me env GODWIT_SITE="$dir/secret" "$dir/suid" >"$out" 2>&1 || fail "GODWIT_SITE"
! grep -q "$dir/secret\|is a list with commas" "$out" || fail "GODWIT_SITE was read"
echo "as it was" >"$dir/kept.0"
try MPICH_MEMORY_REPORT MPICH_MEMORY_REPORT_FILE="$dir/kept." MPICH_MEMORY_REPORT=2
[ "$(cat "$dir/kept.0")" = "as it was" ] || fail "a file of root's was written"
try "[A-Z_]* and others" MPICH_RANK_REORDER_METHOD=3 GODWIT_RANK_ORDER_FILE="$dir/secret" GODWIT_NAMES_DIR="$dir" GODWIT_NIC_COUNTER_ROOT="$dir"
try FI_PROVIDER_PATH FI_PROVIDER_PATH="$dir/evil" GODWIT_WIRES=shm,ofi GODWIT_NET_OPEN=early
try GODWIT_PMI GODWIT_PMI=1 PMIX_INSTALL_PREFIX="$dir/evil" LD_LIBRARY_PATH="$dir/evil/lib"
# A site's files hold, before what the environment says.
there() { unshare -m sh -c 'mount -t tmpfs none /etc && printf "GODWIT_LANES=3\nGODWIT_ENV_DISPLAY=1\n" >/etc/godwit.conf && exec "$@"' - "$@"; }
if there true 2>/dev/null; then
    there setpriv --reuid 65534 --regid 65534 --clear-groups env GODWIT_LANES=2 GODWIT_WAIT=spin "$dir/suid" >"$out" 2>&1 || fail "a site's file"
    grep 'GODWIT_LANES' "$out" | grep -q '= 3 ' || fail "a site's file does not hold"
    grep -q 'raised rights.*: GODWIT_WAIT$' "$out" || fail "what is set beside a site's file"
fi
# A job by PMIx: libpmix would read what variables name.
rc=0
me env PMIX_NAMESPACE=a PMIX_RANK=0 PMIX_SERVER_URI41='a.0;tcp4://127.0.0.1:1' PMIX_MCA_mca_base_component_path="$dir/mca" PMIX_INSTALL_PREFIX="$dir/evil" \
    "$dir/suid" >"$out" 2>&1 || rc=$?
[ $rc != 0 ] && [ $rc != 124 ] && grep -q "this program has raised rights.*libpmix obeys variables" "$out" && [ ! -e "$dir/loaded" ] || fail "PMIx: status $rc"
# What mpiexec hands down belongs to the user who started it, who is another one.
rc=0
me "$prefix/bin/mpiexec" -n 2 "$dir/suid" >"$out" 2>&1 || rc=$?
[ $rc != 0 ] && [ $rc != 124 ] && grep -q "cannot be used" "$out" || fail "a set-user-ID program in another user's job: status $rc"
# Where nothing of the job is left in the environment it runs alone, as any program there would, and says so; one rank is alone in any case.
me "$prefix/bin/mpiexec" -n 3 env -i "$dir/suid" >"$out" 2>&1 || fail "a set-user-ID program with an empty environment in another user's job"
[ "$(grep -c '^raised 1, user 0, 1 ranks' "$out")" = 3 ] || fail "a set-user-ID program with an empty environment joins, or fails"
[ "$(grep -c 'warning: this process was started as one of 3 ranks of mpiexec, but runs as a job of its own, of one rank: it has the rights of user 0 (set-user-ID)' \
    "$out")" = 3 ] || fail "not all say that they run alone"
me "$prefix/bin/mpiexec" -n 2 sh -c "env -i $dir/suid; exit 0" >"$out" 2>&1 || fail "the same below a shell"
[ "$(grep -c 'one of 2 ranks of mpiexec, but runs as a job of its own' "$out")" = 2 ] || fail "below a shell not all say that they run alone"
for alone in "-n 1 env -i" "-n 2 env -i GODWIT_SINGLETON=1"; do
    me "$prefix/bin/mpiexec" $alone "$dir/suid" >"$out" 2>&1 || fail "$alone"
    grep -q 'user 0, 1 ranks' "$out" && ! grep -q 'a job of its own' "$out" || fail "$alone: words without a reason"
done
# A stranger's file that looks so is believed no more than its number of ranks.
head -c 65536 /dev/zero >"$dir/blank" && chmod 666 "$dir/blank" && chown 65534 "$dir/blank"
me env -i sh -c 'exec 5<>"$1" && exec "$2"' - "$dir/blank" "$dir/suid" >"$out" 2>&1 && [ "$(wc -l <"$out")" = 1 ] || fail "a blank file by a descriptor"

# Capabilities: the same user, so its jobs are these ranks', too.
if command -v setcap >/dev/null && cp "$dir/p" "$dir/cap" && setcap cap_sys_nice+ep "$dir/cap" 2>/dev/null; then
    me env GODWIT_TUNE="$dir/none" "$prefix/bin/mpiexec" -n 2 "$dir/cap" >"$out" 2>&1 || fail "a job of programs with capabilities"
    [ "$(grep -c '^raised 1, user 65534, 2 ranks' "$out")" = 2 ] || fail "a job of programs with capabilities"
    [ "$(grep -c 'raised rights.*: GODWIT_TUNE' "$out")" = 1 ] || fail "no word, or several"
    # No tool is loaded into it, and that is not blamed on who sets LD_PRELOAD.
    me "$prefix/bin/mpiexec" --profile=/dev/null -n 2 "$dir/cap" >"$out" 2>&1 || fail "a profile of a program with capabilities"
    grep -q 'libgodwit_profile.so.*is not loaded: the program has raised rights.*run a copy' "$out" && ! grep -q LD_PRELOAD "$out" ||
        fail "a profile of a program with capabilities: no word of it"
    me "$prefix/bin/mpiexec" -n 2 env -i "$dir/cap" >"$out" 2>&1 || fail "the same with an empty environment"
    [ "$(grep -c '^raised 1, user 65534, 2 ranks' "$out")" = 2 ] || fail "the same with an empty environment"
fi
