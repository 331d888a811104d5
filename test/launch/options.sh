#!/bin/sh
# The command line of mpiexec: counts, several programs, their environments and folders, --version, --help; what is wrong is
# refused with status 2 and a word on what was meant; a program that is not there gives 127.
# users.md row 8
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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

for n in -n --n -np --np -c --ntasks; do same "0/3 1/3 2/3" $n 3 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'; done
for n in -n3 -np3 --ntasks=3 -n=3 -c3; do same "3 3 3" $n sh -c 'echo $GODWIT_SIZE'; done
same "0/2 1/2" --np=2 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'
same "5 5 5 5 5" -n 5 "$build/mpi_world_size"
same "a -n 2 -l" -n 1 -- echo a -n 2 -l                            # what stands behind the program is its own
run -n 1 echo a b c | grep -qx 'a b c' || fail "arguments"

# several programs: one world, each its own -env, -x, -wdir
same "5 5 5 5 5" -n 2 "$build/mpi_world_size" : -n 3 "$build/mpi_world_size"
same "a0 a1 b2" -n 2 sh -c 'echo a$GODWIT_RANK' : -n 1 sh -c 'echo b$GODWIT_RANK'
same "a0 b1 c2 c3" sh -c 'echo a$GODWIT_RANK' : sh -c 'echo b$GODWIT_RANK' : -n 2 sh -c 'echo c$GODWIT_RANK'
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
run -n 3 --coll-order apart "$build/mpi_coll_order" || fail "--coll-order apart"
said=$(run -n 3 --coll-order strict "$build/mpi_coll_order" 2>&1) && fail "--coll-order strict: other orders pass"
case $said in
*"(mpiexec --coll-order apart counts those with requests by themselves)"*) ;;
*) fail "a wrong order does not name --coll-order: $said" ;;
esac
refused 2 "coll-order" --coll-order loose true
same "system,mpi" -n 1 -memory-alloc-kinds system,mpi sh -c 'echo $GODWIT_MEMORY_ALLOC_KINDS'
run -n 1 -initial-errhandler mpi_errors_abort "$build/mpi_error_codes" initial 2>/dev/null && fail "-initial-errhandler mpi_errors_abort"

case $(run --version) in "mpiexec (Godwit) "[0-9]*) ;; *) fail "--version" ;; esac
for o in --help -h; do
    out=$(run $o) || fail "$o failed"
    for word in "usage: mpiexec" -n -env -genv -x -wdir --bind-to --map-by -l -stdin --timeout -v --version --help -initial-errhandler; do
        case $out in *"$word"*) ;; *) fail "$o does not name $word" ;; esac
    done
done
# what cannot be printed is told
for o in --help --version; do
    rc=0
    run $o 2>"$dir/err" >/dev/full || rc=$?
    [ $rc = 1 ] && grep -q "^mpiexec: cannot write standard output: No space left" "$dir/err" || fail "$o to a full disk: status $rc"
done

# misspelt: what was meant
refused 2 "did you mean --bind-to?" --bindto core true
refused 2 "did you mean --timeout?" --timout 3 true
refused 2 "did you mean -wdir?" -wdi / true
refused 2 "did you mean core?" --bind-to cores true
refused 2 "did you mean mpi_errors_return?" -initial-errhandler mpi_error_return true
refused 2 "did you mean numa?" --map-by nume true
refused 2 "unknown option --qqqqqqqqqq" --qqqqqqqqqq true
refused 2 "unknown option -z; " -z true # too short for a guess
refused 2 "unknown option -nq; " -nq 2 true
refused 2 "unknown option -l3; " -l3 true

# wrong values
for n in 0 -1 x 3x '' 99999999 1e3 99999999999999999999; do refused 2 "-n wants a number from 1 to 65536, not '$n'" -n "$n" true; done
for n in 0 -2; do refused 2 "-np wants a number from 1 to 65536, not '$n'" -np "$n" true; done
refused 2 "--ntasks wants a number from 1 to 65536, not '0'" --ntasks=0 true
refused 2 "did you mean srun?" --engine slurm true
refused 2 "did you mean srun?" --engine srn true
refused 2 "did you mean prterun?" --engine prte true
refused 2 "at most" -n 65536 true : -n 65536 true
for o in -stdin -s --input; do # what is wrong is told by the name that was typed
    refused 2 "$o is a rank, all or none, not 'some'" $o some -n 2 true
    refused 2 "$o 2: there are only 2 ranks" $o 2 -n 2 true
done
for o in -o --output -e --error; do refused 2 "$o 2: there are only 2 ranks" $o 2 -n 2 true; done
refused 2 "-rf /dev/zero: it is no file" -rf /dev/zero true
refused 2 "--cpu-list 4000: none of these CPUs may be used here" --cpu-list 4000 true
refused 2 "--gmca wants a name and a value" --gmca a=b c true
refused 2 "--map-by ...:NOOVERSUBSCRIBE: 5000 ranks are more than" --map-by :NOOVERSUBSCRIBE -n 5000 true
for o in -r --core-spec --specialized-cpus; do
    run $o 5000 -n 1 true 2>&1 | grep -q "mpiexec: $o 5000 reserves all of the " || fail "$o says another name"
done
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
refused 127 "or on all hosts PRRTE" --host=localhost:2,gw-other:2 true
refused 2 "No such file" --hostfile gw-no-such-file true
refused 2 "it is no file" --hostfile /dev/zero true
refused 2 '-host: "-oProxyCommand=sh" is no name of a host' -host localhost,-oProxyCommand=sh true
refused 2 '"" is no name of a host' -host "" true
refused 2 '"n1\x1b\xff" is no name of a host' -host "$(printf 'n1\033\377')" true
refused 2 '"a;b" is no name of a host' -host "a;b" true
refused 2 '-host: "-1" is no number of slots' -host localhost:-1 true
refused 2 '"999999999999" is no number of slots: they are from 1 to 65536' -host localhost:999999999999 true
refused 2 '"0" is no number of slots' -host localhost:0 true
refused 2 '"2x" is no number of slots' -host localhost:2x true
refused 2 '"" is no number of slots' -host localhost: true
search=
[ "$(run -n 2 -host "$(id -un)@localhost" echo x | wc -l)" = 2 ] || fail "-host with one's own name before it"
hosts=$dir/hosts
for line in 'slots = 3' 'slots =3' 'slots= 3' 'SLOTS=3 max_slots=9' 'max-slots = 9 slots = 3'; do
    printf 'localhost %s\n' "$line" >"$hosts"
    [ "$(run --hostfile "$hosts" echo x | wc -l)" = 3 ] || fail "a host file with $line"
done
for word in slot=4 slots:4 ppn=4 4 node2; do
    printf 'localhost %s\n' "$word" >"$hosts"
    refused 2 "\"${word%=*}\" is no word of a line of a host file" --hostfile "$hosts" true
done
for slots in -1 999999999999 99999999999999999999999 0 two 4.5; do
    printf 'localhost slots=%s\n' "$slots" >"$hosts"
    refused 2 "\"$slots\" is no number of slots" --hostfile "$hosts" true
done
printf "# here\nlocalhost slots=4\n\n%s # too\n" "$(hostname)" >"$hosts"
same "0/2 1/2" --hostfile "$hosts" -host "localhost:4,127.0.0.1,$(hostname)" -ppn 2 -n 2 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE'
echo gw-other >>"$hosts"
search=/gw-no-such-folder
refused 127 "gw-other is another machine" -f "$hosts" -n 2 true
search=

# hosts that take so many ranks
size='echo $GODWIT_SIZE'
here=$(hostname)
same "5 5 5 5 5" -host localhost:5 sh -c "$size"
same "5 5 5 5 5" -hosts "localhost:2,$here:3" sh -c "$size"
same "1" -host localhost sh -c "$size"
same "2 2" -host localhost,localhost sh -c "$size"
same "2 2" -n 2 -host localhost:5 sh -c "$size"
same "3 3 3" -ppn 3 sh -c "$size"
same "3 3 3" -N3 sh -c "$size"
same "1" --pernode sh -c "$size"
same "3 3 3" -host localhost:7 -ppn 3 sh -c "$size"
same "4 4 4 4" -ppn 2 --vnodes 2 sh -c "$size"
printf 'localhost slots=3\n' >"$hosts"
same "3 3 3" -hostfile "$hosts" sh -c "$size"
same "3 3 3" --default-hostfile "$hosts" sh -c "$size"
same "1" --default-hostfile "$hosts" -host localhost sh -c "$size"
same "1" --default-hostfile none -n 1 sh -c "$size"
printf 'localhost:2\n%s slots=2 max_slots=9\n' "$here" >"$hosts"
same "4 4 4 4" -machinefile "$hosts" sh -c "$size"
rm -f "$hosts"
# -soft takes the largest number that is allowed
same "4 4 4 4" -n 5 -soft 2:10:2 sh -c "$size"
same "1" -n 5 -soft 1,7 sh -c "$size"
refused 2 "no number of ranks in it is from 1 to 5" -n 5 -soft 6:9 true
refused 2 "-soft wants numbers" -n 5 -soft a:b true

# what of the environment goes along
export GW_A=1 GW_B=2
show='echo "${GW_A-no} ${GW_B-no} ${GW_C-no} ${GODWIT_RANK}"'
same "1 2 no 0" -envall -n 1 sh -c "$show"
same "no no no 0 no no no 1" -genvnone -n 2 /bin/sh -c "$show"
same "no 2 no 0" -genvlist GW_B,GW_C -n 1 /bin/sh -c "$show"
same "1 no 3 0" -n 1 -envlist GW_A -env GW_C 3 /bin/sh -c "$show"
same "1 no no 0 no no 3 1" -genvnone -n 1 -x GW_A /bin/sh -c "$show" : -n 1 -env GW_C 3 /bin/sh -c "$show"
same "1 2 no 1 no no no 0" -genvnone -n 1 /bin/sh -c "$show" : -n 1 -envall sh -c "$show"
same "1 2 3 0" --export=ALL,GW_C=3 -n 1 /bin/sh -c "$show"
same "no 2 3 0" --export=GW_B,GW_C=3 -n 1 /bin/sh -c "$show"
same "no no no 0" --export=NONE -n 1 /bin/sh -c "$show"
same "5 5 5 5 5" -genvnone -n 5 "$build/mpi_world_size" # what MPI needs is always there

# where programs are, and command lines in files
mkdir "$dir/bin" "$dir/a b"
printf '#!/bin/sh\necho mine $1 $GODWIT_RANK/$GODWIT_SIZE\n' >"$dir/bin/gw-mine"
chmod +x "$dir/bin/gw-mine"
same "mine x 0/1" -n 1 -path "/gw-none:$dir/bin" gw-mine x
same "mine x 0/1" -n 1 -wdir "$dir" -path bin gw-mine x
refused 127 "cannot start gw-mine" -n 1 -path /gw-none gw-mine
# as other launchers have it, also what lies in the folder where the ranks start, after what is in PATH
same "mine x 0/1" -n 1 -wdir "$dir/bin" gw-mine x
(cd "$dir/bin" && same "mine x 0/1" -n 1 gw-mine x && printf '#!/bin/sh\necho wrong\n' >true && chmod +x true && [ -z "$(run -n 1 true)" ])
rm -f "$dir/bin/true"
refused 127 "cannot start gw-mine" -n 1 -wdir "$dir" gw-mine
if [ "$(id -u)" = 0 ]; then # but for what somebody else may have put there
    cp "$dir/bin/gw-mine" "$dir/bin/gw-theirs"
    chown 65534 "$dir/bin/gw-theirs"
    mkdir -m 777 "$dir/theirs"
    cp "$dir/bin/gw-mine" "$dir/theirs/gw-mine"
    chown 65534 "$dir/theirs"
    for at in bin/gw-theirs theirs/gw-mine; do
        (cd "$dir/${at%/*}" && refused 127 "say ./ before its name" -n 1 ${at#*/} && same "mine x 0/1" -n 1 ./${at#*/} x)
    done
fi
(cd / && refused 127 "cannot start usr" -n 1 usr) # a folder
same "hello" -n 1 -arch "$(uname -m)" echo hello
refused 2 "this machine is $(uname -m)" -n 1 -arch gw-other echo hello
printf -- '-env GW_A "a b"\n' >"$dir/one"
same "a b 2 no 0" -n 1 -file "$dir/one" /bin/sh -c "$show"
# what MPI_INFO_ENV says of it: each program its own
printf -- '-soft 1:2,5\n' >"$dir/soft"
run -n 3 -soft 1:2,5 -env GW_MAXPROCS 3 -env GW_SOFT 1:2,5 "$build/mpi_info" : -env GW_MAXPROCS 1 "$build/mpi_info" \
    : -n 4 -file "$dir/soft" -env GW_MAXPROCS 4 -env GW_SOFT 1:2,5 -env GW_FILE "$dir/soft" "$build/mpi_info" ||
    fail "MPI_INFO_ENV"
printf -- '-n 1 echo hello\n' >"$dir/bad"
: >"$dir/empty"
refused 2 "it may hold options alone, not 'echo'" -file "$dir/bad" true
refused 2 "No such file" -file "$dir/none" true
cat >"$dir/job" <<END
# two programs
-n 1 -env GW_C 3 /bin/sh -c '$show'

-n 2 -wdir "$dir/a b" \\
    /bin/sh -c "pwd"
END
for o in "-configfile $dir/job" "--app $dir/job" "--configfile=$dir/job"; do
    same "$dir/a b $dir/a b 7 2 3 0" -genv GW_A 7 $o
done
same "--app x" -n 1 echo --app x # the program's own words
refused 2 "stand in the file" -n 2 -configfile "$dir/job"
refused 2 "-n beside --app $dir/job: options of a program stand in the file" -n 2 --app "$dir/job"
refused 2 "-wdir beside -configfile $dir/job: options of a program stand in the file" -v -wdir / -configfile="$dir/job"
refused 2 "stands at the end" -configfile "$dir/job" -n 2 true
refused 2 "-n and the programs stand in its lines" -configfile "$dir/job" -n 2
refused 2 "there is nothing in it" -configfile "$dir/empty"
printf -- '-n 1 true\n-n 1 echo "a b\n' >"$dir/quote"
for o in "-configfile $dir/quote" "--app $dir/quote"; do refused 2 "$dir/quote: line 2: the quote \" has no end in this line" $o; done
refused 2 "it is no file" -configfile /dev/zero
refused 2 "it is no file" --rankfile /dev/zero true
refused 2 "No such file" -configfile "$dir/none"

# parameters of Open MPI: settings here, the launcher's own, and one note for all others
mca='echo ${OMPI_MCA_btl_tcp_if_include-} ${OMPI_MCA_gw_nothing-}'
same "gw0" --mca btl_tcp_if_include gw0 -n 1 sh -c "$mca"
[ "$(OMPI_MCA_btl_tcp_if_include=gw1 run -n 1 --mca btl_tcp_if_include gw0 "$build/godwit-info" net_iface | sed -n 's/^GODWIT_NET_IFACE = //p')" = "gw0   from OMPI_MCA_btl_tcp_if_include" ] ||
    fail "--mca does not become a setting"
[ "$(run -n 1 -iface gw2 "$build/godwit-info" net_iface | sed -n 's/^GODWIT_NET_IFACE = //p')" = "gw2   from GODWIT_NET_IFACE" ] || fail "-iface"
run --mca gw_nothing 1 --gmca gw_less 2 --mca gw_nothing 3 -n 1 sh -c "$mca" >"$dir/out" 2>"$dir/err"
[ "$(cat "$dir/out")" = " 3" ] || [ "$(cat "$dir/out")" = 3 ] || fail "--mca of what is not known: $(cat "$dir/out")"
[ "$(cat "$dir/err")" = "mpiexec: of no effect here: gw_nothing, gw_less (parameters of Open MPI; \`godwit-info --settings\` lists what can be set)" ] ||
    fail "--mca says $(cat "$dir/err")"
[ -z "$(run -q --mca gw_nothing 1 -n 1 true 2>&1)" ] || fail "-q"
# Ranks of this library do not say again what the note has said; what they have a setting for they tell.
run --mca gw_nothing 1 --mca coll_tuned_x 2 -n 2 "$build/mpi_hello" >"$dir/out" 2>"$dir/err"
[ "$(grep -c gw_nothing "$dir/err")" = 1 ] && [ "$(grep -c 'coll_tuned_x.*GODWIT_COLL' "$dir/err")" = 1 ] && [ "$(wc -l <"$dir/err")" = 2 ] ||
    fail "--mca is told twice: $(cat "$dir/err")"
[ "$("$build/godwit-info" OMPI_MCA_coll_tuned_x)" = "OMPI_MCA_coll_tuned_x is of no effect: GODWIT_COLL chooses algorithms of collectives (godwit-choices)" ] ||
    fail "godwit-info of a name that begins so"
[ -z "$(run --mca btl_tcp_if_include lo -n 1 true 2>&1)" ] || fail "--mca of a setting says something"
[ "$(run --mca orte_tag_output 1 -n 1 echo x)" = "[0] x" ] || fail "--mca orte_tag_output"
[ -z "$(run --mca rmaps_base_oversubscribe 1 --mca hwloc_base_binding_policy none -n 1 true 2>&1)" ] || fail "--mca of the launcher"
refused 2 "wants a name and a value" --mca a=b c true

# the universe, the process, the exit codes
same "9" -usize 9 -n 1 sh -c 'echo $GODWIT_BOOT | sed "s/.*universe=//; s/,.*//"'
same "65536" -usize INFINITE -n 1 sh -c 'echo $GODWIT_BOOT | sed "s/.*universe=//; s/,.*//"'
same "5 5" -host localhost:5 -n 2 sh -c 'echo $GODWIT_BOOT | sed "s/.*universe=//; s/,.*//"'
for n in 1 2 3 64; do # by default a rank can always be added
    run -n $n sh -c 'echo $GODWIT_BOOT | sed "s/.*universe=//; s/,.*//"' | sort -u >"$dir/out"
    [ "$(cat "$dir/out")" -gt $n ] || fail "$n ranks are told that there is room for $(cat "$dir/out")"
done
refused 2 "-usize wants" -usize 0 true
run --report-pid "$dir/pid" -n 1 sh -c 'echo $PPID' >"$dir/out"
cmp "$dir/pid" "$dir/out" || fail "--report-pid FILE"
run --report-pid - -n 1 sh -c 'echo $PPID' >"$dir/out"
[ "$(sort -u "$dir/out" | wc -l)" = 1 ] && [ "$(wc -l <"$dir/out")" = 2 ] || fail "--report-pid -"
run --report-pid + -n 1 sh -c 'echo $PPID' >"$dir/out" 2>"$dir/err"
cmp "$dir/err" "$dir/out" || fail "--report-pid +"
refused 126 "--report-pid /gw-none/pid" --report-pid /gw-none/pid true
rc=0
run -print-all-exitcodes -n 3 sh -c '[ $GODWIT_RANK != 1 ] || kill -9 $$; exit 0' >"$dir/out" 2>"$dir/err" || rc=$?
[ $rc = 137 ] && grep -q "^mpiexec: exit codes: \[$here\] [0-9]*,137,[0-9]*$" "$dir/err" || fail "-print-all-exitcodes: $rc $(cat "$dir/err")"
run -print-all-exitcodes -n 3 true 2>&1 | grep -qx "mpiexec: exit codes: \[$here\] 0,0,0" || fail "-print-all-exitcodes of success"

# the others go on when one fails, if that is wanted
fails='if [ $GODWIT_RANK = 1 ]; then kill -9 $$; fi; until grep -q "$1" "$2"; do sleep 0.1; done; echo still $GODWIT_RANK'
rc=0
run -disable-auto-cleanup -n 3 sh -c "$fails" sh "the other ranks go on" "$dir/err" >"$dir/out" 2>"$dir/err" || rc=$?
[ $rc = 137 ] && [ "$(sort "$dir/out" | tr '\n' ,)" = "still 0,still 2," ] && grep -q "the other ranks go on" "$dir/err" ||
    fail "-disable-auto-cleanup: $rc $(cat "$dir/out" "$dir/err")"
rc=0
run -n 3 sh -c "$fails" sh "the other ranks go on" "$dir/err" >"$dir/out" 2>"$dir/err" || rc=$?
[ $rc = 137 ] && [ ! -s "$dir/out" ] || fail "without -disable-auto-cleanup the others go on"

# what other launchers have, and this one does or does not
for o in --allow-run-as-root "--prefix /x" "--launcher ssh" -demux=poll --kill-on-bad-exit=1 --kill-on-bad-exit "--mpi=pmix" -u "-J name" --oversubscribe --overcommit; do
    same "ok" $o -n 1 echo ok
done
refused 2 "--xterm: no windows for output" --xterm 0 true
refused 2 "-t: the limit is in seconds here: --timeout SECONDS" -t 5 true
refused 2 "give it to salloc or sbatch" --partition=x true
refused 2 "--nooversubscribe: 5000 ranks are more than" --nooversubscribe -n 5000 true
search=/gw-no-such-folder
refused 2 "-membind is for ranks that mpiexec starts itself, on this machine (gw-other is another machine)" -membind bind -host gw-other -n 1 true
refused 2 "--bind-to is for ranks that mpiexec starts itself" --bind-to core:2 -host gw-other -n 1 true
search=

# Words of aprun, PALS and srun.
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
where='sed -n "s/^Cpus_allowed_list:[[:space:]]*/$GODWIT_RANK=/p" /proc/self/status'
if [ "$(nproc)" -ge 2 ] && case $cpus in 0-*) : ;; *) false ;; esac then
    [ "$(run -n 3 -cc 0-1 --oversubscribe sh -c "$where" 2>/dev/null | sort | tr '\n' ' ')" = "0=0 1=1 2=0 " ] || fail "-cc 0-1 deals otherwise"
    for o in "-cc 0:1" "-cc 0,1" "--cpu-bind list:0:1" "--cpu-bind verbose,list:0:1"; do
        [ "$(run -n 2 $o sh -c "$where" 2>/dev/null | sort | tr '\n' ' ')" = "0=0 1=1 " ] || fail "$o binds otherwise"
    done
    for o in "-cc 0,1:0-1" "-cc none" "--cpu-bind none" "--cpu-bind numa" "-cc numa_node"; do
        [ "$(run -n 2 $o sh -c "$where" | sort | cut -d= -f2 | sort -u | wc -l)" = 1 ] || fail "$o binds ranks apart"
    done
    for o in "-d 1 -cc depth" "--depth 1 --cpu-bind depth" "-d1" "-cc cpu" "-S 2 -cc cpu -d 1"; do
        [ "$(run -n 2 $o sh -c "$where" | cut -d= -f2 | sort -u | wc -l)" = 2 ] || fail "$o does not bind ranks to cores of their own"
    done
    [ "$(run -n 1 --depth 2 --cpu-bind depth sh -c "$where")" = "$(run -n 1 --map-by core:PE=2 sh -c "$where")" ] || fail "--depth 2"
fi
for o in --no-abort-on-failure --abort-on-failure "--rlimits CORE,CPU" --pmi=pmix "--fanout 4" --no-transfer "-F exclusive" "-F share" "-m 500h" "-j 1" "--threads-per-core 1" "--network single_node_vni" "--line-buffer" "--core-spec 0" "--mem-bind none" \
    "-m block:cyclic" "--distribution=cyclic" "-m cyclic:block"; do
    same hello -n 1 $o echo hello
done
# what the kernel refuses (containers) it refuses with the other words, too
[ "$(run -n 1 -ss echo x 2>&1)" = "$(run -n 1 -membind bind echo x 2>&1)" ] && [ "$(run -n 1 --mem-bind local echo x 2>&1)" = "$(run -n 1 -membind bind echo x 2>&1)" ] || fail "-ss, --mem-bind local"
# -c beside -n is Slurm's; -e NAME=VALUE is aprun's; -L, and called as aprun -D
[ "$(nproc)" -lt 2 ] || [ "$(run -n 1 -c 2 sh -c "$where")" = "$(run -n 1 --cpus-per-task 2 sh -c "$where")" ] || fail "-n 1 -c 2 gives no two cores"
same "2 2" -c 1 -n 2 --oversubscribe sh -c 'echo $GODWIT_SIZE'
same "2 2" -n 2 -c 1 --oversubscribe sh -c 'echo $GODWIT_SIZE'
(cd "$dir" && same "5" -n 1 -e GW_OPT=5 sh -c 'echo $GW_OPT' && [ ! -e GW_OPT=5 ]) || fail "-e NAME=VALUE writes a file, or sets nothing"
same "1" -L localhost sh -c 'echo $GODWIT_SIZE'
ln -s "$(cd "$build" && pwd)/mpiexec" "$dir/aprun"
aprun() { timeout 60 "$dir/aprun" "$@" </dev/null 2>"$dir/err"; }
[ "$(aprun -D 1 -n 1 -e GW_OPT=a=b sh -c 'echo "$GW_OPT"')" = a=b ] || fail "aprun -D 1 -e"
! aprun -n 1 -e GW_OPT true && grep -q "^mpiexec: -e of aprun sets a variable, and wants NAME=VALUE, not 'GW_OPT'" "$dir/err" || fail "aprun -e without a value: $(cat "$dir/err")"
# letters that are other options else: what is so in any case is named by -v, what there is not by a note
for o in "-b" "-T" "-D 1" "--debug 1" "-a xt" "-q" "-sn 1" "-sl 0" "--bypass-app-transfer" "--sync-output" "--access-mode share" "--pes-per-numa-node 2"; do
    [ "$(aprun $o -n 1 echo hello)" = hello ] && [ ! -s "$dir/err" ] || fail "aprun $o: $(cat "$dir/err")"
done
aprun -v -b -T -n 1 true || fail "aprun -v -b -T"
grep -q '^mpiexec: of no effect here: -b (programs are not copied.*), -T (output is printed line by line' "$dir/err" || fail "aprun -v -b: $(cat "$dir/err")"
for o in "-C" "-R 1" "-p dom" "--reconnect" "--protection-domain dom"; do
    [ "$(aprun $o -n 1 echo hello)" = hello ] && grep -q "^mpiexec: of no effect here: ${o%% *} (" "$dir/err" || fail "aprun $o: $(cat "$dir/err")"
    [ "$(aprun -q $o -n 1 echo hello)" = hello ] && [ ! -s "$dir/err" ] || fail "aprun -q $o: $(cat "$dir/err")"
done
[ "$(aprun -t 1000 -n 2 sh -c 'ulimit -t')" = "1000
1000" ] || fail "aprun -t: $(cat "$dir/err")"
[ "$(ulimit -t 500 && aprun -t 1000 -n 1 sh -c 'ulimit -t')" = 500 ] || fail "aprun -t above the limit that there is"
same 1000 --cpu-time-limit 1000 -n 1 sh -c 'ulimit -t'
printf 'localhost:2\n' >"$dir/nodes"
[ "$(aprun -l "$dir/nodes" sh -c 'echo $GODWIT_SIZE' | tr '\n' ' ')" = "2 2 " ] || fail "aprun -l FILE"
search=/gw-no-such-folder
for o in "-L 3-4" "--node-list 3,4" "-L 3,4,9-10"; do
    refused 127 "nid00003 is another machine" $o -n 2 true
done
refused 127 "gw-n07 is another machine" -w "gw-n[07,09-10]" true
search=
for list in "n[1-2" "n1]" "n[2-1]" "n[]" "n[1,]" "n[1-2]:4" "n[1-2]x"; do refused 2 "brackets hold numbers and ranges" -w "$list" true; done
refused 2 "-t: the limit is in seconds here" -t 5 true
refused 2 "unknown option -b; of aprun, a link to mpiexec, it is --bypass-app-transfer" -b true
refused 2 "-sl 77: NUMA node 77 has no core that may be used here; there are: " -sl 77 true
refused 2 "-sn 77: the cores that may be used here are of " -sn 77 true
refused 2 "-sl wants a list of NUMA nodes" -sl x true
refused 2 "-cp: -cc names the CPUs rank by rank" -cp "$dir/nodes" true
# srun's words are srun's and mpiexec's: aprun names its own, and writes no file
for o in "-o f" "--output f" "--output=f" "--error f" "--error=f" "-i f" "-c 2" "--ntasks 2" "--nodes 1" "-w localhost" "--distribution cyclic" "-K" "-O" "--chdir /"; do
    name=${o%%[ =]*}
    ! (cd "$dir" && aprun $o -n 1 true) && grep -q "^mpiexec: $name is Slurm's (srun), and no option of aprun: ." "$dir/err" && [ ! -e "$dir/f" ] ||
        fail "aprun $o: $(cat "$dir/err")"
done
(cd "$dir" && run -o f -n 1 echo hi && [ "$(cat f)" = hi ]) || fail "mpiexec -o FILE"
# values of what changes nothing are looked at all the same
for o in "-F nonsense:-F is exclusive or share, not 'nonsense'" "-j -3:-j wants a number from 0 to" "--threads-per-core x:--threads-per-core wants a number" \
    "--kill-on-bad-exit=2:--kill-on-bad-exit is 0 or 1, not '2'" "--debug-level x:--debug-level wants a number" "-I=x:-I wants a number"; do
    refused 2 "${o#*:}" ${o%%:*} -n 1 true
done
# cores for each rank give way to what else is bound to, in either order; that nobody is bound is noted
for o in "-cc none -d 2" "-d 2 -cc none" "--bind-to none --map-by core:PE=2"; do
    aprun $o -n 1 true && grep -q "^mpiexec: of no effect here: .*(ranks are not bound, so each may run on all cores)$" "$dir/err" || fail "aprun $o: $(cat "$dir/err")"
done
! aprun -cc none -n 1 true || [ ! -s "$dir/err" ] || fail "aprun -cc none: $(cat "$dir/err")"
if [ "$(nproc)" -ge 2 ]; then
    for o in "-cc none -d 1" "-d 1 -cc none" "-c 1 --cpu-bind none"; do
        [ "$(run -n 1 $o sh -c "$where" 2>/dev/null)" = "$(run -n 1 --bind-to none sh -c "$where")" ] || fail "$o binds"
    done
    [ "$(run -n 1 -d 2 -cc cpu sh -c "$where")" = "$(run -n 1 -cc cpu -d 2 sh -c "$where")" ] || fail "-d 2 -cc cpu by another order"
fi
# ranks in turns over nodes, also faked ones
nodes() { run -n 5 "$@" -x MPICH_RANK_REORDER_DISPLAY=1 "$build/mpi_hello" 2>&1 | sed -n 's/.*rank [0-9]* is on node \([0-9]\).*/\1/p' | tr '\n' ' '; }
for o in "--distribution cyclic" "-m cyclic:cyclic" "--map-by node" --bynode "--rank-by node" "--map-by node:OVERSUBSCRIBE"; do
    [ "$(nodes --vnodes 2 $o)" = "0 1 0 1 0 " ] || fail "$o --vnodes 2: $(nodes --vnodes 2 $o)"
done
[ "$(nodes --vnodes 1,3,1 --map-by node)" = "0 1 2 1 1 " ] || fail "--map-by node on uneven nodes: $(nodes --vnodes 1,3,1 --map-by node)"
for o in "" "--map-by slot" "--bynode --byslot" "--distribution block" "--bynode --reorder=smp" "--bynode -genv MPICH_RANK_REORDER_METHOD 1"; do
    [ "$(nodes --vnodes 2 $o)" = "0 0 0 1 1 " ] || fail "$o --vnodes 2: $(nodes --vnodes 2 $o)"
done
same "4 4 4 4" --map-by ppr:2:node --vnodes 2 --oversubscribe sh -c 'echo $GODWIT_SIZE'
refused 2 "5 ranks are more than 2 on each unit" --map-by ppr:2:node --vnodes 2 -n 5 true
for word in max_slots=-5 max-slots=x "maxslots = 0"; do
    printf 'localhost slots=2 %s\n' "$word" >"$dir/nodes"
    refused 2 "is no number of slots: they are from 1 to 65536" --hostfile "$dir/nodes" true
done
rm "$dir/aprun"
# Words of PRRTE, in any case and as far as they are typed; and of srun
for m in :OVERSUBSCRIBE :oversubscribe:PE=1 ppr:2:node :SPAN seq "seq -host localhost:2" slot:pe=1; do same "hello hello" -n 2 --oversubscribe --map-by $m echo hello; done
if [ "$(nproc)" -ge 2 ] && case $cpus in 0-*) : ;; *) false ;; esac then
    for o in "--map-by pe-list=0,1:ordered" "--map-by PE-LIST=0-1:ORDERED" "--cpu-bind mask_cpu:1,2" "--cpu-bind=mask_cpu:0x1,0x2" "--cpu-bind map_cpu:0x0,1" \
        "--map-by :PE=1 --bind-to core"; do
        [ "$(run -n 2 $o sh -c "$where" 2>/dev/null | sort | tr '\n' ' ')" = "0=0 1=1 " ] || fail "$o binds otherwise"
    done
    for o in "--map-by pe-list=1 --oversubscribe" "--cpu-bind mask_cpu:2*2" "--cpu-bind map_cpu:1*2" "--cpu-bind quiet,map_cpu:1"; do
        [ "$(run -n 2 $o sh -c "$where" 2>/dev/null | sort | tr '\n' ' ')" = "0=1 1=1 " ] || fail "$o binds otherwise"
    done
    [ "$(run -n 1 --map-by :PE=2 sh -c "$where")" = "0=0-1" ] && [ "$(run -n 1 --cpu-bind mask_cpu:3 sh -c "$where")" = "0=0-1" ] || fail "two cores for a rank"
    printf 'rank 0=localhost slot=1\n' >"$dir/ranks"
    [ "$(run -n 1 --map-by rankfile:FILE="$dir/ranks" sh -c "$where")" = "0=1" ] || fail "--map-by rankfile:FILE="
fi
for m in OVERSUBSCRIBE PE=2 nooversubscribe; do refused 2 "did you mean --map-by :$m?" --map-by $m true; done
refused 2 "--map-by is core, numa, hwthread, socket, l2cache, l3cache, machine, ppr:N:UNIT, pe-list=CPUS, rankfile, seq or slot, not 'x'" --map-by x true
same "hello hello" -n 2 --bind-to :overload-allowed echo hello
refused 2 "--map-by rankfile /dev/zero: it is no file" --map-by rankfile:file=/dev/zero true
refused 2 "rankfile:FILE=NAME, or --rankfile NAME" --map-by rankfile true
refused 2 "--map-by ...:NOLOCAL: name the other hosts" --map-by :NOLOCAL true
refused 2 "--map-by pe-list= wants a list of CPUs" --map-by pe-list=x true
refused 2 "--cpu-bind mask_cpu:0xg: wants masks of CPUs rank by rank" --cpu-bind mask_cpu:0xg true
refused 2 "--cpu-bind mask_cpu:0: wants masks" --cpu-bind mask_cpu:0 true
refused 2 "--cpu-bind mask_cpu:800000000000: CPU 47 is not among" --cpu-bind mask_cpu:800000000000 true
refused 2 "--cpu-bind map_cpu:1,x: wants CPUs rank by rank" --cpu-bind map_cpu:1,x true
refused 2 "-cc 900: CPU 900 is not among" -cc 900 true
printf 'localhost slots=2\n' >"$dir/nodes"
same "2 2" --add-hostfile "$dir/nodes" sh -c 'echo $GODWIT_SIZE'
same "2 2" --map-by seq:FILE="$dir/nodes" sh -c 'echo $GODWIT_SIZE'
same "3 3 3" --add-host localhost:3 sh -c 'echo $GODWIT_SIZE'
for o in "--display map" "--display MAP-DEVEL" "--display al" "--display map:PARSEABLE" "--display map,bind"; do
    [ "$(run $o -n 2 --oversubscribe true 2>"$dir/err" | grep -c '^  rank [01] of program 0 (true): ')" = 2 ] || fail "$o shows no map"
done
[ "$(grep -c '^mpiexec: rank [01] runs on' "$dir/err")" = 2 ] || fail "--display bind: $(cat "$dir/err")"
refused 2 "mpiexec does not show the parts of a machine" --display topo=n1 true
refused 2 "--display is a list of map, map-devel, allocation and bindings, not 'nonsense'" --display map,nonsense true
refused 2 "behind the colon may stand PARSEABLE, not 'xml'" --display map:xml true
[ -z "$(run --runtime-options DoNotLaunch -n 1 echo hello)" ] && [ -z "$(run --rtos donotl=1,show-progress -n 1 echo hello)" ] || fail "--runtime-options donotlaunch"
for o in error-nonzero-status recoverable=0 timeout=60 timeout=00:01:00 report-state,get-stack-traces fwd-environment default-exec aggregate=yes; do
    same hello --runtime-options $o -n 1 echo hello
done
rc=0
run --runtime-options timeout=0:00:01 -n 1 sleep $GW_LONG >/dev/null 2>&1 || rc=$?
[ $rc = 124 ] || fail "--runtime-options timeout: status $rc"
refused 2 "--runtime-options timeout wants seconds above 0, not ''" --runtime-options timeout true
refused 2 "--rtos timeout wants seconds, or D:H:M:S, not '1:x'" --rtos timeout=1:x true
refused 2 "--runtime-options max-restarts: ranks that failed are not started again" --runtime-options max-restarts=2 true
refused 2 "--gdb starts ranks under gdb" --runtime-options stop-in-init true
refused 2 "-genvnone hands on nothing" --runtime-options fwd-environment=false true
refused 2 "recoverable=maybe: that is neither true nor false" --runtime-options recoverable=maybe true
refused 2 "not 'nonsense'" --runtime-options donotlaunch,nonsense true
refused 2 "not 'do'" --runtime-options do true # several begin so
same 5 --pmixmca gw_nothing 5 -n 1 sh -c 'echo $PMIX_MCA_gw_nothing'
for o in --nodes=1 "--nodes 1" "--nodes 1-1" "--nodes=1-4" -Q -vv --immediate --immediate=5 "--mem-bind=quiet" "--mem-bind quiet,none" "--stream-buffering 0"; do
    same hello $o -n 1 echo hello
done
[ "$(run --nodes 2 --vnodes 2 -n 2 --oversubscribe echo hello | wc -l)" = 2 ] || fail "--nodes 2 --vnodes 2"
refused 2 "--nodes 2-3: there is one host" --nodes 2-3 -n 2 true
refused 2 "--nodes 3: there are only 2 hosts" --nodes 3 -host localhost,gw-other -n 2 true
same "1" --nodes 1 -host localhost,gw-other sh -c 'echo $GODWIT_SIZE' # the first of them
for n in 0 x 2-1 1- -1 '' 99999999; do refused 2 "--nodes wants a number of hosts or a range" --nodes "$n" true; done
run -vv -n 1 true 2>&1 | grep -q "rank 0 runs on" || fail "-vv says nothing"
run -v --immediate=5 -n 1 true 2>&1 | grep -q "^mpiexec: of no effect here: --immediate (ranks start at once" || fail "-v does not name --immediate"
refused 2 "-B: that asks ALPS for the numbers of a batch reservation" -B -n 1 true
for o in "--wait=5" "--wait 5" "-W 5" "--msg-timeout 5" "--slurmd-debug 1" "--propagate=ALL" "-E" "--resv-ports" "--ntasks-per-core=1" "--comment x"; do
    same hello -n 1 $o echo hello
done
for o in --pty "--bcast x" --no-kill "--exclude n1" "--cpu-freq high" "--task-prolog x" "--het-group 0" --test-only "--gpus-per-node 1" "--licenses x"; do
    refused 2 "${o%% *}: " $o -n 1 true
done
# more ranks than so many a host: a note with the option that was typed; a mapping that has no room is refused by its name
for o in "-ppn 1" "--ntasks-per-node 1" "-N 1"; do
    [ "$(run -n 2 $o --oversubscribe true 2>&1 | grep -c "^mpiexec: note: $o: the job has 2 ranks and one host")" = 1 ] || fail "$o: no note"
    [ ! "$(run -q -n 2 $o true 2>&1)" ] && [ ! "$(run -n 2 $o --vnodes 2 --oversubscribe true 2>&1)" ] || fail "$o: a note without reason"
done
for o in "--map-by ppr:1:node" "--ppr 1:node"; do refused 2 "$o: 2 ranks are more than 1 on each unit, of which this machine has 1" -n 2 $o true; done
# an interface that is not there is told with those that are; nothing goes by it on one host
refused 2 "this host has no interface gw-none; there are: " -iface gw-none --vnodes 2 -n 2 true
run -iface gw-none -n 1 true 2>&1 | grep -q "warning: GODWIT_NET_IFACE=gw-none: this host has no interface gw-none; there are: " || fail "-iface gw-none on one host"
[ ! "$(run -q -iface gw-none -n 1 true 2>&1)" ] && [ ! "$(run -iface lo,10.0.0.0/8,^gw-none --vnodes 2 -n 2 --oversubscribe true 2>&1)" ] || fail "-iface lo"
# what could not be done is said by the words that were typed
refused 2 "--map-by is core, numa, hwthread, " -n 1 --map-by none true
run -n 1 --map-by none true 2>&1 | grep -q "none?\|, none," && fail "--map-by none: none is offered"
refused 127 "was --profile=FILE meant, in one word?" --profile page.html -n 1 true
refused 2 "--profile: there is no folder /gw-none/here (No such file" --profile=/gw-none/here/p.html -n 1 true
refused 2 "--profile: /dev/null is no folder" --profile=sample,/dev/null/p.html -n 1 true
# what can only be found out by trying: nothing is started, and nothing is left
mkdir -p "$dir/folders/p"
refused 2 "--profile: cannot write /proc/x.html: No such file" --profile=/proc/x.html -n 1 true
refused 2 "--profile: cannot write /etc: Is a directory" --profile=sample,/etc -n 1 true
refused 2 "--profile: cannot write p: Is a directory" -wdir "$dir/folders" --profile=p -n 1 true
for o in /proc/x /proc/self/x/y /etc/passwd "$dir/one/x"; do refused 2 "--record: cannot write $o: " --record=$o -n 1 true; done
for o in "--report-pid /proc/x" "--output-filename /proc/x" "-outfile-pattern /proc/x%r" "-o /proc/x" "-e /proc/x" "--output dir=/proc/x" "--output file=/proc/x"; do
    refused 126 "/proc/x" $o -n 1 echo started
done
refused 126 "cannot write /etc: Is a directory" -errfile-pattern /etc -n 1 echo started
# a page needs a file; the one that is named by itself is none of the job's success, but told before the start
mkfifo "$dir/fifo"
for o in /dev/full /dev/zero "$dir/fifo"; do
    refused 2 "--profile: cannot write $o: it is no file, but a pipe or a device" --profile=$o -n 1 "$build/mpi_hello"
done
(cd /proc && run --profile -n 1 sh -c 'echo started >&2' 2>"$dir/err" >/dev/null && sed -n '1{/note: --profile: there will be no page, which cannot be written into this folder: No such file/p;};2p' "$dir/err" |
    tr '\n' ' ' | grep -q 'names another started') || fail "--profile where nothing can be written: $(cat "$dir/err")"
# a folder behind a blank is a program; and what a word names that is none
(
    cd "$dir/folders" && mkdir -p was && printf '#!/bin/sh\n' >tool && chmod -x tool
    nothing="No such file or directory"
    refused 127 "cannot start none: $nothing (was --record=FOLDER meant, in one word?)" --record none -n 1 true
    run --record ./was -n 1 true 2>&1 | grep -q "cannot start ./was: Permission denied (was --record=FOLDER meant, in one word?)" || fail "--record ./was"
    refused 2 "--replay: was is a folder, not a program: was --replay=was meant, in one word?" --replay was -n 1 true
    refused 2 "folders/none ($nothing); mpiexec --record=FOLDER makes one" --replay=none -n 1 true
    run ./was 2>&1 | grep -q "cannot start ./was: Permission denied: it is a folder" || fail "a folder as a program"
    run tool 2>&1 | grep -q "cannot start tool: $nothing (one lies in this folder, but is not executable: chmod +x)" || fail "a program without x"
    run ./tool 2>&1 | grep -q "cannot start ./tool: Permission denied (is it executable? chmod +x)" || fail "a program without x by its path"
) || exit 1
# of two the last; a record of a program that is not there leaves nothing
(cd "$dir/folders" && run --profile=a.html --profile=b.html -n 1 "$build/mpi_hello" >/dev/null 2>&1 && [ ! -e a.html ] && [ -s b.html ]) || fail "two --profile"
(cd "$dir/folders" && run --record=r1 --record=r2 -n 1 "$build/mpi_hello" >/dev/null 2>&1 && [ ! -e r1 ] && [ -s r2/rank.0 ]) || fail "two --record"
for o in "--record=$dir/folders/r3" "--record=$dir/folders/r4/r5"; do refused 127 "cannot start ./gw-none" $o -n 1 ./gw-none; done
refused 127 "cannot start ./gw-none" "--record=$dir/folders/r3" -n 1 true : -n 1 ./gw-none
[ ! -e "$dir/folders/r3" ] && [ ! -e "$dir/folders/r4" ] || fail "--record of no program leaves a folder"
run --profile=/dev/null -n 1 "$build/mpi_hello" >/dev/null 2>&1 && (cd "$dir/folders" && run --record -n 1 true 2>/dev/null && run --record=rec/a/b -n 1 true 2>/dev/null) ||
    fail "what can be written is refused"
refused 2 "--reorder is auto, smp, roundrobin, fold or a file of ranks, and there is no file 'bogus'" --reorder=bogus -n 1 true
refused 2 "--replay: there is no folder /gw-none" --replay=/gw-none -n 1 true
for o in -stack --stack; do "$build/mpiexec" $o gw-no-job 2>&1 | grep -q "there is no job gw-no-job of this user" || fail "$o as the first word"; done
if unshare -p -f true 2>/dev/null; then
    # as a user who has no job: other tests run some of this one
    there=$(mktemp -d) && chmod 755 "$there" && cp "$build/mpiexec" "$there"
    unshare -p -f setpriv --reuid 54321 --regid 54321 --clear-groups "$there/mpiexec" --stack 2>&1 | grep -q "jobs cannot be seen from here: /proc is of another pid namespace" || fail "--stack in another pid namespace"
    unshare -m sh -c 'mount -t tmpfs none /proc && exec "$0" --stack' "$build/mpiexec" 2>&1 | grep -q "/proc is hidden" || fail "--stack where /proc is hidden"
    rm -r "$there"
fi
refused 2 "-m: plane=4 is not done here" -n 2 -m plane=4 true
refused 2 "not 'plane'" -n 2 --distribution block:plane true
refused 2 "-cc is cpu, depth" -n 2 -cc socket true
refused 2 "--mem-bind is local or none here" -n 2 --mem-bind map_mem:0 true
refused 2 "--cpu-bind is cores" -n 2 --cpu-bind nonsense true

# A section without ranks; the others keep their numbers.
same "0/2 1/2" -n 0 echo no : -n 2 sh -c 'echo $GODWIT_RANK/$GODWIT_SIZE' : -n 0 echo no
[ "$(run -n 1 "$build/mpi_app_number" : -n 0 "$build/mpi_app_number" : -n 1 "$build/mpi_app_number" | sort | tr '\n' ' ')" = "0 2 " ] ||
    fail "numbers of programs around one without ranks"
refused 2 "-n wants a number" -n 0 true : -n 0 true

# programs that cannot be started
refused 127 "cannot start 4: No such file or directory (was -n meant, before the number?)" 4 ./sum
refused 127 "cannot start 4: No such file or directory" -n 1 4
for word in 4x 4, 4.0 4procs 0x4 1e2; do refused 127 "cannot start $word: No such file or directory (was -n meant, and a number?)" $word true; done
refused 127 "cannot start 4x: No such file or directory (was -n meant, and a number?)" -n 1 true : 4x -x GW_A=1 true
for word in +4 x4; do refused 127 "cannot start $word: No such file or directory (was -n 4 meant?)" $word true; done
refused 127 "cannot start np4: No such file or directory (was -np 4 meant?)" np4 true
refused 127 "cannot start n4: No such file or directory (was -n 4 meant?)" n4 true
refused 127 "cannot start 4x: No such file or directory" -n 1 4x gw-no-such-program
refused 2 "unknown option -4 (was -n 4 meant?)" -4 true
refused 127 "cannot start np: No such file or directory (was the option -np meant?)" np 4 ./sum
refused 127 "cannot start n=4: No such file or directory (was the option -n meant?)" n=4 ./sum
refused 127 "cannot start help: No such file or directory (was the option --help meant?)" help
refused 127 "cannot start -: No such file or directory (between a dash and its option is no blank)" - n 2 true
for dash in – — − ‐; do refused 127 "(the dash is that of a text; options have a -, as the keyboard has it)" ${dash}n 2 true; done
refused 127 "(was a variable meant? -x NAME=VALUE, for each of them)" -n 1 GW_A=1 true
refused 127 "(was a variable meant? -x NAME=VALUE, for each of them)" -n 1 -x GW_A=1 GW_B=2 true
refused 127 "(are program and arguments in one word? leave out the quotes around them)" -n 1 "sh -c true"
refused 127 "cannot start gw-none 1: No such file or directory" -n 1 "gw-none 1"
refused 127 "(an empty word, as of a variable that is not set)" -n 1 ""
refused 2 "unknown option --doctor (did you mean the command \`mpiexec doctor\`?)" --doctor
for o in "-env GW_A" -wdir --output-filename "-mca btl" --vnodes; do
    refused 2 "no program to start: ${o% *} has taken sh for its value" -n 2 $o sh
done
refused 2 "no program to start: -wdir has taken sh" -n 2 true : -wdir sh
for o in "-n 2" "-wdir /" "-l" "-env GW_A b"; do refused 2 "no program to start; such as: mpiexec -n 4 ./a.out" $o; done
for o in "" "-n 1"; do refused 2 "no program to start behind the last ':', which another program must follow" -n 1 true : $o; done
refused 126 "cannot start .: Permission denied: it is a folder" -n 1 .
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
