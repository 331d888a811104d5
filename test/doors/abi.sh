#!/bin/sh
# The points at which ABIs differ (abi.c), each through each door; one process that uses libraries of two ABIs (two_abis.c); one job of
# programs of two; what wrappers, shells and other launchers start, and what names the other MPI by a library alone.
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "doors/abi: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
doors=$build/src/door prefix=${2:-}
if [ -x "$prefix/bin/mpixlate" ]; then
    for words in "" "-s ompi.40" "-s sgi.225 -t godwit true" "-s ompi.40 -t sgi.225 true" "-s ompi.40 -t godwit" "-l x"; do
        rc=0
        "$prefix/bin/mpixlate" $words >/dev/null 2>"$dir/said" || rc=$?
        [ $rc = 2 ] && grep -q '^mpixlate: ' "$dir/said" || fail "mpixlate $words: status $rc, $(cat "$dir/said")"
    done
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
run() { timeout 60 "$build/mpiexec" "$@" 2>&1 </dev/null; }

points() { # ABI MPICC VERSION LAUNCHER SOURCE
    $2 -w -o "$dir/abi_$1" "$here/abi.c"
    for n in 1 2 4 7; do
        out=$(run -n $n "$dir/abi_$1") || fail "$1, $n ranks: $out"
        [ "$out" = "all points" ] || fail "$1, $n ranks: $out"
    done
    # Below a wrapper, and below a shell whose text alone names it.
    [ "$(run -n 2 env A=1 nice -n 1 "$dir/abi_$1")" = "all points" ] || fail "$1 below env and nice"
    [ "$(run -n 2 sh -c "$dir/abi_$1 version")" = "2 ranks, Godwit" ] || fail "$1 below sh"
    # A library of the program's names the other MPI, the program none.
    $2 -w -shared -fPIC -Dmain=points -o "$dir/libpoints_$1.so" "$here/abi.c"
    echo 'int points(int argc, char **argv); int main(int argc, char **argv) { return points(argc, argv); }' |
        gcc -xc - -o "$dir/by_library_$1" -L"$dir" -lpoints_$1 -Wl,--unresolved-symbols=ignore-in-shared-libs,-rpath,"$dir"
    [ "$(run -n 2 "$dir/by_library_$1" version)" = "2 ranks, Godwit" ] || fail "$1 by a library"
    [ "$(run -n 2 "$dir/by_library_$1")" = "all points" ] || fail "$1 by a library"
    # Another launcher below a rank starts ranks of its own, not more of ours.
    out=$(run -n 2 sh -c "$4 -n 3 $dir/abi_$1 version" | sort | uniq -c | tr -s ' ')
    [ "$out" = " 2 3 ranks, Godwit" ] || fail "$1 below another launcher: $out"
    # An mpiexec below that opens no doors takes those of the first one away.
    out=$(run -n 1 sh -c "GODWIT_DOORS=off $build/mpiexec -n 2 $dir/abi_$1 version" | sed "s, *$,,")
    [ "$out" = "2 ranks, $3" ] || fail "$1, GODWIT_DOORS=off below another mpiexec: $out"
    # A program that never calls MPI_Init has not run as jobs of one rank.
    echo 'int MPI_Init(int *, char ***); int main(int argc, char **argv) { return argc > 9 ? MPI_Init(&argc, &argv) : usleep(100000); }' |
        $2 -w -xc - -o "$dir/no_init_$1"
    out=$(run -n 2 sh -c "$dir/no_init_$1; true") || fail "$1 without MPI_Init: $out"
    [ -z "$out" ] || fail "$1 without MPI_Init: $out"
    # What calls are made is known of the standard's.
    for w in "" nice; do
        if out=$(run --profile -n 2 $w "$dir/abi_$1" version); then fail "$1 with --profile, '$w': $out"; fi
        case $out in *"--profile knows calls of the standard ABI, and $dir/abi_$1 was built with"*) ;; *) fail "$1 with --profile, '$w': $out" ;; esac
    done
    # By LD_LIBRARY_PATH alone, without mpiexec.
    [ "$(LD_LIBRARY_PATH=$doors timeout 60 "$dir/abi_$1" 2>&1)" = "all points" ] || fail "$1 alone, by LD_LIBRARY_PATH"
    # By the command that HPE's users know, without mpiexec and under another's.
    if [ -x "${prefix:-}/bin/mpixlate" ]; then
        [ "$(timeout 60 "$prefix/bin/mpixlate" -s $5 -t godwit "$dir/abi_$1" 2>&1)" = "all points" ] || fail "mpixlate -s $5"
        [ "$(run -n 2 "$prefix/bin/mpixlate" -s $5 -t cmpich.12 "$dir/abi_$1" version)" = "2 ranks, Godwit" ] || fail "mpixlate -s $5 below mpiexec"
    fi
    # The setting keeps its own library.
    [ "$(run -n 2 "$dir/abi_$1" version)" = "2 ranks, Godwit" ] || fail "$1: the door's library"
    out=$(GODWIT_DOORS=off run -n 2 "$dir/abi_$1" version | sed "s, *$,,")
    [ "$out" = "2 ranks, $3" ] || fail "$1, GODWIT_DOORS=off: $out"
}

# Two libraries, opened by a program that knows no MPI.
two() { # RANKS ONE TWO
    out=$(LD_LIBRARY_PATH=$doors:$build run -n "$1" "$dir/both" "$dir/$2.so" "$dir/$3.so") || fail "$2 and $3, $1 ranks: $out"
    [ "$out" = "both" ] || fail "$2 and $3, $1 ranks: $out"
}
out=$(LD_LIBRARY_PATH=/a:$doors::/b/godwit/doors:/c GODWIT_DOORS=off run -n 1 sh -c 'echo $LD_LIBRARY_PATH')
[ "$out" = "/a::/c" ] || fail "LD_LIBRARY_PATH without doors: $out"
# An argument that is a pipe is not opened: it is the program's.
mkfifo "$dir/pipe"
{ echo data && sleep 1 && echo more; } >"$dir/pipe" &
out=$(run -n 1 sh -c 'sleep .3; cat "$0"' "$dir/pipe" | tr '\n' ' ')
[ "$out" = "data more " ] || fail "a pipe as an argument: $out"
wait $! || fail "a pipe as an argument: its writer failed"
gcc -w -DMAIN -o "$dir/both" "$here/two_abis.c" -ldl
gcc -w -shared -fPIC -I"$build/include" -o "$dir/std.so" "$here/two_abis.c" "$build/libmpi_abi.so.1"
abis=
while read -r abi mpicc launcher version; do
    command -v "$mpicc" >/dev/null || continue
    case $abi in ompi) source=ompi.40 ;; *) source=mpich.12 ;; esac
    points "$abi" "$mpicc" "$version" "$launcher" $source
    $mpicc -w -shared -fPIC -o "$dir/$abi.so" "$here/two_abis.c"
    for n in 1 3; do two $n "$abi" std && two $n std "$abi"; done
    abis="$abis $abi"
done <<END
mpich mpicc.mpich mpiexec.hydra MPICH
ompi mpicc.openmpi mpiexec.openmpi Open M
END
[ "$abis" ] || { echo "skipped: needs mpicc.mpich or mpicc.openmpi (Debian's libmpich-dev, libopenmpi-dev)"; exit 77; }
[ "$abis" = " mpich ompi" ] || exit 0
# C++: programs that call C's functions, and those that call MPI::.
echo '{ local: *; };' >"$dir/local"
bindings() { # ABI MPICXX OWN_LAUNCHER
    for kind in C MPI; do
        $2 -w -DBY_$kind -o "$dir/cxx_$kind" "$here/cxx.cc"
        "$build/godwit-info" "$dir/cxx_$kind" | grep -q "all .* MPI names that it asks for are there" || fail "$1, godwit-info of C++ that calls $kind"
    done
    for w in "" nice; do
        out=$(run -n 3 $w "$dir/cxx_C" | tr '\n' ' ')
        [ "$out" = "Godwit: 3 ranks, sum 3 objects 8 " ] || fail "$1, C++ that calls C, '$w': $out"
        out=$(run -n 3 $w "$dir/cxx_MPI")
        [ "$out" = "Godwit: 3 ranks, sum 3" ] || fail "$1, C++ that calls MPI::, '$w': $out"
    done
    # The first: the library's objects have its own tables of virtual functions, not the program's copies.
    for flags in "-O0 -fPIC -pie -Wl,--version-script=$dir/local" "-O0 -no-pie" "-O2 -fPIE -pie"; do
        $2 -w $flags -o "$dir/cxx_points" "$here/cxx_points.cc"
        for n in 1 2 3 4; do
            out=$(run -n $n "$dir/cxx_points" "$dir/file") || fail "$1, C++ on $n ranks, $flags: $out"
            [ "$out" = "C++: all points" ] || fail "$1, C++ on $n ranks, $flags: $out"
        done
    done
    out=$(GODWIT_CHECK=on run -n 2 "$dir/cxx_points" "$dir/file") || fail "$1, C++ with GODWIT_CHECK: $out"
    [ "$out" = "C++: all points" ] || fail "$1, C++ with GODWIT_CHECK: $out"
    ! command -v valgrind >/dev/null ||
        run -n 2 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$dir/cxx_points" "$dir/file" >"$dir/out" ||
        fail "$1, C++ under valgrind: $(head -n 20 "$dir/out")"
    out=$(timeout 60 $3 -n 2 "$dir/cxx_points" "$dir/file" own 2>&1) || fail "$1, C++ on its own library: $out"
    [ "$out" = "C++: all points" ] || fail "$1, C++ on its own library: $out"
}
if command -v mpicxx.mpich >/dev/null; then bindings mpich mpicxx.mpich mpiexec.hydra; fi
if command -v mpicxx.openmpi >/dev/null; then
    [ -e "$doors/libmpi_cxx.so.40" ] || fail "there is a compiler of C++, and Godwit was built without libmpi_cxx.so.40"
    bindings ompi mpicxx.openmpi mpiexec.openmpi
    python3 "$here/cxx_tables.py" "$doors/libmpi_cxx.so.40" || fail "tables of virtual functions"
    # The doors have all that such a program wants: it runs where Open MPI is not installed.
    if LD_LIBRARY_PATH=$doors ldd "$dir/cxx_points" | grep -E "libmpi|libopen" | grep -v "$build/"; then fail "C++ wants more than the doors"; fi
    # A program that has the number of the last error (Debian's header knows no exceptions) finds it there.
    cat >"$dir/number.cc" <<'END'
#include <mpi.h>
int main()
{
    MPI::Init();
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::COMM_WORLD.Send(NULL, 0, MPI::INT, 99, 1);
    bool ok = MPI::Get_error_class(MPI::mpi_errno) == MPI::ERR_RANK;
    MPI::Finalize();
    return !ok;
}
END
    mpicxx.openmpi -w -no-pie -o "$dir/number" "$dir/number.cc"
    run -n 2 "$dir/number" || fail "the number of the last error"
    # One that is not caught ends the program in C++'s way.
    sed 's/bool ok.*/bool ok = true;/' "$dir/number.cc" >"$dir/uncaught.cc"
    mpicxx.openmpi -w -o "$dir/uncaught" "$dir/uncaught.cc"
    if out=$(run -n 1 "$dir/uncaught"); then fail "an exception that is not caught: $out"; fi
    case $out in *"terminate called after throwing an instance of 'MPI::Exception'"*) ;; *) fail "an exception that is not caught: $out" ;; esac
    # A plugin that brings the bindings is closed.
    cat >"$dir/plugin.cc" <<'END'
#include <mpi.h>
extern "C" int members() { return MPI::COMM_WORLD.Get_size(); }
END
    cat >"$dir/host.c" <<'END'
#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    int class_of, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*members)(void) = plugin ? (int (*)(void))dlsym(plugin, "members") : NULL;
    if (!members || members() != size || dlclose(plugin) != 0) return 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(NULL, 0, MPI_INT, size, 1, MPI_COMM_WORLD), &class_of);
    MPI_Finalize();
    return class_of != MPI_ERR_RANK;
}
END
    mpicxx.openmpi -w -shared -fPIC -o "$dir/plugin.so" "$dir/plugin.cc"
    mpicc.openmpi -w -o "$dir/host" "$dir/host.c" -ldl
    out=$(run -n 2 "$dir/host" "$dir/plugin.so") || fail "a plugin with the bindings of C++, closed: $out"
    # Built without a compiler of C++, there is no door for these programs.
    mkdir -p "$dir/less/src/door" && cp "$build/godwit-info" "$dir/less" && cp -L "$doors/libmpi.so.40" "$dir/less/src/door"
    out=$("$dir/less/godwit-info" "$dir/cxx_points" 2>&1) || :
    case $out in *"$dir/cxx_points was built with Open MPI, in C++: it runs on its own library, as"*) ;; *) fail "godwit-info without the door for C++: $out" ;; esac
    # One that calls what lies between Open MPI's own two libraries keeps them.
    sed '1i #include <cstdio>\n#include <mpi.h>\nextern "C" int ompi_cxx_comm_get_type(MPI_Comm);\nint type_of() { return ompi_cxx_comm_get_type(MPI_COMM_WORLD); }' \
        "$here/cxx.cc" >"$dir/glue.cc"
    mpicxx.openmpi -w -DBY_MPI -o "$dir/glue" "$dir/glue.cc"
    if "$build/godwit-info" "$dir/glue" >"$dir/info"; then fail "godwit-info of C++ that calls what is within Open MPI"; fi
    grep -q "runs on its own library" "$dir/info" && grep -q "^  ompi_cxx_comm_get_type" "$dir/info" || fail "godwit-info: $(cat "$dir/info")"
    for w in "" nice; do
        out=$(run -n 3 $w "$dir/glue")
        [ "$out" = "Open M: 3 ranks, sum 3" ] || fail "C++ that calls what is within Open MPI, '$w': $out"
        out=$(run -n 1 sh -c "$build/mpiexec -n 3 $w $dir/glue")
        [ "$out" = "Open M: 3 ranks, sum 3" ] || fail "C++ that calls what is within Open MPI, '$w', below another mpiexec: $out"
    done
fi
# A program that asks for what is within Open MPI keeps its own library.
if command -v ompi_info >/dev/null; then
    for w in "" nice; do run -n 1 $w ompi_info | grep -q "Open MPI: [0-9]" || fail "'$w' ompi_info: $(run -n 1 $w ompi_info | head -n 3)"; done
fi
for n in 1 3; do two $n ompi mpich && two $n mpich ompi; done
out=$(run -n 2 "$dir/abi_mpich" : -n 3 "$dir/abi_ompi") || fail "programs of two ABIs: $out"
[ "$out" = "all points" ] || fail "programs of two ABIs: $out"
