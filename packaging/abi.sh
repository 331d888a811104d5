#!/bin/sh
# What programs see of the libraries of two installations, compared by libabigail's abidiff: packaging/abi.sh OLD_PREFIX NEW_PREFIX
# Status 0: nothing goes; what comes is listed.  1: a public name or signature goes or changes (doc/release.md).  2: no answer.
# Names of our own (godwit_*), by which our libraries call each other, have the version beside them and are left out.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ $# = 2 ] || { echo "usage: packaging/abi.sh OLD_PREFIX NEW_PREFIX" >&2; exit 2; }
command -v abidiff > /dev/null || { echo "there is no abidiff here (Debian: apt-get install abigail-tools)" >&2; exit 2; }
old=$1 new=$2 status=0 n=0
own=$(mktemp)
trap 'rm -f "$own"' EXIT
printf '[suppress_function]\nsymbol_name_regexp = ^godwit_\n[suppress_variable]\nsymbol_name_regexp = ^godwit_\n' > "$own"
for path in "$old"/lib/lib*_abi.so.? "$old"/lib/libgodwit_shmem.so.?; do
    [ -e "$path" ] || continue
    name=${path##*/}
    [ "$name" != libmpi_abi.so.0 ] || continue # another name of libmpi_abi.so.1
    n=$((n + 1))
    [ -e "$new/lib/$name" ] || { echo "$name: is not in $new/lib"; status=1; continue; }
    if said=$(abidiff --suppressions "$own" "$path" "$new/lib/$name" 2>&1); then
        echo "$name: the same"
    elif abidiff --suppressions "$own" --no-added-syms "$path" "$new/lib/$name" > /dev/null 2>&1; then
        printf '%s\n%s\n' "$name: nothing goes" "$said"
    else
        printf '%s\n%s\n' "$name: what programs use goes or changes" "$said"
        status=1
    fi
done
[ $n -gt 0 ] || { echo "there is no library of ours in $old/lib" >&2; exit 2; }
exit $status
