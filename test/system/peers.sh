#!/bin/sh
# mpichversion and ompi_info: lines that scripts look for, answered with what godwit-info says; they take no other library's place.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/lib/godwit/peer_info" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; exit 1; }
# fact FIELD...: of godwit-info --json
fact() { "$prefix/bin/godwit-info" --json eager_max | python3 -c 'import json, sys
d = json.load(sys.stdin)
for word in sys.argv[1:]: d = d[word]
print({True: "true", False: "false"}.get(d, d))' "$@"; }
# holds COMMAND PATTERN: an extended regular expression that some line matches
holds() { sh -c "$1" >"$tmp/out" 2>&1 || wrong "$1: $(cat "$tmp/out")"; grep -Eq -- "$2" "$tmp/out" || wrong "$1 has no line $2: $(cat "$tmp/out")"; }
PATH=$prefix/bin:$PATH
unset $(env | sed -n 's/^\(OMPI_MCA_[A-Za-z0-9_]*\)=.*/\1/p') || true
godwit=$(fact versions godwit) mpi=$(fact versions mpi) options=$(fact build options) cc=$(fact build compilers c command)

# MPICH's.
holds mpichversion "^MPICH Version:[[:space:]]+$mpi\.0 \(Godwit $godwit\)$"
holds "mpichversion --version" "^MPICH Version:"
[ "$(mpichversion -v | wc -l)" = 1 ] || wrong "mpichversion -v: $(mpichversion -v)"
holds mpichversion "^MPICH Device:[[:space:]]+.*shm,tcp,ofi$"
[ "$(mpichversion -c | cut -f 2)" = "$options" ] || wrong "mpichversion -c: $(mpichversion -c), not $options"
holds "mpichversion -b" "^MPICH CC:[[:space:]]+$cc$"
! mpichversion | grep -q -e --enable-cuda -e --with-cuda || wrong "mpichversion claims CUDA"
! mpichversion -x 2>"$tmp/out" && grep -q -e -x "$tmp/out" || wrong "mpichversion -x: $(cat "$tmp/out")"

# Open MPI's.
holds "ompi_info --version" "^Open MPI v$mpi\.0 \(Godwit $godwit\)$"
holds ompi_info "^ +Open MPI: $mpi\.0 \(Godwit $godwit\)$"
holds ompi_info "^ +Ident string: $godwit$"
holds ompi_info "^ +Prefix: $prefix$"
holds "ompi_info --parsable" "^ompi:version:full:$mpi\.0$"
holds "ompi_info --parseable -c" "^option:threads:\"posix \(MPI_THREAD_MULTIPLE: yes\)\"$"
holds "ompi_info --parsable" "^bindings:cxx:no$"
holds "ompi_info --parsable" "^compiler:c:command:$cc$"
holds "ompi_info --parsable" "^mca:mtl:ofi:version:"
[ "$(ompi_info --parsable --path prefix)" = "path:prefix:$prefix" ] || wrong "its prefix: $(ompi_info --parsable --path prefix)"
[ -f "$(ompi_info --parsable --path incdir | cut -d : -f 3)/mpi.h" ] || wrong "no mpi.h in $(ompi_info --path incdir)"
for words in "--parsable --all" "-a --parsable" "--parsable -l 9 --all" "--param all all --parsable"; do
    [ "$(ompi_info $words | sed -n 's/^mca:mpi:base:param:mpi_built_with_cuda_support:value://p')" = "$(fact features cuda)" ] ||
        wrong "ompi_info $words: $(ompi_info $words | grep cuda)"
done
[ "$(OMPI_MCA_mpi_add_procs_cutoff=7 ompi_info -a --parsable | sed -n 's/^mca:mpi:base:param:mpi_add_procs_cutoff:value://p')" = 7 ] || wrong "a parameter"
holds "ompi_info --param all all" 'MCA mtl ofi: parameter "mtl_ofi_tag_mode" \(current value: "auto", data source: default'
! ompi_info --path nothing 2>"$tmp/out" && grep -q '"nothing"' "$tmp/out" || wrong "ompi_info --path nothing: $(cat "$tmp/out")"

# A moved installation says where it is now.
mkdir -p "$tmp/moved/lib/godwit" "$tmp/moved/bin"
cp "$prefix/lib/godwit/peer_info" "$tmp/moved/lib/godwit" && ln -s ../lib/godwit/peer_info "$tmp/moved/bin/ompi_info"
[ "$("$tmp/moved/bin/ompi_info" --parsable --path prefix)" = "path:prefix:$tmp/moved" ] || wrong "moved: $("$tmp/moved/bin/ompi_info" --path prefix)"

# Installed: not over another library's, again over our own, and not in /usr.
script=$(readlink -f "$(dirname "$0")/../../lib/peers.sh")
install() { MESON_INSTALL_PREFIX=$1 MESON_INSTALL_DESTDIR_PREFIX=$2 MESON_BUILD_ROOT=$tmp/build "$script" bin lib/machine; }
mkdir -p "$tmp/build/meson-logs" "$tmp/a/bin" && echo theirs >"$tmp/a/bin/ompi_info"
install /opt/a "$tmp/a" | grep -q "$tmp/a/bin/ompi_info is left" || wrong "it does not say what is left"
[ "$(cat "$tmp/a/bin/ompi_info")" = theirs ] && [ "$(readlink "$tmp/a/bin/mpichversion")" = ../lib/machine/godwit/peer_info ] || wrong "$(ls -l "$tmp/a/bin")"
rm "$tmp/a/bin/ompi_info"
[ -z "$(install /opt/a "$tmp/a")" ] && [ -L "$tmp/a/bin/ompi_info" ] || wrong "installed again: $(ls -l "$tmp/a/bin")"
install /usr "$tmp/b/usr" >/dev/null && [ ! -e "$tmp/b/usr/bin" ] || wrong "it is in /usr"
