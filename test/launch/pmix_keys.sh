#!/bin/sh
# What a client of libpmix alone reads from mpiexec's server: keys of job, node, applications and ranks, queries, events: as doc/launch.md has
# them, and where Open MPI's mpirun says the same thing, with the same value.  Foreign libraries find all ranks on one node: an Open MPI
# program's MPI_COMM_TYPE_SHARED on its own library has them all.
# `all`: also libpmix 5 and newer (Debian 13's and sid's, unpacked into a folder), as clients and as the server's.
# PMIX_ROOTS: folders where those were unpacked before.
# run.py: args=few timeout=120 tags=quick
# run.py: args=all timeout=900 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
flags=$(pkg-config --cflags --libs pmix 2>/dev/null) || { echo "skipped: needs libpmix-dev"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "pmix_keys: $*"; exit 1; }
run() { timeout 60 "$@" </dev/null; }
gcc -Wall "$here/pmix_keys.c" $flags -o keys

rank() { printf "rank$1 PMIX_%s\n" "APPNUM $2" "APPLDR $3" "APP_RANK $4" "GLOBAL_RANK $1" "LOCAL_RANK $1" "NODE_RANK $1" "NODEID 0" "CPUSET -" "LOCALITY_STRING -" "REINCARNATION 0"; }
{
    printf 'job PMIX_%s\n' "JOB_SIZE 3" "JOB_NUM_APPS 2" "MAX_PROCS 3" "NUM_NODES 1" "NUM_SLOTS 3" "LOCAL_SIZE 3" "NODE_SIZE 3" "LOCAL_PEERS '0,1,2'" \
        "LOCALLDR 0" "NPROC_OFFSET 0" "SERVER_RANK 0" "APP_SIZE 2" "MAPBY 'BYCORE'" "RANKBY 'SLOT'" "BINDTO 'NONE'" "TDIR_RMCLEAN 1" "SPAWNED -" "PARENT_ID -"
    printf 'machine PMIX_%s\n' "LOCAL_TOPO a topology" "HWLOC_XML_V1 a topology" "HWLOC_XML_V2 a topology" "HWLOC_SHMEM_FILE" "HWLOC_SHMEM_ADDR" "HWLOC_SHMEM_SIZE"
    rank 0 0 0 0
    rank 1 0 0 1
    rank 2 1 2 0
    printf 'node0 PMIX_%s\n' "NODE_SIZE 3" "LOCAL_SIZE 3" "LOCAL_PEERS '0,1,2'" "LOCALLDR 0"
    printf 'app0 PMIX_%s\n' "APP_SIZE 2" "APPLDR 0" "APP_ARGV './keys'" "WDIR '$dir'"
    printf 'app1 PMIX_%s\n' "APP_SIZE 1" "APPLDR 2" "APP_ARGV './keys'" "WDIR '$dir'"
    printf 'query PMIX_QUERY_%s\n' "PROC_TABLE 3 of type 38" "LOCAL_PROC_TABLE 3 of type 38" "SPAWN_SUPPORT ''" "DEBUG_SUPPORT ''" "NUM_PSETS 0" "PSET_NAMES ''" \
        "NUM_GROUPS 0" "GROUP_NAMES ''"
} >want
same() { # NAME: what is in `got`
    sed -i "s#^\(machine PMIX_HWLOC_SHMEM_[A-Z]*\) [1-9'].*#\1#" got # where it lies is libpmix's affair
    grep -v 'UNIV_SIZE\|node0 PMIX_NODEID' got | diff want - || fail "$1"
}
run "$build/mpiexec" --pmix on -bind-to none -n 2 ./keys : -n 1 ./keys >got 2>err || fail "status $?: $(cat err)"
same "the server of this machine's libpmix"
grep -q '^job PMIX_UNIV_SIZE [3-9]' got || fail "$(grep UNIV got)"
[ ! -s err ] || fail "$(cat err)"
run "$build/mpiexec" --pmix on -n 0 ./keys : -n 2 ./keys >got || fail "-n 0 before others: status $?"
for rank in 0 1; do grep -qx "rank$rank PMIX_APPNUM 1" got || fail "-n 0 before others: $(grep "^rank$rank PMIX_APPNUM" got)"; done
grep -qx "app1 PMIX_APP_SIZE 2" got || fail "-n 0 before others: $(grep APP_SIZE got)"
# Where ranks are bound: this machine's first CPU, and what it shares with others, in hwloc's words.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')
bound="job PMIX_BINDTO 'HWTHREAD'|rank0 PMIX_CPUSET '$cpu'|rank0 PMIX_LOCALITY_STRING '([A-Z]+[0-9]+:)*HT[0-9]+(:[A-Z]+[0-9]+)*'"
run "$build/mpiexec" --pmix on -bind-to hwthread -n 1 ./keys >got 2>err || fail "bound: status $?: $(cat err)"
[ "$(grep -cxE "$bound" got)" = 3 ] || fail "bound: $(grep 'BINDTO\|CPUSET\|LOCALITY' got)"
for n in 1 2 5 64; do
    run "$build/mpiexec" --pmix on -n $n ./keys >got || fail "$n ranks"
    [ "$(grep -c "^\(job\|node0\) PMIX_LOCAL_PEERS '$(seq -s, 0 $((n - 1)))'$" got)" = 2 ] || fail "$n ranks: $(grep PEERS got)"
    [ "$(grep -c "^\(job\|node0\) PMIX_LOCAL_SIZE $n$" got)" = 2 ] || fail "$n ranks: $(grep LOCAL_SIZE got)"
done
run "$build/mpiexec" --pmix on -n 3 ./keys events >got || fail "events: status $?"
[ "$(grep -cx 'event registered 1, of rank 1' got)" = 3 ] || fail "events: $(cat got)"

# ---- beside Open MPI's launcher, and its library on our server
if command -v mpirun.openmpi >/dev/null && command -v mpicc.openmpi >/dev/null; then
    both='JOB_SIZE\|JOB_NUM_APPS\|NUM_NODES\|LOCAL_\(SIZE\|PEERS\|RANK\)\|LOCALLDR\|NODE_SIZE\|APPNUM\|APP_RANK\|GLOBAL_RANK\|NODE_RANK\|NODEID\|NPROC_OFFSET'
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    if run mpirun.openmpi --bind-to core -n 1 ./keys >theirs 2>err; then
        run "$build/mpiexec" --pmix on -bind-to core -n 1 ./keys >got
        for key in BINDTO RANKBY CPUSET LOCALITY_STRING; do
            [ "$(grep "PMIX_$key '" theirs)" = "$(grep "PMIX_$key '" got)" ] || fail "bound to a core: mpirun.openmpi says: $(grep "PMIX_$key" theirs got)"
        done
    fi
    if run mpirun.openmpi --oversubscribe -n 2 ./keys : -n 1 ./keys >theirs 2>err; then
        run "$build/mpiexec" --pmix on -n 2 ./keys : -n 1 ./keys >got
        grep "PMIX_\($both\) " theirs | grep -v ' -$' >a
        grep "PMIX_\($both\) " got | grep -v ' -$' >b
        [ "$(wc -l <a)" -ge 20 ] || fail "mpirun says too little to be compared: $(cat theirs)"
        diff a b || fail "mpirun.openmpi says something else (<)"
    fi
    cat >shared.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Comm node;
    int n;
    MPI_Init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    printf("%d\n", n);
    MPI_Finalize();
}
END
    mpicc.openmpi shared.c -o shared
    for n in 2 3 5; do
        out=$(GODWIT_DOORS=off run "$build/mpiexec" -n $n ./shared | sort | uniq -c | tr -s ' ')
        [ "$out" = " $n $n" ] || fail "ranks that share memory, by Open MPI's own library, $n ranks: $out"
    done
fi
[ "${3:-all}" = all ] || exit 0

# ---- other versions of libpmix: the server's and the client's
fetch() { # SUITE: prints the folder
    root=$dir/$1
    mkdir -p "$root/etc/apt.conf.d" "$root/etc/preferences.d" "$root/state/lists/partial" "$root/cache/archives/partial" "$root/root"
    : >"$root/status"
    cat >"$root/apt.conf" <<END
Dir::State "$root/state"; Dir::State::status "$root/status"; Dir::Cache "$root/cache"; Dir::Etc "$root/etc";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none"; APT::Architecture "amd64";
END
    echo "deb [trusted=yes] http://deb.debian.org/debian $1 main" >"$root/etc/sources.list"
    APT_CONFIG=$root/apt.conf apt-get -qq update >"$root/log" 2>&1 &&
        APT_CONFIG=$root/apt.conf apt-get -qq install -y --download-only --no-install-recommends libpmix2 libmpich12 >>"$root/log" 2>&1 || return 1
    for deb in "$root"/cache/archives/*.deb; do dpkg -x "$deb" "$root/root"; done
    echo "$root/root"
}
roots=${PMIX_ROOTS:-}
[ "$roots" ] || for suite in trixie sid; do roots="$roots $(fetch $suite || true)"; done
[ "$(echo $roots)" ] || { echo "only this machine's libpmix was tried: others cannot be fetched"; exit 0; }
for root in $roots; do
    libs=$root/usr/lib/x86_64-linux-gnu
    ls "$libs"/pmix2/lib/libpmix.so.2.* | sed 's/.*libpmix/libpmix/'
    printf '#!/bin/sh\nPMIX_PREFIX=%s exec %s --library-path %s %s/keys "$@"\n' "$root/usr" "$libs/ld-linux-x86-64.so.2" "$libs:$libs/pmix2/lib" "$dir" >newer
    chmod +x newer
    # MPICH 5 by PMI-1 and PMI-2, also below a wrapper, which is offered PMIx too
    if [ -e "$libs/libmpich.so.12" ] && command -v mpicc.mpich >/dev/null; then
        mpicc.mpich "$here/sum.c" -o sum
        printf '#!/bin/sh\nexec %s --library-path %s %s/sum "$@"\n' "$libs/ld-linux-x86-64.so.2" "$libs:$libs/pmix2/lib:$libs/pulseaudio" "$dir" >newer_sum
        chmod +x newer_sum
        for version in 1 2; do
            out=$(GODWIT_DOORS=off MPIR_CVAR_PMI_VERSION=$version run "$build/mpiexec" -n 3 ./newer_sum | sort | tr '\n' ,)
            [ "$out" = "0/3 app 0 sum 3,1/3 app 0 sum 3,2/3 app 0 sum 3," ] || fail "$(ls "$libs"/libmpich.so.12.*) by PMI-$version: $out"
        done
    fi
    for server in ours newer; do
        launcher="$build/mpiexec"
        [ $server = ours ] || launcher="env PMIX_PREFIX=$root/usr $libs/ld-linux-x86-64.so.2 --library-path $libs:$libs/pmix2/lib $build/mpiexec"
        for client in keys newer; do
            run $launcher --pmix on -bind-to none -n 2 ./$client : -n 1 ./$client 2>err | sed "s/APP_ARGV .*/APP_ARGV '.\/keys'/" | grep '^[a-z0-9]* PMIX_' >got || fail "$server, $client"
            same "the server's library $server, the client's $client ($root)"
        done
    done
done
