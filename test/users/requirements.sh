#!/bin/sh
# doc/requirements.md: each row of its list stands in its tables once, and no other does; a row that holds names a test; each test
# that is named is there, and is run; variables without meaning are those of src/base/foreign.def; the numbers at the top are right.
# run.py: timeout=20 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
doc=doc/requirements.md bad=0 holds=0 hosts=0 partly=0 far=0 not_yet=0 without=0
wrong() { echo "$*"; bad=1; }

# A1-10 stands for A1 to A10.
ids=$(sed -n 's/^    //p' "$doc" | tr ' ' '\n' | awk 'match($0, /[0-9]+-[0-9]+$/) {
    split(substr($0, RSTART), n, "-")
    for (i = n[1] + 0; i <= n[2] + 0; i++) print substr($0, 1, RSTART - 1) i
    next } 1')
[ "$(echo "$ids" | sort -u | wc -l)" -ge 183 ] || wrong "the list has lost rows"
for id in $(echo "$ids" | sort | uniq -d); do wrong "$id is in the list twice"; done
rows=$(sed -n 's/^| \([0-9A-Z][0-9A-Z.]*\) |.*/\1/p' "$doc")
for id in $(echo "$rows" | sort | uniq -d); do wrong "row $id stands there more than once"; done
for id in $ids; do echo "$rows" | grep -qxF "$id" || wrong "row $id is missing"; done
for id in $rows; do echo "$ids" | grep -qxF "$id" || wrong "row $id is not in the list"; done

# is_run FILE: a test that test/run.py finds
is_run() {
    case $1 in
    src/*_test.c | tools/*_test.c | test/../sim/*_test.c) [ -f "$1" ] ;;
    test/mpi/*.c) [ -f "$1" ] && grep -q "^$(basename "$1" .c) " test/mpi/testlist ;;
    test/shmem/*.c) [ -f "$1" ] && grep -q "^$(basename "$1" .c) " test/shmem/testlist ;;
    *.sh | *.py) [ -f "$1" ] && grep -q '^# run\.py:' "$1" ;;
    *) false ;;
    esac
}
while IFS='|' read -r _ row what state tests more; do
    row=$(echo "$row" | tr -d ' ') tests=$(echo "$tests" | tr -d ,)
    [ -z "$more" ] || { wrong "row $row has more than four columns"; continue; }
    case $state in
    " holds ") holds=$((holds + 1)) ;;
    " host memory ") hosts=$((hosts + 1)) ;;
    " partly: "*[a-z0-9]*) partly=$((partly + 1)) ;;
    " out of reach ") far=$((far + 1)) ;;
    " not yet ") not_yet=$((not_yet + 1)) ;;
    " no meaning here ") without=$((without + 1)) ;;
    *) wrong "row $row: '$state' is no state" ;;
    esac
    case $state:$tests in
    *:" none ") case $state in " holds " | " host memory " | " out of reach " | " no meaning here ") wrong "row $row:${state}names no test" ;; esac ;;
    " not yet :"*) wrong "row $row: not yet, and names tests" ;;
    *:*[a-z]*)
        for t in $tests; do
            case $t in src/* | tools/*) file=$t ;; *) file=test/$t ;; esac
            is_run "$file" || wrong "row $row: $file is not there, or is not run as a test"
        done
        ;;
    *) wrong "row $row: no tests, nor the word none" ;;
    esac
    [ "$state" = " no meaning here " ] || continue
    names=$(echo "$what" | grep -o '`MPICH_[A-Z0-9_]*`' | tr -d '`')
    [ "$names" ] || wrong "row $row names no variable"
    for name in $names; do grep -q "^X($name," src/base/foreign.def || wrong "row $row: $name is not in src/base/foreign.def"; done
done <<END
$(grep '^| [0-9A-Z]' "$doc")
END
many() { [ "$1" = 1 ] && echo "1 holds$2" || echo "$1 hold$2"; }
line="Of $((holds + hosts + partly + far + not_yet + without)) rows, $(many $holds ""), $(many $hosts " but for memory of GPUs"),"
line="$line $(many $partly " partly"), $far are out of reach, $not_yet are not there yet, and $without have no meaning here."
grep -qxF "$line" "$doc" || wrong "at the top should stand: $line"
exit $bad
