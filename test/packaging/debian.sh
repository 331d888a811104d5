#!/bin/sh
# Debian's packages: built from this tree, without a word of lintian, no file of a name that a package of this machine has.  Installed on a
# copy-on-write view of this machine, which sees nothing of it, beside MPICH and Open MPI: programs are compiled and run (packaging/debian/tests),
# and after dpkg --purge nothing is left.
# run.py: timeout=3600 tags=extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
for program in dpkg-buildpackage dh lintian mpicc.mpich mpicc.openmpi gfortran; do
    command -v $program > /dev/null || { echo "there is no $program here (Debian: dpkg-dev debhelper lintian libmpich-dev libopenmpi-dev gfortran)"; exit 77; }
done
fail() { echo "$1"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# ---- build --------------------------------------------------------------------------------------------------------------
mkdir "$dir/godwit"
tar cf - --exclude='./build*' --exclude=./install --exclude=./.git --exclude=__pycache__ . | tar xf - -C "$dir/godwit"
cp -r packaging/debian "$dir/godwit/debian"
( # this system's own python3 and meson
    PATH=/usr/sbin:/usr/bin:/sbin:/bin CCACHE_BASEDIR=$dir CCACHE_NOHASHDIR=1
    export PATH CCACHE_BASEDIR CCACHE_NOHASHDIR
    cd "$dir/godwit" && exec dpkg-buildpackage -us -uc -b
) > "$dir/log" 2>&1 || { tail -n 40 "$dir/log"; fail "dpkg-buildpackage failed"; }
for package in godwit libgodwit1 libgodwit-dev libgodwit-shmem godwit-fortran godwit-doors godwit-doc; do
    ls "$dir/${package}"_*.deb > /dev/null || fail "no package $package"
done
set -- "$dir"/*-dbgsym_*.deb
[ -f "$1" ] && rm -f "$@"
set -- "$dir"/*.deb
[ $# = 7 ] || fail "not seven packages: $*"

# ---- lintian, collisions ---------------------------------------------------------------------------------------------------
lintian -I --fail-on error,warning,info --allow-root "$@" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "lintian"; }
! grep -E '^[EWI]:' "$dir/log" || fail "lintian"
for deb; do
    dpkg-deb -c "$deb" | awk '!/^d/ { print substr($6, 2) }'
done | sort > "$dir/ours"
[ "$(wc -l < "$dir/ours")" -gt 2000 ] || fail "the packages have $(wc -l < "$dir/ours") files"
[ -z "$(uniq -d "$dir/ours")" ] || fail "in two packages: $(uniq -d "$dir/ours" | head)"
find /var/lib/dpkg/info -name '*.list' ! -name '*godwit*' -exec cat {} + | sort -u > "$dir/theirs"
grep -q '/mpicc\.openmpi$' "$dir/theirs" || fail "the list of this machine's files could not be read"
comm -12 "$dir/ours" "$dir/theirs" > "$dir/log"
[ ! -s "$dir/log" ] || { head "$dir/log"; fail "these names are other packages'"; }

# ---- install, run, purge -----------------------------------------------------------------------------------------------------
cat > "$dir/inside.sh" <<'EOT'
set -eu
dir=$1
trap 'exit 1' INT TERM
fail() { echo "$1"; exit 1; }
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
state() {
    find /etc /opt /usr /var -xdev \( -path /var/tmp -o -path /var/log -o -path /var/cache \) -prune -o -print | sort
    for name in $(update-alternatives --get-selections | awk '{ print $1 }' | grep -i mpi); do update-alternatives --query "$name"; done
}
state > "$dir/before"
dpkg -i "$dir"/*.deb > "$dir/log" 2>&1 || { tail -n 30 "$dir/log"; fail "dpkg -i failed"; }
cd "$dir/godwit"
for test in programs beside; do
    mkdir "$dir/$test"
    AUTOPKGTEST_TMP=$dir/$test sh debian/tests/$test > "$dir/log" 2>&1 || { tail -n 20 "$dir/log"; fail "packaging/debian/tests/$test"; }
    grep -q '^passed$' "$dir/log" || fail "$test did not end"
done
man -w 3godwit MPI_Send > /dev/null 2>&1 || ls /usr/share/man/man3/MPI_Send.3godwit.gz > /dev/null || fail "no page of MPI_Send"
dpkg --purge godwit libgodwit1 libgodwit-dev libgodwit-shmem godwit-fortran godwit-doors godwit-doc > "$dir/log" 2>&1 ||
    { tail -n 30 "$dir/log"; fail "dpkg --purge failed"; }
state > "$dir/after"
diff "$dir/before" "$dir/after" > "$dir/log" || { head -n 20 "$dir/log"; fail "after the purge"; }
EOT
cat > "$dir/view.sh" <<'EOT'
set -eu
dir=$1
mkdir "$dir/view"
mount -t tmpfs godwit "$dir/view"
mkdir "$dir/view/up" "$dir/view/work" "$dir/view/root"
mount -t overlay godwit -o "lowerdir=/,upperdir=$dir/view/up,workdir=$dir/view/work" "$dir/view/root" || exit 77
for folder in proc sys dev; do mount --rbind /$folder "$dir/view/root/$folder"; done
mkdir -p "$dir/view/root$dir"
mount --bind "$dir" "$dir/view/root$dir"
chroot "$dir/view/root" sh "$dir/inside.sh" "$dir"
EOT
[ "$(id -u)" = 0 ] && user= || user=-r
status=0
unshare $user -m sh "$dir/view.sh" "$dir" || status=$?
[ $status != 77 ] || echo "no view of this machine by overlayfs here: built, and looked at, but not installed"
exit $status
