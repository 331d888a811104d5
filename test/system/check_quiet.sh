#!/bin/sh
# GODWIT_CHECK finds nothing in programs that do nothing wrong: the tests with ranks, once each, on 3 ranks or as many as they take.
# The real programs: test/real/programs.sh.  users.md row 21.
# run.py: timeout=900 tags=long
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# These misuse MPI on purpose: two gather more than the root has room for, to see that it hears of it when it waits, and that the
# operation after it is right; one receives several messages into one buffer, as programs do that measure; one gives arrays of counts back too early;
# one accumulates nothing by operations that the datatype lacks, and locks a window without locks; one calls
# collectives that do not match, one calls them in another order on a rank, and one receives bytes where integers are sent.
misuse=" coll_mismatch coll_order coll_legal coll_nonblocking coll_persistent p2p_tagged coll_arrays rma_errors "
tried=0 failed=0
while read -r name ranks options; do
    case $name in '' | '#'*) continue ;; esac
    case $misuse in *" $name "*) continue ;; esac
    [ $name != coll_phases ] || continue # it counts bytes between nodes, where the checks send some, too
    [ $name != p2p_flood ] || continue # it counts the memory of messages that wait, beside which the checks keep what they compare
    case $name/$options in "${last:-}"/* | *tags=long*) continue ;; esac
    last=$name
    case ,$ranks, in *,3,*) n=3 ;; *) n=${ranks%%,*} ;; esac
    args=
    for word in $options; do case $word in arg=*) args="$args ${word#arg=}" ;; env=*) export "${word#env=}" ;; esac; done
    status=0
    GODWIT_CHECK=1 timeout 120 "$build/mpiexec" -n "$n" "$build/mpi_$name" $args < /dev/null > "$out" 2>&1 || status=$?
    for word in $options; do case $word in env=*) word=${word#env=} && unset "${word%%=*}" ;; esac; done
    tried=$((tried + 1))
    [ $status = 77 ] && continue
    if [ $status != 0 ] || grep -q '^godwit\[[0-9]*\] check: ' "$out"; then
        echo "$name on $n ranks: exit status $status, $(grep -c '^godwit\[[0-9]*\] check: ' "$out" || true) findings"
        head -n 3 "$out" | cut -c1-400
        failed=$((failed + 1))
    fi
done < "$(dirname "$0")/../mpi/testlist"
[ $tried -ge 40 ] || { echo "only $tried programs in the list"; exit 1; }
[ $failed = 0 ] && echo "$tried programs, nothing found in them"
