#!/bin/sh
# users.md row 9: on one node no name is looked up and no interface is used: with only lo (and that one down), a host name that
# nobody knows and a resolver that never answers, a job starts all the same, at once: a single look-up would take half a minute.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
unshare --net --uts --mount true 2>/dev/null || { echo "namespaces are refused here"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/try" <<'END'
set -eu
hostname no-such-host.invalid
printf 'nameserver 192.0.2.1\noptions timeout:30 attempts:5\n' >"$2/resolv.conf"
printf '' >"$2/hosts"
mount --bind "$2/resolv.conf" /etc/resolv.conf
mount --bind "$2/hosts" /etc/hosts
best=1000000
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    t0=$(date +%s%N)
    timeout 20 "$1/mpiexec" -n 2 "$1/mpi_hello" >"$2/out"
    ms=$((($(date +%s%N) - t0) / 1000000))
    [ $ms -ge $best ] || best=$ms
    [ $best -ge 1000 ] || exit 0
done
echo "20 starts without a network, the quickest took $best ms"
exit 1
END
unshare --net --uts --mount sh "$dir/try" "$build" "$dir"
