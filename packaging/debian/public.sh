#!/bin/sh
# What lies outside of the private prefix: public.sh DESTDIR PREFIX, called by debian/rules after the installation.
# Manual pages under names that collide with nobody's, pkg-config's and CMake's files that know the prefix, completions.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
root=$1 prefix=$2
here=$root$prefix
public=$root${prefix%/*}
man=$root/usr/share/man
mkdir -p "$man/man1" "$man/man7" "$public/pkgconfig" "$public/cmake"

# copy_page FROM TO: what is only a pointer to another page is that page.
copy_page() {
    to=$(sed -n '1s/^\.so man1\///p' "$1")
    cp "${1%/*}/${to:-${1##*/}}" "$2"
}
for page in "$here"/share/man/man1/*.1; do
    name=${page##*/}
    case $name in
    mpicc.1 | mpicxx.1 | mpifort.1 | oshcc.1 | oshc++.1 | mpiexec.1 | mpirun.1 | oshrun.1) copy_page "$page" "$man/man1/${name%.1}.godwit.1" ;;
    godwit-*) mv "$page" "$man/man1/" ;;
    esac
done
mv "$here"/share/man/man7/* "$man/man7/"
rmdir "$here/share/man/man7"
# `man 3godwit MPI_Send`: mpich-doc and openmpi-doc have MPI_Send.3.
mv "$here/share/man/man3" "$man/man3"
perl -pi -e 's,^(\.so man3/.*\.3)$,$1godwit,; s,^(\.TH \S+ 3)\b,$1godwit,' "$man"/man3/*.3
perl -e 'rename $_, $_ . "godwit" or die "$_: $!\n" for @ARGV' "$man"/man3/*.3
gzip -9n "$here"/share/man/man1/*.1

for pc in godwit godwit-shmem godwit-fort; do
    sed "s,^prefix=.*,prefix=$prefix," "$here/lib/pkgconfig/$pc.pc" > "$public/pkgconfig/$pc.pc"
done
cp -r "$here/lib/cmake/godwit-shmem" "$public/cmake/"
sed -i "s,^get_filename_component(_godwit_prefix .*,set(_godwit_prefix \"$prefix\")," "$public/cmake/godwit-shmem/godwit-shmem-config.cmake"
grep -q "$prefix" "$public/cmake/godwit-shmem/godwit-shmem-config.cmake"

completions=$root/usr/share/bash-completion/completions
mkdir -p "$completions"
mv "$here/share/bash-completion/completions/godwit-info" "$completions/"
sed 's/ mpiexec mpirun aprun$/ mpiexec.godwit mpirun.godwit/' "$here/share/bash-completion/completions/mpiexec" > "$completions/mpiexec.godwit"
grep -q ' mpiexec.godwit mpirun.godwit$' "$completions/mpiexec.godwit"
ln -s mpiexec.godwit "$completions/mpirun.godwit"
rm -r "$here/share/doc"
