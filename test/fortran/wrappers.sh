#!/bin/sh
# mpifort, the pkg-config files, CMake's find_package(MPI COMPONENTS Fortran), Meson's dependency('mpi', language: 'fortran'); what is refused; a compiler
# that is not there, or has no modules yet; a moved installation; every symbol that the modules name is in the library.
# run.py: timeout=180
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpifort" ] || { echo "nothing is installed"; exit 77; }
command -v gfortran > /dev/null || { echo "there is no gfortran here"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; exit 1; }
has() { case $1 in *"$2"*) ;; *) wrong "\"$1\" lacks \"$2\"" ;; esac; }
runs() { [ "$(timeout 100 "$1/mpiexec" -n 2 "$2" | sort | tr '\n' ' ')" = "0 of 2 1 of 2 " ] || wrong "$2 does not run"; }
bin=$prefix/bin
cat > "$tmp/a.f90" <<'EOT'
program a
  use mpi_f08
  integer :: rank, size
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  print '(i0, a, i0)', rank, ' of ', size
  call MPI_Finalize()
end program
EOT

# The wrapper.
"$bin/mpifort" "$tmp/a.f90" -o "$tmp/one" && runs "$bin" "$tmp/one"
(cd "$tmp" && "$bin/mpif90" -c a.f90 && "$bin/mpif77" a.o -o two) && runs "$bin" "$tmp/two"
has "$("$bin/mpifort" -show a.f90)" "gfortran a.f90 -I"
has "$("$bin/mpifort" -show a.f90)" "-lmpifort_abi -lmpi_abi"
case $("$bin/mpifort" -show -c a.f90) in *-lmpi*) wrong "-show -c links" ;; esac
has "$("$bin/mpifort" --showme:libs)" mpifort_abi
for d in $("$bin/mpifort" --showme:incdirs); do [ -f "$d/mpif.h" ] || [ -f "$d/mpi_f08.mod" ] || wrong "--showme:incdirs"; done
for flag in -i8 -fdefault-integer-8; do
    if "$bin/mpifort" $flag "$tmp/a.f90" -o "$tmp/no" 2> "$tmp/why"; then wrong "$flag is taken"; fi
    has "$(cat "$tmp/why")" "INTEGERs of 4"
    [ ! -e "$tmp/no" ] || wrong "$flag: there is a program"
done
if GODWIT_FC=no-such-fortran "$bin/mpifort" "$tmp/a.f90" 2> "$tmp/why"; then wrong "a compiler that is not there"; fi
has "$(cat "$tmp/why")" "apt-get install gfortran"

# A moved installation without modules: it says so, makes them, and works.
cp -a "$prefix" "$tmp/with blank"
rm -r "$tmp/with blank/lib/godwit/fortran"
blank="$tmp/with blank/bin"
if "$blank/mpifort" "$tmp/a.f90" -o "$tmp/m" > "$tmp/why" 2>&1; then wrong "no modules, and it compiles"; fi
has "$(cat "$tmp/why")" "mpifort -fc=gfortran -build-modules"
"$blank/mpifort" -build-modules > "$tmp/log" || { cat "$tmp/log"; exit 1; }
"$blank/mpifort" "$tmp/a.f90" -o "$tmp/m" && runs "$blank" "$tmp/m"
has "$(ldd "$tmp/m")" "with blank/lib/libmpifort_abi.so.1"

# Symbols: what the sources of the modules name, in both names, is exported.
nm -D --defined-only "$prefix/lib/libmpifort_abi.so" | awk '{ print $3 }' | sort > "$tmp/have"
{
    sed -n 's/.*bind(C, name="\([^"]*\)").*/\1/p' "$prefix/share/godwit/fortran/"*.f90
    sed -n 's/^  \(subroutine\|function\) \(P\{0,1\}MPI_[A-Za-z0-9_]*\)(.*/\2_/p' "$prefix/share/godwit/fortran/mpi.f90" "$prefix/share/godwit/fortran/mpi_f08.f90" |
        grep -v -e 'f08ts_$' -e '_function_$' -e '_function_c_$' | tr A-Z a-z
} | sort -u > "$tmp/named"
[ "$(wc -l < "$tmp/named")" -gt 1800 ] || wrong "only $(wc -l < "$tmp/named") names were found in the modules"
[ -z "$(comm -23 "$tmp/named" "$tmp/have")" ] || wrong "not in the library: $(comm -23 "$tmp/named" "$tmp/have" | tr '\n' ' ')"

# pkg-config, Meson, CMake.
pc=$prefix/lib/pkgconfig
for name in godwit-fort mpi-fort ompi-fort; do
    gfortran "$tmp/a.f90" -o "$tmp/pc" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs $name) && runs "$bin" "$tmp/pc"
done
if command -v meson > /dev/null; then
    printf "project('a', 'fortran')\nexecutable('by', 'a.f90', dependencies: dependency('mpi', language: 'fortran'))\n" > "$tmp/meson.build"
    PKG_CONFIG_PATH=$pc PATH=$bin:$PATH meson setup "$tmp/m1" "$tmp" > "$tmp/log" 2>&1 && ninja -C "$tmp/m1" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
    has "$(ldd "$tmp/m1/by")" "libmpifort_abi.so.1 => $prefix/lib"
    runs "$bin" "$tmp/m1/by"
fi
command -v cmake > /dev/null || { echo "no cmake"; exit 77; }
cat > "$tmp/CMakeLists.txt" <<'EOT'
cmake_minimum_required(VERSION 3.10)
project(a Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
foreach(form HAVE_F77_HEADER HAVE_F90_MODULE HAVE_F08_MODULE)
  if(NOT MPI_Fortran_${form})
    message(FATAL_ERROR "MPI_Fortran_${form} is not set")
  endif()
endforeach()
add_executable(by a.f90)
target_link_libraries(by MPI::MPI_Fortran)
EOT
for place in "$bin" "$blank"; do
    rm -rf "$tmp/b"
    PATH=$place:$PATH cmake -S "$tmp" -B "$tmp/b" > "$tmp/log" 2>&1 && cmake --build "$tmp/b" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
    runs "$place" "$tmp/b/by"
done
