#!/bin/sh
# PRRTE as an engine.  Debian 12 has none; Debian 13's Open MPI brings one along: it is fetched into a folder of its own, with its C library,
# and the scripts beside this one, which take a prterun that is in PATH as one engine more, run with it.
# PRRTE_ROOT: where it was unpacked before.
# run.py: timeout=1800 tags=cluster,extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
for tool in mpiexec.hydra mpirun.openmpi apt-get; do command -v $tool >/dev/null || { echo "prrte: skipped: no $tool here"; exit 77; }; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
root=${PRRTE_ROOT:-$tmp/root}

# A folder that apt and dpkg of this machine know nothing of.
fetch() {
    mkdir -p "$tmp/etc/apt.conf.d" "$tmp/etc/preferences.d" "$tmp/state/lists/partial" "$tmp/cache/archives/partial" "$root"
    : >"$tmp/status"
    cat >"$tmp/apt.conf" <<END
Dir::State "$tmp/state"; Dir::State::status "$tmp/status"; Dir::Cache "$tmp/cache"; Dir::Etc "$tmp/etc";
Acquire::Languages "none"; APT::Architecture "amd64";
END
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >"$tmp/etc/sources.list"
    APT_CONFIG=$tmp/apt.conf apt-get -qq update &&
        APT_CONFIG=$tmp/apt.conf apt-get -qq install -y --download-only --no-install-recommends openmpi-bin || return 1
    for deb in "$tmp"/cache/archives/*.deb; do dpkg -x "$deb" "$root"; done
}
[ -d "$root/usr" ] || fetch >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; echo "prrte: skipped: Debian 13 cannot be fetched"; exit 77; }

# Its programs by its own dynamic loader: also prted, which prterun starts on the hosts from where it was told that it is installed.
libs=$root/usr/lib/x86_64-linux-gnu
mkdir "$tmp/bin"
for name in prte prted prterun; do
    file=$root/usr/bin/$name
    { [ -e "$file.bin" ] || [ $name = prterun ]; } || mv "$file" "$file.bin"
    rm -f "$file"
    cat >"$file" <<END
#!/bin/sh
export PMIX_PREFIX=$root/usr PRTE_PREFIX=$root/usr OPAL_PREFIX=$root/usr
exec $libs/ld-linux-x86-64.so.2 --argv0 $file --library-path $libs:$libs/openmpi/lib $root/usr/bin/$(echo $name | sed s,prterun,prte,).bin "\$@"
END
    chmod +x "$file"
    ln -s "$file" "$tmp/bin"
done
export PATH="$tmp/bin:$PATH"
prterun --version | head -n 1
for script in engines handover spawn meet tied cut; do
    "$here/$script.sh" "$build" prterun >"$tmp/out" 2>&1 || { tail -n 20 "$tmp/out"; echo "prrte: $script.sh failed"; exit 1; }
    grep -q 'PRRTE\|prterun[: ]' "$tmp/out" || { echo "prrte: $script.sh ran nothing with it"; exit 1; }
    grep '^PRRTE\|prterun[: ]' "$tmp/out"
done
