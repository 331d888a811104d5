#!/bin/sh
# godwit-info: version, wires, and every setting with its value and where the value came from.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1 top=$(cd "$(dirname "$0")/../.." && pwd)
for name in $(env | sed -n 's/^\(GODWIT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset MPICH_GNI_MAX_EAGER_MSG_SIZE MPICH_OFI_EAGER_MAX
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() {
    head -n 12 "$out" | cut -c1-200
    echo "$1"
    exit 1
}
info() { timeout 100 "$build/godwit-info" "$@" > "$out" 2>&1; }
has() { grep -q -e "$1" "$out" || fail "no line like: $1"; }

version=$(sed -n "s/^ *version: '\([0-9.]*\)'.*/\1/p; s/^project(.* version: '\([0-9.]*\)'.*/\1/p" "$top/meson.build" | head -n 1)
[ -n "$version" ] || fail "meson.build has no version"
info || fail "godwit-info failed"
has "^Godwit $version, MPI"
has '^wires  *[a-z]'
has 'none, all are at their defaults'
number=$(sed -n 's/.* lists all \([0-9]*\),.*/\1/p' "$out")
info --version && has "^Godwit $version$"

# Every setting of every room is listed, and no other.
info --settings || fail "--settings failed"
[ "$(grep -c '^GODWIT_[A-Z_]* = ' "$out")" = "$number" ] || fail "not $number settings"
for name in $(grep -hE '^[a-z0-9_]+ *[|]' "$top"/src/*/cvars.def | cut -d'|' -f1 | tr -d ' ' | tr a-z A-Z); do
    has "^GODWIT_$name = "
    number=$((number - 1))
done
[ $number = 0 ] || fail "$number settings of no cvars.def"
if grep -q '^GODWIT_.* from ' "$out"; then fail "a default has an origin"; fi
[ "$(info --list; grep -c '^GODWIT_' "$out")" -gt 10 ] || fail "--list is short"

# Values and their origins: the variable itself, another MPI's name for it, the first of the two.
export GODWIT_WAIT=sleep MPICH_OFI_EAGER_MAX=8192
info --settings
has '^GODWIT_WAIT = sleep  *from GODWIT_WAIT$'
has '^GODWIT_EAGER_MAX = 8K  *from MPICH_OFI_EAGER_MAX$'
has '^GODWIT_LANES = auto$'
info
has '^  GODWIT_WAIT=sleep (from GODWIT_WAIT)'
has '^  GODWIT_EAGER_MAX=8K (from MPICH_OFI_EAGER_MAX)'
GODWIT_EAGER_MAX=4K info eager_max
has '^GODWIT_EAGER_MAX = 4K  *from GODWIT_EAGER_MAX$'
info MPICH_OFI_EAGER_MAX && has '^GODWIT_EAGER_MAX = 8K'
GODWIT_LANES=many info lanes
has 'GODWIT_LANES=many is not a number'
has '^GODWIT_LANES = auto$'
if info wiat; then fail "godwit-info wiat was taken"; fi
has 'no setting wiat; did you mean wait?'
if info MPICH_OFI_EAGERMAX; then fail "godwit-info MPICH_OFI_EAGERMAX was taken"; fi
has 'no setting MPICH_OFI_EAGERMAX; did you mean MPICH_OFI_EAGER_MAX?'
if info GODWIT_EAGERMAX; then fail "godwit-info GODWIT_EAGERMAX was taken"; fi
has 'no setting GODWIT_EAGERMAX; did you mean GODWIT_EAGER_MAX?'
(cd "$build" && ./godwit-info mpi_hello >"$out" 2>&1) || fail "godwit-info FILE in its folder was not taken"
has "^mpi_hello was built for .*: it runs on Godwit as it is"
info MPICH_ENABLE_HCOLL && has '^MPICH_ENABLE_HCOLL is of no effect: '
MPICH_ENABLE_HCOLL=1 info && has 'MPICH_ENABLE_HCOLL=1 is of no effect: there is no HCOLL'
