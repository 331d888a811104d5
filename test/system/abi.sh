#!/bin/sh
# The installed library keeps to the standard ABI: its soname, libc and libm only, MPI_ and PMPI_ names only, each MPI_ with its PMPI_.
# run.py: timeout=60 tags=quick,install
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
prefix=$2
lib=$prefix/lib/libmpi_abi.so.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "$1"
    exit 1
}
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p'; }

[ "$(soname "$lib")" = libmpi_abi.so.1 ] || fail "the soname is $(soname "$lib")"
for link in libmpi_abi.so libmpi_abi.so.0; do
    [ "$prefix/lib/$link" -ef "$lib" ] || fail "$link is not the library"
done

allowed='^(linux-vdso|libc|libm|libpthread|librt|libdl|libatomic|ld-linux[a-z0-9_-]*|ld-musl[a-z0-9_-]*)[.]so'
readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' > "$dir/needed"
ldd "$lib" | awk '{ sub(".*/", "", $1); print $1 }' >> "$dir/needed"
grep -q '^libc[.]' "$dir/needed" || fail "the list of needed libraries could not be read"
if grep -vE "$allowed" "$dir/needed"; then fail "the library needs these"; fi

# What doors of other ABIs and OpenSHMEM's entry points call has the version of the release; what programs use has none.
nm -D --defined-only "$lib" | awk '$3 !~ /^GODWIT_[0-9.]+$/ && $3 !~ /^godwit_(MPI|door|sym)_.*@@GODWIT_/ { print $3 }' | sort -u > "$dir/names"
if grep -vE '^(P?MPI_|(MPIR_dll_name|godwit_debugger)$)' "$dir/names" | head -n 10 | grep .; then fail "these names are no MPI names"; fi
[ "$(wc -l < "$dir/names")" -gt 600 ] || fail "only $(wc -l < "$dir/names") names"
grep '^MPI_' "$dir/names" > "$dir/mpi"
sed -n 's/^P//p' "$dir/names" > "$dir/pmpi"
diff "$dir/mpi" "$dir/pmpi" > "$dir/diff" || { head -n 10 "$dir/diff"; fail "MPI_ and PMPI_ names differ"; }

# A program that was linked by mpicc asks for the standard's library and no other of ours.
printf '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n' > "$dir/p.c"
"$prefix/bin/mpicc" -o "$dir/p" "$dir/p.c"
readelf -d "$dir/p" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' > "$dir/needed"
grep -qx libmpi_abi.so.1 "$dir/needed" || fail "a program needs $(tr '\n' ' ' < "$dir/needed")"
if grep -v '^libmpi_abi[.]so[.]1$' "$dir/needed" | grep -vE "$allowed"; then fail "mpicc linked these too"; fi
timeout 100 "$prefix/bin/mpiexec" -n 2 "$dir/p"
