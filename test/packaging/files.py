#!/usr/bin/env python3
"""Debian's packages have every file that is installed, each in one of them (packaging/debian/*.install), and none of a name that MPICH's or
Open MPI's packages have: what lies outside of the private folder is on a list of its own here."""
# run.py: timeout=60 tags=quick,install
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

DEBIAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "debian")
TRIPLET = "x86_64-linux-gnu"
PRIVATE = "usr/lib/" + TRIPLET + "/godwit/"
# Names outside of the private folder, by what makes them ours alone.
OURS = ["usr/bin/godwit-*", "usr/bin/*.godwit", "usr/lib/" + TRIPLET + "/pkgconfig/godwit*.pc", "usr/lib/" + TRIPLET + "/cmake/godwit-shmem/*",
        "usr/lib/" + TRIPLET + "/libgodwit_shmem.so.1", "usr/share/man/man1/*.godwit.1", "usr/share/man/man1/godwit-*.1",
        "usr/share/man/man3/*.3godwit", "usr/share/man/man7/godwit*.7", "usr/share/bash-completion/completions/godwit-info",
        "usr/share/bash-completion/completions/*.godwit"]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [line.replace("${DEB_HOST_MULTIARCH}", TRIPLET) for line in f.read().split("\n") if line and not line.startswith("#")]


def copy(a, b):
    """Of libraries the names are enough."""
    if os.path.getsize(a) > 1 << 18:
        open(b, "wb").close()
    else:
        shutil.copyfile(a, b)


def main():
    if len(sys.argv) < 3 or not os.path.isdir(sys.argv[2]):
        print("needs an installed Godwit")
        return 77
    faults = []
    with tempfile.TemporaryDirectory() as root:
        shutil.copytree(sys.argv[2], os.path.join(root, PRIVATE), symlinks=True, copy_function=copy)
        subprocess.run(["sh", os.path.join(DEBIAN, "public.sh"), root, "/" + PRIVATE.rstrip("/")], check=True)
        files = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names]
    claims = {}
    for path in glob.glob(os.path.join(DEBIAN, "*.install")):
        package = os.path.basename(path)[:-len(".install")]
        for pattern in lines(path):
            found = [f for f in files if fnmatch.fnmatchcase(f, pattern) or f.startswith(pattern + "/")]
            if not found:
                faults.append("%s.install: there is no %s" % (package, pattern))
            for f in found:
                claims.setdefault(f, []).append(package)
    faults += ["no package has " + f for f in files if f not in claims]
    faults += ["%s is in %s" % (f, " and ".join(c)) for f, c in claims.items() if len(c) > 1]
    public = [f for f in files if not f.startswith(PRIVATE)]
    for path in glob.glob(os.path.join(DEBIAN, "*.links")):
        for line in lines(path):
            target, link = line.split()
            public.append(link)
            if target not in files:
                faults.append("%s: there is no %s" % (os.path.basename(path), target))
    faults += ["a name outside of the private folder that is not ours alone: " + f for f in public
               if not any(fnmatch.fnmatchcase(f, ours) for ours in OURS)]
    # Each alternative leads to what a package has.
    have = {"/" + f for f in files + public}
    have |= {f + ".gz" for f in have if f.startswith("/usr/share/man/")} | {"/" + PRIVATE + "include"}
    for path in glob.glob(os.path.join(DEBIAN, "*.alternatives*")) + glob.glob(os.path.join(DEBIAN, "*.postinst")):
        for line in lines(path):
            word = line.replace("#DEB_HOST_MULTIARCH#", TRIPLET).rstrip(" \\").removesuffix(" 30").split()[-1:]
            if re.match(r"Alternative:| /| *--slave | *update-alternatives ", line) and word[0] not in have:
                faults.append("%s: there is no %s" % (os.path.basename(path), word[0]))
    print("\n".join(faults[:30]) or "%d files in %d packages" % (len(files), len({p for c in claims.values() for p in c})))
    return 1 if faults or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
