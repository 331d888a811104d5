#!/bin/sh
# What is written about the programs: the manual pages are correct roff and have every option and setting, completions of bash offer
# what there is, all programs say the version of meson.build; --profile of a program without MPI, stacks when the time is up.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1 prefix=${2-}
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "docs: $*"; exit 1; }
python3 "$root/gen/launch_docs.py" "$dir/docs"
man=$dir/docs/man

# Every name of an option in --help and on the page, every setting with its aliases on the other page.
plain() { sed 's/\\-/-/g; s/\\f[RBI]//g; s/\\&//g' "$1"; }
plain "$man/man1/mpiexec.1" >"$dir/page"
"$build/mpiexec" --help >"$dir/help"
n=0
for o in $(sed -n 's/^ *\(X([A-Z_]*,\|TAKEN(\|NOTED(\|REFUSED(\|APRUN(\) *"\([^"]*\)".*/\2/p' "$root/src/launch/options.def"); do
    grep -q -e "\(^\|[ ,]\)$o\($\|[ ,[]\)" "$dir/help" || fail "--help has no $o"
    grep -q -e "\(^\|[ ,]\)$o\($\|[ ,[]\)" "$dir/page" || fail "the manual page has no $o"
    n=$((n + 1))
done
[ $n -gt 150 ] || fail "only $n options are found"
grep -q '@[A-Z]*@' "$man"/man*/* && fail "something was not put in: $(grep -l '@[A-Z]*@' "$man"/man*/*)"
plain "$man/man7/godwit-environment.7" >"$dir/page"
"$build/godwit-info" --list | cut -d' ' -f1 >"$dir/settings"
for s in $(cat "$dir/settings"); do grep -qx "\.B $s" "$dir/page" || fail "godwit-environment(7) has no $s"; done
for s in $("$build/godwit-info" --settings | sed -n 's/^ *also read from //p'); do grep -qw "$s" "$dir/page" || fail "godwit-environment(7) has no $s"; done
if command -v man >/dev/null; then
    for f in "$man"/man*/*; do
        (cd "$man" && LC_ALL=C.UTF-8 man --warnings -l "$f" 2>&1 >/dev/null) | grep -v "can't set the locale" >"$dir/warnings" || true
        [ ! -s "$dir/warnings" ] || fail "$f: $(head -3 "$dir/warnings")"
    done
fi

# Completions: what is offered at the end of a command line.
if command -v bash >/dev/null; then
    # offers WORD WANT...: after the words of LINE, WORD is completed to at least WANT (a word in front with ! is not offered)
    cat >"$dir/offer" <<'END'
. "$1/bash-completion/completions/mpiexec"
. "$1/bash-completion/completions/godwit-info"
. "$1/bash-completion/completions/grid_order"
. "$1/bash-completion/completions/rankplan"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
case $1 in godwit-info) _godwit_info ;; grid_order) _godwit_grid_order ;; rankplan) _godwit_rankplan ;; *) _godwit_mpiexec ;; esac
printf '%s\n' "${COMPREPLY[@]}"
END
    offers() {
        want=$1
        shift
        bash "$dir/offer" "$dir/docs" "$@" >"$dir/offered" 2>&1 || fail "completion of $* fails: $(cat "$dir/offered")"
        for w in $want; do
            case $w in
            !*) if grep -qxF -e "${w#!}" "$dir/offered"; then fail "completion of $* offers $w"; fi ;;
            *) grep -qxF -e "$w" "$dir/offered" || fail "completion of $* offers $(tr '\n' ' ' <"$dir/offered"), not $w" ;;
            esac
        done
    }
    mkdir "$dir/here"
    cd "$dir/here"
    mkdir folder
    touch file
    offers "--bind-to --bind-to-core !--map-by" mpiexec --bi
    offers "--timeout --timestamp-output" mpiexec -n 4 --tim
    offers "core numa none" mpiexec --bind-to ""
    offers "core !numa" mpiexec -n 2 --bind-to c
    offers "srun hydra none" mpirun --engine ""
    offers "folder !file" mpiexec -n 2 -wdir f
    offers "folder file !-n" mpiexec -hostfile f
    offers "" mpiexec -n ""
    offers "!-n" mpiexec -n ""
    offers "file !-file" mpiexec -n 2 ./a f
    offers "-ppn" mpiexec -n 2 ./a x : -p
    offers "HOME" mpiexec -env HO
    offers "-host -hosts" mpiexec -env A B -ho
    offers "GODWIT_EAGER_MAX --settings" godwit-info ""
    offers "-C -R -P -Z -H -g -c -o -m -N -n -q -s -T" grid_order -
    offers "-g -N -t -m" rankplan -
fi
if command -v zsh >/dev/null; then zsh -n "$dir/docs/zsh/site-functions/_mpiexec" || fail "the completion of zsh"; fi

# One version.
version=$(sed -n "s/^project(.* version: '\([^']*\)'.*/\1/p" "$root/meson.build")
[ "$version" ] || fail "meson.build has no version"
[ "$("$build/mpiexec" --version)" = "mpiexec (Godwit) $version" ] || fail "mpiexec --version"
[ "$("$build/godwit-info" --version)" = "Godwit $version" ] || fail "godwit-info --version"
[ "$("$build/grid_order" --version)" = "grid_order (Godwit) $version" ] || fail "grid_order --version"
[ "$("$build/cray_mpiio_summary" --version)" = "cray_mpiio_summary (Godwit) $version" ] || fail "cray_mpiio_summary --version"
grep -q "^\.TH MPIEXEC 1 \"\" \"Godwit $version\"" "$man/man1/mpiexec.1" || fail "the manual page's version"
GODWIT_VERSION_DISPLAY=1 timeout 30 "$build/mpiexec" -n 1 "$build/mpi_hello" 2>&1 </dev/null | grep -q "Godwit $version" || fail "MPI_Get_library_version"
if [ "$prefix" ] && [ -x "$prefix/bin/mpicc" ]; then
    [ "$("$prefix/bin/mpicc" --showme:version)" = "mpicc: MPI 5.0.0 (Godwit $version)" ] || fail "mpicc"
    for p in mpi:5.0.0 godwit:"$version"; do grep -qx "Version: ${p#*:}" "$prefix/lib/pkgconfig/${p%:*}.pc" || fail "${p%:*}.pc"; done
    for f in man/man1/mpiexec.1 man/man1/mpicc.1 man/man1/godwit-info.1 man/man1/grid_order.1 man/man1/rankplan.1 man/man1/cray_mpiio_summary.1 man/man1/godwit-choices.1 man/man1/godwit-tune.1 man/man7/godwit.7 man/man7/godwit-environment.7 \
        bash-completion/completions/mpirun zsh/site-functions/_mpiexec; do
        [ -s "$prefix/share/$f" ] || fail "$f is not installed"
    done
fi

# What can be asked.
GODWIT_EXPLAIN=help timeout 30 "$build/mpiexec" -n 3 "$build/mpi_hello" >"$dir/out" 2>"$dir/err" </dev/null
for c in wire proto coll boot topo; do [ "$(grep -c "^godwit:   $c  *[a-z]" "$dir/err")" = 1 ] || fail "GODWIT_EXPLAIN=help: $(cat "$dir/err")"; done
GODWIT_EXPLAIN=wire timeout 30 "$build/mpiexec" -n 2 "$build/mpi_hello" 2>&1 </dev/null | grep -q "is a list" && fail "GODWIT_EXPLAIN=wire helps"

# --profile of a program that has nothing to tell, and of one that has.
[ "$(timeout 30 "$build/mpiexec" --profile="$dir/p.html" -n 2 true 2>&1 </dev/null)" = \
    "mpiexec: --profile: true did not call MPI_Init of this library, so there is nothing to tell of it" ] || fail "--profile true"
timeout 60 "$build/mpiexec" --profile="$dir/p.html" -n 2 "$build/mpi_hello" >"$dir/told" 2>&1 </dev/null || fail "--profile of a program with MPI ends with $?"
grep "nothing to tell" "$dir/told" && fail "--profile of a program with MPI"
grep "% for 0 looks" "$dir/told" && fail "--profile: shares of a time in which nobody has looked"
grep -q "Cost of the profile: " "$dir/told" || fail "--profile says no cost"
mkdir "$dir/r" # of --replay; --record makes it where it is not there

for o in record:recorded replay:repeated; do
    [ "$(timeout 30 "$build/mpiexec" --${o%:*}="$dir/r" -n 2 true 2>&1 </dev/null)" = \
        "mpiexec: --${o%:*}: true did not call MPI_Init of this library, so nothing is ${o#*:}" ] || fail "--${o%:*} true"
done

# Stacks when the time is up.
if command -v gdb >/dev/null; then
    for time in 1 5 25; do # on a busy machine the ranks come to main() later
        rc=0
        timeout 100 "$build/mpiexec" --timeout $time --get-stack-traces -n 2 "$build/mpi_idle" 60 most 90 >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
        [ $rc = 124 ] || fail "--get-stack-traces: status $rc"
        grep -q "^\[0[-,]1\] main" "$dir/err" && break
    done
    grep -q "^job [0-9]*: 2 of 2 ranks" "$dir/err" && grep -q "^\[0[-,]1\] main" "$dir/err" || fail "--get-stack-traces: $(cat "$dir/err")"
fi
exit 0
