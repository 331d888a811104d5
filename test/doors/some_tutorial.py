"""For binaries.sh: the programs of mpi4py's tutorial, as Debian's python-mpi4py-doc has them (the page is the argument), one after the
other on all ranks; what each left in its variable `data` or `buf`, or in its file.  Left out: what wants a device, f2py or SWIG."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import html
import os
import re
import sys
import zlib

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
numpy.int = int # the tutorial is older than NumPy 1.24
with open(sys.argv[1], encoding="utf-8") as f:
    blocks = [html.unescape(re.sub("<[^>]*>", "", b)) for b in re.findall("<pre>(.*?)</pre>", f.read(), re.S)]
programs = [b for b in blocks if "from mpi4py import MPI\n" in b and ">>>" not in b and "cupy" not in b]
children = [b for b in programs if "Get_parent" in b]
assert len(programs) == 16 and len(children) == 1, (len(programs), len(children))
if world.rank == 0:
    with open("cpi.py", "w", encoding="utf-8") as f:
        f.write(children[0])
for k, program in enumerate(programs):
    ours = "Godwit" in MPI.Get_library_version() # Debian's Open MPI says "invalid window" on some machines
    if program in children or "dest=1" in program and world.size < 2 or "MPI.Win" in program and not ours:
        continue
    world.Barrier()
    names = {}
    if "COMM_SELF.Spawn" not in program or world.rank == 0:
        exec(compile(program, "program %d" % k, "exec"), names)
    if "matvec" in names:
        names["data"] = names["matvec"](world, numpy.arange(9.0 * world.size).reshape(3, -1) + world.rank, numpy.full(3, world.rank + 0.5))
    left = world.gather(str(names.get("data", names.get("recvbuf", numpy.round(names.get("PI", 0), 12)))))
    world.Barrier()
    if world.rank == 0 and "MPI.Win" not in program:
        print(k, len(program), zlib.crc32(repr(left).encode()), left[0][:60].replace("\n", " "))
if world.rank == 0:
    for name in sorted(glob.glob("datafile.*")):
        with open(name, "rb") as f:
            print(name, os.path.getsize(name), zlib.crc32(f.read()))
