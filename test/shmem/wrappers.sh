#!/bin/sh
# oshcc, oshc++, oshrun, the pkg-config files and CMake's find_package(godwit-shmem): a user's program builds and runs, also when the
# installation was moved.
# run.py: timeout=180 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; exit 1; }
has() { case $1 in *"$2"*) ;; *) wrong "\"$1\" lacks \"$2\"" ;; esac; }
# runs BINDIR PROGRAM: three PEs of which each has the number of the one before
runs() { [ "$(timeout 100 "$1/oshrun" -n 3 "$2" | sort | tr '\n' ' ')" = "0 has 2 1 has 0 2 has 1 " ] || wrong "$2 does not run"; }

cat > "$tmp/a.c" <<'EOT'
#include <mpp/shmem.h>
#include <shmemx.h>
#include <stdio.h>
static int got = -1;
int main(void)
{
    int me, pes;
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    shmem_int_p(&got, me, (me + 1) % pes);
    shmem_barrier_all();
    printf("%d has %d\n", me, got);
    shmem_finalize();
    return shmemx_wtime() < 0;
}
EOT
sed 's/shmem_int_p(/shmem_p(/' "$tmp/a.c" > "$tmp/generic.c" && cp "$tmp/generic.c" "$tmp/a.cc"
sed 's/shmem_init();/shmem_init(); MPI_Init(0, 0);/; s/shmem_finalize();/MPI_Finalize(); shmem_finalize();/; s/^#include <stdio.h>/#include <mpi.h>\n&/' "$tmp/a.c" > "$tmp/both.c"
strict="-Wall -Wextra -Wpedantic -Werror"
bin=$prefix/bin
"$bin/oshcc" $strict -std=c99 "$tmp/a.c" -o "$tmp/c99" && runs "$bin" "$tmp/c99"
# mpicc says who links these functions, once, and only where the linker has missed one
refused() { "$@" -o "$tmp/none" 2>"$tmp/said" && wrong "$* links without OpenSHMEM"; grep -c "use osh" "$tmp/said" || true; }
[ "$(refused "$bin/mpicc" "$tmp/a.c")" = 1 ] || wrong "mpicc: $(cat "$tmp/said")"
has "$(cat "$tmp/said")" "mpicc: shmem_... are functions of OpenSHMEM, which oshcc links: use oshcc instead of mpicc"
has "$(head -5 "$tmp/said")" "undefined reference"
"$bin/mpicc" -c "$tmp/a.c" -o "$tmp/a.o" && [ "$(refused "$bin/mpicc" "$tmp/a.o")" = 1 ] || wrong "mpicc, an object: $(cat "$tmp/said")"
[ "$(refused "$bin/mpicxx" "$tmp/a.cc")" = 1 ] || wrong "mpicxx: $(cat "$tmp/said")"
has "$(cat "$tmp/said")" "use oshc++ instead of mpicxx"
{ cat "$tmp/a.c"; echo "no C at all"; } > "$tmp/bad.c"
[ "$(refused "$bin/mpicc" "$tmp/bad.c")$(refused "$bin/oshcc" "$tmp/bad.c")" = 00 ] || wrong "what does not compile: $(cat "$tmp/said")"
printf '/* no shmem_init() */\nint gone(void);\nint main(void) { return gone(); }\n' > "$tmp/gone.c"
[ "$(refused "$bin/mpicc" "$tmp/gone.c")" = 0 ] || wrong "another function: $(cat "$tmp/said")"
"$bin/oshcc" $strict -std=c11 "$tmp/generic.c" -o "$tmp/c11" && runs "$bin" "$tmp/c11"
"$bin/oshcc" -c "$tmp/both.c" -o "$tmp/both.o" && "$bin/oshcc" "$tmp/both.o" -o "$tmp/both" && runs "$bin" "$tmp/both"
for cxx in oshc++ oshcxx oshCC; do
    "$bin/$cxx" $strict -Wold-style-cast -std=c++11 "$tmp/a.cc" -o "$tmp/$cxx" && runs "$bin" "$tmp/$cxx"
done
has "$("$bin/oshcc" -show x.c)" "-lgodwit_shmem -lmpi_abi"
has "$("$bin/oshcc" --showme:link)" "-lgodwit_shmem -lmpi_abi"
[ "$("$bin/oshcc" --showme:libs)" = "godwit_shmem mpi_abi" ] || wrong "--showme:libs"
has "$("$bin/oshc++" --showme:version)" "OpenSHMEM 1.6 (Godwit"
for help in -help --help; do
    has "$("$bin/oshcc" $help)" "Godwit's OpenSHMEM"
    has "$("$bin/oshc++" $help)" "usage: oshc++ "
    has "$("$bin/mpicc" $help)" "usage: mpicc "
done
for page in man1/oshcc.1 man1/oshc++.1 man1/oshrun.1 man3/shmem_put.3 man3/shmem_int_put.3 man3/shmem_ctx_put64_nbi.3 man3/start_pes.3; do
    [ -s "$prefix/share/man/$page" ] || wrong "there is no $page"
done

# By pkg-config, under Godwit's name, Open MPI's, Sandia's.
if command -v pkg-config > /dev/null; then
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    for pc in godwit-shmem oshmem oshmem-c oshmem-cxx sandia-openshmem; do
        cc "$tmp/a.c" $(pkg-config --cflags --libs $pc) -o "$tmp/$pc" && runs "$bin" "$tmp/$pc"
    done
    [ "$(pkg-config --modversion oshmem)" = 1.6 ] || wrong "oshmem.pc has another version than the specification"
fi

# Moved, and by CMake.
cp -a "$prefix" "$tmp/moved"
"$tmp/moved/bin/oshcc" "$tmp/a.c" -o "$tmp/by_moved"
readelf -d "$tmp/by_moved" | grep -q "$tmp/moved/lib" || wrong "a moved oshcc leads to another place"
runs "$tmp/moved/bin" "$tmp/by_moved"
if command -v cmake > /dev/null; then
    mkdir "$tmp/cmake"
    cat > "$tmp/cmake/CMakeLists.txt" <<'EOT'
cmake_minimum_required(VERSION 3.13)
project(a C CXX)
find_package(godwit-shmem 0.1 REQUIRED)
find_package(godwit-shmem 99 QUIET)
if(godwit-shmem_FOUND)
  message(FATAL_ERROR "it is no version 99")
endif()
find_package(godwit-shmem REQUIRED)
add_executable(a ../a.c)
add_executable(acc ../a.cc)
target_link_libraries(a Godwit::shmem)
target_link_libraries(acc Godwit::shmem)
EOT
    cmake -S "$tmp/cmake" -B "$tmp/cmake/b" -DCMAKE_PREFIX_PATH="$tmp/moved" > "$tmp/log" 2>&1 &&
        cmake --build "$tmp/cmake/b" >> "$tmp/log" 2>&1 || { tail -20 "$tmp/log"; wrong "CMake"; }
    runs "$tmp/moved/bin" "$tmp/cmake/b/a"
    runs "$tmp/moved/bin" "$tmp/cmake/b/acc"
fi
