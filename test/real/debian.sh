# For the scripts here, which source it in the folder that keeps sources and builds: upstream sources from Debian's archive.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
jobs=$(nproc)
[ "$jobs" -le 3 ] || jobs=3

# list SUITE: what the archive has, asked for once
list() {
    [ "${listed:-}" != "$1" ] || return 0
    APT_CONFIG=$PWD/apt.conf apt-get update && listed=$1
}

# fetch PACKAGE [SUITE]: its upstream tarball, through a private apt configuration (nothing of the system's is changed).
fetch() {
    ls "$1"_*.orig.tar.* >/dev/null 2>&1 && return 0
    mkdir -p apt/lists/partial apt/cache/archives/partial
    echo "deb-src http://deb.debian.org/debian ${2:-bookworm} main" > sources.list
    cat > apt.conf <<EOT
Dir::Etc::SourceList "$PWD/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$PWD/apt/lists";
Dir::Cache "$PWD/apt/cache";
EOT
    { list "${2:-bookworm}" && APT_CONFIG=$PWD/apt.conf apt-get source --download-only --tar-only "$1"; } > "$1.apt.log" 2>&1 ||
        { tail -n 5 "$1.apt.log"; echo "$1: Debian's source archive cannot be reached"; exit 77; }
}

# unpack PACKAGE FOLDER
unpack() {
    rm -rf "$2" && mkdir "$2" && tar xf "$1"_*.orig.tar.* --strip-components=1 -C "$2"
}
