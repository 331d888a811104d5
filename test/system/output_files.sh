#!/bin/sh
# What Godwit writes on its own account goes into no file that a link leads to: memory report, statistics of files, profile, cards' counters.
# A stranger can leave links in /tmp; each is reported in a sentence, and a job that runs does not fail.  Nor does it go into a stranger's file, pipe
# or folder: reports, output of ranks, records.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=${2:+$(cd "$2" && pwd)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
fail() { echo "output_files: $*"; cat "$out"; exit 1; }
echo "as it was" >"$dir/victim"
chmod 1777 "$dir"

# check FILE...: none was written through; then, without the links, each is a file
linked() { for f; do ln -s "$dir/victim" "$dir/$f"; done; }
unharmed() {
    [ "$(cat "$dir/victim")" = "as it was" ] || fail "$1 wrote where a link leads"
    grep -q "it is a link, which is not followed" "$out" || fail "$1: no word of the link in"
    [ -z "$(ls -A "$dir" | grep '^\.godwit' || :)" ] || fail "$1 leaves a file behind: $(ls -A "$dir")"
}
written() { for f; do [ -s "$dir/$f" ] && [ ! -L "$dir/$f" ] || fail "$f was not written"; done; }
twice() { # WHAT FILES COMMAND...: with links, without, and once more over the files
    what=$1 files=$2
    shift 2
    linked $files
    # what an option of mpiexec names is looked at before the start
    if [ "$what" = "the profile" ]; then
        ! "$@" >"$out" 2>&1 || fail "$what: the job ran"
    else
        "$@" >"$out" 2>&1 || fail "$what: the job failed"
    fi
    unharmed "$what"
    for f in $files; do rm "$dir/$f"; done
    for _ in 1 2; do
        "$@" >"$out" 2>&1 || fail "$what: the job failed"
        written $files
        ! grep -q link "$out" || fail "$what: there is no link"
    done
}

twice "the memory report" "memory.0 memory.1" env MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE="$dir/memory." timeout 60 \
    "$build/mpiexec" -n 2 "$build/mpi_memory_use" 1 0 0
twice "the statistics of files" "io.0.csv io.1.csv" env MPICH_MPIIO_STATS=2 MPICH_MPIIO_STATS_FILE="$dir/io" TMPDIR="$dir" timeout 60 \
    "$build/mpiexec" -n 2 "$build/mpi_io_basic"
if [ "$prefix" ] && [ -x "$prefix/bin/mpicc" ]; then
    printf '#include <mpi.h>\nint main(int n, char **a) { MPI_Init(&n, &a); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n' >"$dir/p.c"
    "$prefix/bin/mpicc" -o "$dir/p" "$dir/p.c"
    twice "the profile" page.html timeout 60 "$prefix/bin/mpiexec" --profile="$dir/page.html" -n 2 "$dir/p"
fi
nic=$("$build/godwit-info" --network 2>/dev/null | sed -n 's/.*index=0, domain_name=\([^,]*\),.*/\1/p') || true
if [ "$nic" ]; then
    mkdir -p "$dir/root/run/cxi/$nic"
    echo 5 >"$dir/root/run/cxi/$nic/spt_timeouts"
    twice "the cards' counters" "cards.$(hostname)" env GODWIT_NET_IFACE="$nic" GODWIT_WIRES=ofi MPICH_OFI_CXI_COUNTER_REPORT=5 \
        MPICH_OFI_CXI_COUNTER_REPORT_FILE="$dir/cards" GODWIT_NIC_COUNTER_ROOT="$dir/root" timeout 60 "$build/mpiexec" -n 2 "$build/mpi_hello"
fi

# What a stranger has laid into a folder that is everybody's is not written to, not waited for, and not followed.  We are the user 65534 there.
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || exit 0
me() { setpriv --reuid 65534 --regid 65534 --clear-groups timeout 60 "$@"; }
me test -x "$build/mpi_memory_use" || exit 0
chmod 755 "$dir"
all=$dir/all
mkdir "$all" && chmod 1777 "$all"
laid() { printf 'of another\n' >"$all/$1" && chmod 666 "$all/$1" && chown 65533 "$all/$1"; }
kept() { [ "$(cat "$all/$1")" = "of another" ] || fail "a stranger's $1 was written"; }

# refused FILE COMMAND...: in a sentence that names it, and at once
refused() {
    what=$1 rc=0
    shift
    me "$@" >"$out" 2>&1 || rc=$?
    [ "$rc" != 124 ] || fail "$what: it waits"
    grep -q "another user's" "$out" || fail "no word of the stranger's $what"
}
laid theirs.0
refused theirs.0 env MPICH_MEMORY_REPORT=2 MPICH_MEMORY_REPORT_FILE="$all/theirs." "$build/mpiexec" -n 1 "$build/mpi_memory_use" 1 0 0
for option in -outfile-pattern -errfile-pattern; do
    refused theirs.0 "$build/mpiexec" $option "$all/theirs.%r" -n 1 echo secret
    [ "$rc" = 126 ] || fail "$option: status $rc"
done
kept theirs.0
mkfifo -m 666 "$all/pipe" && chown 65533 "$all/pipe"
refused pipe "$build/mpiexec" -outfile-pattern "$all/pipe" -n 1 echo secret
refused pipe "$build/mpiexec" --report-pid "$all/pipe" -n 1 true
cat "$all/pipe" >"$dir/heard" &
cat=$!
refused "pipe that he reads" "$build/mpiexec" -outfile-pattern "$all/pipe" -n 1 echo secret
kill "$cat" 2>/dev/null || true
wait "$cat" 2>/dev/null || true
[ ! -s "$dir/heard" ] || fail "a stranger heard $(cat "$dir/heard")"
# In place of a folder: his own, and a link to one of ours.
mkdir -m 777 "$all/folder" "$dir/mine"
chown 65533 "$all/folder"
chown 65534 "$dir/mine"
ln -s "$dir/mine" "$all/way" && chown -h 65533 "$all/way"
for f in folder way; do
    refused "$f" "$build/mpiexec" -outfile-pattern "$all/$f/o.%r" -n 1 echo secret
    refused "$f" "$build/mpiexec" --output-filename "$all/$f/o" -n 2 echo secret
done
[ -z "$(ls -A "$all/folder" "$dir/mine" | grep -v :)" ] || fail "written into a stranger's folder"
# What is ours is written as ever: in folders that are made, a file, again, by a link of ours, a device, a pipe that is read.
me "$build/mpiexec" --output-filename "$all/ours/job" -n 2 echo text >"$out" 2>&1 && [ -s "$all/ours/job/1/rank.1/stdout" ] || fail "folders of our own"
for _ in 1 2; do
    me "$build/mpiexec" -outfile-pattern "$all/ours/o.%r" -n 2 echo text >"$out" 2>&1 || fail "our own file"
    [ "$(cat "$all/ours/o.1")" = text ] || fail "our own file holds $(cat "$all/ours/o.1")"
done
me ln -s ours "$all/ourway"
me "$build/mpiexec" -outfile-pattern "$all/ourway/p" -n 1 echo text >"$out" 2>&1 && [ "$(cat "$all/ours/p")" = text ] || fail "by a link of ours"
me "$build/mpiexec" -outfile-pattern /dev/null -errfile-pattern /dev/stderr -n 1 sh -c 'echo a; echo b >&2' >"$out" 2>&1 && [ "$(cat "$out")" = b ] ||
    fail "devices"
me mkfifo "$all/ourpipe"
cat "$all/ourpipe" >"$dir/heard" &
me "$build/mpiexec" -outfile-pattern "$all/ourpipe" -n 1 echo text >"$out" 2>&1 || fail "a pipe of ours"
wait $!
[ "$(cat "$dir/heard")" = text ] || fail "our pipe has $(cat "$dir/heard")"

# Emptied while it is written, it goes on from its begin.
me "$build/mpiexec" -outfile-pattern "$all/ours/o.0" -n 1 sh -c 'echo before
    until [ -s "$1" ]; do sleep 0.01; done; : >"$1"; echo after' - "$all/ours/o.0" >"$out" 2>&1 || fail "output that is emptied"
[ "$(tr '\0' 0 <"$all/ours/o.0")" = after ] || fail "output that was emptied has holes: $(od -c "$all/ours/o.0" | head -n 3)"
# godwit-tune says at once that it cannot write.
! me "$build/godwit-tune" -q -o "$all/pipe" --quick -n 2 >"$out" 2>&1 && grep -q "another user's" "$out" && [ "$(grep -c . "$out")" = 1 ] ||
    fail "godwit-tune measures for a stranger's pipe"

# Published names: what a stranger has put there is replaced, or named as the reason where it cannot be.
if [ "$prefix" ] && [ -x "$dir/p" ]; then
    cat >"$dir/name.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
    int n;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Open_port(MPI_INFO_NULL, port);
    int rc = MPI_Publish_name("svc", MPI_INFO_NULL, port);
    if (rc) MPI_Error_string(rc, text, &n), printf("error %s\n", text);
    fflush(stdout);
    if (!rc && argc > 1 && system("ls \"$GODWIT_NAMES_DIR\"") != 0) return 1;
    if (!rc) rc = MPI_Unpublish_name("svc", MPI_INFO_NULL, port);
    MPI_Close_port(port);
    MPI_Finalize();
    return rc != 0;
}
END
    "$prefix/bin/mpicc" -o "$dir/name" "$dir/name.c"
    names=$dir/names
    mkdir "$names" && chmod 1777 "$names"
    publish() { me env GODWIT_NAMES_DIR="$names" "$prefix/bin/mpiexec" -n 1 "$dir/name" "$@" >"$out" 2>&1; }
    publish ls || fail "a name in a folder"
    service=$(grep '^godwit-name-65534-[0-9a-f]*$' "$out") || fail "no name among the files"
    for mode in 1777 777; do
        chmod $mode "$names"
        for kind in "touch" "mkfifo" "ln -s $dir/victim"; do
            $kind "$names/$service" && chown -h 65533 "$names/$service"
            rc=0
            publish || rc=$?
            case $mode in
            777) [ $rc = 0 ] && [ -z "$(ls "$names")" ] || fail "a stranger's $kind blocks a name" ;;
            *) [ $rc != 0 ] && grep -q "another user has put $names/$service there" "$out" || fail "a stranger's $kind: no word of him" ;;
            esac
            rm -f "$names/$service"
        done
    done
    [ "$(cat "$dir/victim")" = "as it was" ] || fail "a name was written where a link leads"
fi

# pat_build and pat_report are scripts, and write by the same way.  A full disk is an error, and leaves nothing.
if [ "$prefix" ] && me test -x "$prefix/bin/pat_build" -a -x "$dir/p"; then
    printf 'Profile of x, 2 ranks, times\n' >"$dir/a.ap2"
    build_to() { me sh -c 'cd "$1" && shift && exec "$@"' - "$all" "$prefix/bin/pat_build" "$@" "$dir/p" >"$out" 2>&1; }
    report_to() { me "$prefix/bin/pat_report" -o "$all/$1" "$dir/a.ap2" >"$out" 2>&1; }
    me ln -s "$dir/mine/new" "$all/p+pat" && chown -h 65533 "$all/p+pat"
    ! build_to && grep -q "p+pat is there" "$out" || fail "pat_build goes through a stranger's link"
    ! build_to -f && grep -q "it is a link, which is not followed" "$out" || fail "pat_build -f goes through a stranger's link"
    ! report_to p+pat && grep -q "it is a link, which is not followed" "$out" || fail "pat_report goes through a stranger's link"
    [ -z "$(ls -A "$dir/mine")" ] || fail "written where a stranger's link leads"
    rm "$all/p+pat"
    laid p+pat
    ! build_to -f && grep -q "another user's" "$out" || fail "no word of the stranger's file for pat_build -f"
    ! report_to p+pat && grep -q "another user's" "$out" || fail "no word of the stranger's file for pat_report"
    kept p+pat
    rm "$all/p+pat"
    for what in "build_to -f -o pipe" "report_to pipe"; do
        rc=0
        $what || rc=$?
        [ "$rc" = 2 ] && grep -q "another user's" "$out" || fail "$what, of a stranger: status $rc"
    done
    ! (trap '' XFSZ && ulimit -f 0 && build_to) || fail "pat_build: a full disk is no error"
    ! (trap '' XFSZ && ulimit -f 0 && report_to report) || fail "pat_report: a full disk is no error"
    [ ! -e "$all/p+pat" ] && [ ! -e "$all/report" ] || fail "a file is left of a full disk: $(ls -l "$all")"
    build_to && report_to report || fail "pat_build, pat_report"
    [ "$(stat -c '%u %a' "$all/p+pat")" = "65534 755" ] || fail "its rights: $(stat -c '%u %a' "$all/p+pat")"
    cmp -s "$all/report" "$dir/a.ap2" || fail "the report is another"
    (cd "$dir" && GODWIT_PROFILE_REPORT="$dir/b.ap2" "$prefix/bin/mpiexec" -n 2 "$all/p+pat") >"$out" 2>&1 && [ -s "$dir/b.ap2" ] || fail "the instrumented program"
fi

# Records: of a stranger's file nothing is made; one that is there is replaced, so that nobody who holds it can shorten what is mapped.
if [ "$prefix" ] && [ -x "$dir/p" ] && me test -x "$prefix/bin/mpiexec" -a -x "$dir/p"; then
    me mkdir "$all/rec"
    laid rec/rank.0 && chown 65534 "$all/rec" && chmod 1777 "$all/rec"
    ! me "$prefix/bin/mpiexec" --record="$all/rec" -n 1 "$dir/p" >"$out" 2>&1 || fail "the job runs without its record"
    grep -q "cannot write $all/rec: .*another user's" "$out" || fail "no word of the stranger's record"
    kept rec/rank.0
    rm "$all/rec/rank.0"
    me sh -c 'umask 0; echo old >"$1"; chmod 666 "$1"' - "$all/rec/rank.0"
    exec 9<"$all/rec/rank.0"
    me "$prefix/bin/mpiexec" --record="$all/rec" -n 1 "$dir/p" >"$out" 2>&1 || fail "a record over an old file"
    [ "$(cat <&9)" = old ] || fail "an old file that others may write to became the record"
    [ "$(stat -c %a "$all/rec/rank.0")" = 644 ] || fail "others may write to a record: $(stat -c %a "$all/rec/rank.0")"
    exec 9<&-
fi
