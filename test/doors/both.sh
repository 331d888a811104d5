# For binaries.sh and built.sh, which source it: programs of Debian's two MPI libraries, unmodified, on Godwit through the door and on
# their own library; they say the same.  Neither is told which programs: mpiexec finds out (below sh, python3, by libraries alone, in C++).
# The script sets `cases`, a row each: case, the ranks that it can have (-: all), its packages (src:PACKAGE[/SUITE]: Debian's source), and
# perhaps `few`, the cases of a short run.  CASE RANKS is a function of it, called in a folder of its own, that prints what both must have
# alike.
# Packages are unpacked into BUILD/binaries, none is installed.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
wanted=${3:-all}
shift $(($# < 3 ? $# : 3))
case $wanted in few) wanted=${few:?}; [ $# -gt 0 ] || set -- 2 4 ;; esac
[ $# -gt 0 ] || set -- 1 2 4 7
fail() { # also from within a pipeline, of which sh sees the last command alone
    echo "$(basename "$0"): $*" >&2
    [ -z "${one:-}" ] || : >"$keep/run/$one.failed"
    exit 1
}
[ "$(uname -m)" = x86_64 ] || { echo "skipped: its packages are of x86-64"; exit 77; }
need() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || { echo "skipped: needs $1 (Debian's $2)"; exit 77; }
}
need mpiexec.openmpi openmpi-bin

keep=$build/binaries
mkdir -p "$keep/debs" "$keep/run" "$keep/sources" && cd "$keep"
root=$keep/root libs=$keep/root/usr/lib/x86_64-linux-gnu
. "$here/../real/debian.sh"

# binary PACKAGE: it and what it needs that is not installed
binary() {
    [ ! -e "debs/$1.unpacked" ] || return 0
    all=$(apt-get -s install --no-install-recommends "$1" 2>debs/log | awk '/^Inst/ { print $2 }')
    if [ -z "$all" ]; then
        dpkg-query -W "$1" >/dev/null 2>&1 || { echo "skipped: Debian's archive has no $1 for us"; exit 77; }
        all=$1
    fi
    for p in $all; do
        ls debs/"$p"_*.deb >/dev/null 2>&1 || (cd debs && apt-get -qq download "$p" >log 2>&1) || { tail -n 3 debs/log; echo "skipped: no $p"; exit 77; }
        dpkg-deb -x debs/"$p"_*.deb root
    done
    touch "debs/$1.unpacked"
}

# source_of PACKAGE[/SUITE]: into sources/PACKAGE
source_of() {
    suite=bookworm package=${1%/*}
    case $1 in */*) suite=${1#*/} ;; esac
    cd sources
    fetch "$package" "$suite"
    [ -e "$package.unpacked" ] || { unpack "$package" "$package" && touch "$package.unpacked"; } || fail "$package: its sources do not unpack"
    cd "$keep"
}

packaged=$root/usr/lib/python3/dist-packages
for p in petsc slepc; do packaged=$packaged:$root/usr/lib/${p}dir/${p}3.18/x86_64-linux-gnu-real/lib/python3/dist-packages; done
export LD_LIBRARY_PATH="$libs:$libs/openblas-pthread:$libs/blas:$libs/lapack:$root/usr/lib" PYTHONPATH="$packaged"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
PATH=$root/usr/bin:$PATH

# mpi RANKS PROGRAM...: by our mpiexec, or by its own; it ends with the status $ends.  Each rank that has our library says so when it starts:
# without that the program would run on its own library below our mpiexec, with the same results.
ends=0
mpi() {
    n=$1
    shift
    rc=0
    case $library in
    godwit) GODWIT_EXPLAIN=boot timeout 300 "$build/mpiexec" -n "$n" "$@" </dev/null ;;
    own) timeout 300 $own -n "$n" "$@" </dev/null ;;
    esac >log 2>&1 || rc=$?
    [ $rc = "$ends" ] || { tail -n 5 log >&2; fail "$one on $n ranks ($library) ended with $rc: $*"; }
    ours=$(grep -a -o "godwit\[[0-9]*\] boot: rank [0-9]* of $n," log | sort -u | wc -l)
    case $library in
    godwit) [ "$ours" = "$n" ] || fail "$one on $n ranks: $ours of them run on Godwit" ;;
    own) [ "$ours" = 0 ] || fail "$one on $n ranks: $ours of them run on Godwit, not on their own library" ;;
    esac
    sed -i '/^godwit\[[0-9]*\] boot: /d; /^\[.* UCX  WARN/d' log
}
lines() { grep -a -E "$1" log || fail "$one ($library) says nothing of '$1'"; }
# sums FILE...: checksums of files, each of which has something in it
sums() {
    for f in "$@"; do [ -s "$f" ] && cksum "$f" || fail "$one ($library): $f is not there, or empty"; done
}
by_openmpi="mpiexec.openmpi --oversubscribe" by_mpich=mpiexec.hydra

# Ten sequences of 300 letters, each grown from that of half its number.
sequences() {
    awk 'function draw(n) { s = (s * 1103515245 + 12345) % 2147483648; return int(s / 65536) % n }
        BEGIN {
            s = 12345; split("A C G T", letter, " ")
            for (i = 1; i <= 300; i++) of[0, i] = letter[draw(4) + 1]
            for (t = 1; t <= 10; t++) {
                line = ""
                for (i = 1; i <= 300; i++) { of[t, i] = draw(100) < 12 ? letter[draw(4) + 1] : of[int(t / 2), i]; line = line of[t, i] }
                printf "%-10s%s\n", "t" t, line
            }
        }'
}
phylip() { echo "10 300" && sequences; }

# results LIBRARY CASE RANKS, in a folder of its own
results() (
    library=$1 one=$2 own=$by_openmpi
    rm -rf "run/$one.$1" && mkdir "run/$one.$1" && cd "run/$one.$1" && $one "$3"
)

# compare RANKS...: all wanted cases on those ranks.  Two scripts at once, which share packages, sources and folders, have a case each by turns.
compare() {
    runs=0 todo=$(echo "$cases" | awk -v wanted="$wanted" 'NF && (wanted == "all" || index("," wanted ",", "," $1 ",")) { print $1 }')
    case $todo in *_mpich*) need mpiexec.hydra mpich ;; esac
    exec 9>>lock
    for one in $todo; do
        flock 9
        can=$(echo "$cases" | awk -v one="$one" '$1 == one { print $2 }')
        for p in $(echo "$cases" | awk -v one="$one" '$1 == one { $1 = $2 = ""; print }'); do
            case $p in src:*) source_of "${p#src:}" ;; *) binary "$p" ;; esac
        done
        for n in "$@"; do
            case ,$can, in *,$n,* | ,-,) ;; *) continue ;; esac
            began=$(date +%s)
            rm -f "run/$one.failed"
            results godwit "$one" "$n" >"run/$one.mine" || exit 1
            results own "$one" "$n" >"run/$one.its" || exit 1
            [ ! -e "run/$one.failed" ] || exit 1
            [ -s "run/$one.mine" ] || fail "$one on $n ranks says nothing"
            # On a busy machine a program's own library may lose a line of it (Rmpi's on Open MPI 4.1 did): what it says is asked again.
            cmp -s "run/$one.mine" "run/$one.its" || results own "$one" "$n" >"run/$one.its" || exit 1
            cmp -s "run/$one.mine" "run/$one.its" || fail "$one on $n ranks: other results (<) than on its own library (>)
$(diff "run/$one.mine" "run/$one.its" | head -n 40)"
            runs=$((runs + 1))
            echo "$one on $n ranks: the same $(wc -l <"run/$one.mine") lines ($(($(date +%s) - began)) s)"
        done
        flock -u 9
    done
    [ $runs -gt 0 ] || fail "no case $wanted"
}
