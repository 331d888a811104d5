#!/bin/sh
# The command line of mpiexec: counts, several programs, their environments and folders, --version, --help; what is wrong is
# refused with status 2 and a word on what was meant; a program that is not there gives 127.
# users.md row 8
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
export GW_LONG=7301.$$ # how long our processes sleep: nobody else's do
fail() { echo "options: $*"; exit 1; }
run() { timeout 60 env ${search:+"PATH=$search"} "$build/mpiexec" "$@"; }
# same WANT OPTIONS...: the sorted output in one line
same() {
    want=$1
    shift
    out=$(run "$@" </dev/null | sort | tr '\n' ' ') || fail "$* failed"
    [ "$out" = "$want " ] || fail "$* printed '$out', not '$want'"
}
# refused STATUS WORD OPTIONS...: it ends with STATUS and a line that holds WORD, and starts nothing
refused() {
    want=$1 word=$2
    shift 2
    rc=0
    out=$(run "$@" 2>&1 </dev/null) || rc=$?
    [ $rc = "$want" ] || fail "$* ended with status $rc, not $want"
    case $out in "mpiexec: "*"$word"*) ;; *) fail "$* says '$out', without '$word'" ;; esac
    [ "$(echo "$out" | wc -l)" = 1 ] || fail "$* says too much: $out"
}

for n in -n -np --np -c; do same "0/3 1/3 2/3" $n 3 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'; done
same "0/2 1/2" --np=2 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'
same "5 5 5 5 5" -n 5 "$build/mpi_world_size"
same "a -n 2 -l" -n 1 -- echo a -n 2 -l                            # what stands behind the program is its own
run -n 1 echo a b c | grep -qx 'a b c' || fail "arguments"

# several programs: one world, each its own -env, -x, -wdir
same "5 5 5 5 5" -n 2 "$build/mpi_world_size" : -n 3 "$build/mpi_world_size"
same "a0 a1 b2" -n 2 sh -c 'echo a$GODWIT_RANK' : -n 1 sh -c 'echo b$GODWIT_RANK'
same "[] [] [one]" -n 1 -env GW_OPT one sh -c 'echo "[${GW_OPT-}]"' : -n 2 sh -c 'echo "[${GW_OPT-}]"'
same "[all] [all] [one]" -genv GW_OPT all -n 1 -env GW_OPT one sh -c 'echo "[${GW_OPT-}]"' : -n 2 sh -c 'echo "[${GW_OPT-}]"'
same "[a=b c] [here]" -n 1 -x 'GW_OPT=a=b c' sh -c 'echo "[$GW_OPT]"' : -n 1 -env GW_OPT here -x PATH sh -c 'echo "[$GW_OPT]"'
same "/ /usr" -n 1 -wdir / pwd : -n 1 --wdir /usr pwd
(export GW_OPT=out; same "out over" -n 1 sh -c 'echo $GW_OPT' : -n 1 -env GW_OPT over sh -c 'echo $GW_OPT')

for m in core slot numa socket node ppr:2:socket numa:pe=2 core,numa; do run --map-by $m -n 2 true || fail "--map-by $m"; done
for b in core numa none socket hwthread; do run --bind-to $b -n 1 true || fail "--bind-to $b"; done

run -n 2 -initial-errhandler mpi_errors_return "$build/mpi_error_codes" initial : -n 1 --initial-errhandler=mpi_errors_return \
    "$build/mpi_error_codes" initial || fail "-initial-errhandler"
run -n 1 -initial-errhandler MPI_Errors_Return "$build/mpi_error_codes" initial || fail "-initial-errhandler in capitals"
same "system,mpi" -n 1 -memory-alloc-kinds system,mpi sh -c 'echo $GODWIT_MEMORY_ALLOC_KINDS'
run -n 1 -initial-errhandler mpi_errors_abort "$build/mpi_error_codes" initial 2>/dev/null && fail "-initial-errhandler mpi_errors_abort"

case $(run --version) in "mpiexec (Godwit) "[0-9]*) ;; *) fail "--version" ;; esac
for o in --help -h; do
    out=$(run $o) || fail "$o failed"
    for word in "usage: mpiexec" -n -env -genv -x -wdir --bind-to --map-by -l -stdin --timeout -v --version --help -initial-errhandler; do
        case $out in *"$word"*) ;; *) fail "$o does not name $word" ;; esac
    done
done
# the manual page has every option that --help has
page=$(sed 's/\\-/-/g; s/\\f[RBI]//g' "$(dirname "$0")/../../doc/mpiexec.1")
for o in $(run --help | grep -o '^  -[-a-z]*\|, -[-a-z]*\|^  *mpiexec [-a-z]*' | sed 's/^[ ,]*//; s/mpiexec //'); do
    echo "$page" | grep -q -e "[ ]$o\($\|[^-a-z]\)" || fail "the manual page has no $o"
done

# misspelt: what was meant
refused 2 "did you mean --bind-to?" --bindto core true
refused 2 "did you mean --timeout?" --timout 3 true
refused 2 "did you mean -wdir?" -wdi / true
refused 2 "did you mean core?" --bind-to cores true
refused 2 "did you mean mpi_errors_return?" -initial-errhandler mpi_error_return true
refused 2 "did you mean numa?" --map-by nume true
refused 2 "unknown option --qqqqqqqqqq" --qqqqqqqqqq true

# wrong values
for n in 0 -1 x 3x '' 99999999 1e3 99999999999999999999; do refused 2 "-n wants a number" -n "$n" true; done
refused 2 "at most" -n 65536 true : -n 65536 true
refused 2 "-stdin" -stdin some -n 2 true
refused 2 "there are only 2 ranks" -stdin 2 -n 2 true
for t in 0 -3 x '' 5x nan; do refused 2 "--timeout wants" --timeout "$t" true; done
run --timeout inf true || fail "--timeout inf"
refused 2 "auto, on or off" --pmix maybe true
refused 2 "there is no such environment variable" -x GW_NOT_SET_ANYWHERE true
refused 2 "wants 1 word" -n
refused 2 "wants 2 words" -env A
refused 2 "in one word it is -x A=1" -env A=1 true
refused 2 "no program" -n 2
refused 2 "no program"
refused 2 "no program" -n 2 true :
refused 2 "no program" -n 2 true : : -n 1 true
search=/gw-no-such-folder # no engine is there
refused 127 "gw-other.example is another machine, and no engine is here" -host localhost,gw-other.example true
refused 127 "install one on all hosts" --host=localhost:2,gw-other:2 true
refused 2 "No such file" --hostfile gw-no-such-file true
refused 2 "it is no file" --hostfile /dev/zero true
refused 2 '-host: "-oProxyCommand=sh" is no name of a host' -host localhost,-oProxyCommand=sh true
refused 2 '"" is no name of a host' -host "" true
refused 2 '"n1\x1b\xff" is no name of a host' -host "$(printf 'n1\033\377')" true
refused 2 '"a;b" is no name of a host' -host "a;b" true
search=
hosts=$(mktemp)
printf "# here\nlocalhost slots=4\n\n%s # too\n" "$(hostname)" >"$hosts"
same "0/2 1/2" --hostfile "$hosts" -host "localhost:4,127.0.0.1,$(hostname)" -ppn 2 -n 2 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'
echo gw-other >>"$hosts"
search=/gw-no-such-folder
refused 127 "gw-other is another machine" -f "$hosts" -n 2 true
search=
rm -f "$hosts"

# programs that cannot be started
refused 127 "cannot start gw-no-such-program" -n 2 gw-no-such-program
refused 127 "./gw-no-such-program" -n 1 ./gw-no-such-program
refused 127 "gw-no-such-program" -n 2 sleep $GW_LONG : -n 1 gw-no-such-program
refused 126 "is it executable" -n 2 /etc/passwd
refused 127 "folder /gw-no-such-folder" -n 1 -wdir /gw-no-such-folder true
for _ in $(seq 50); do
    ps -eo args | grep -q "^sleep $GW_LONG" || exit 0
    sleep 0.1
done
fail "the other ranks of a job that could not start are still there"
