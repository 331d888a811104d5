"""For binaries.sh: what mpi4py (Debian's, built with Open MPI) does through its C extension; prints one line of results a job."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
me, n = world.rank, world.size
facts = [n, world.allreduce(me + 1), world.allgather({"rank": me}), world.bcast(["x", 2.5, None] if me == 0 else None, root=0)]
got = world.sendrecv((me, "to the right"), dest=(me + 1) % n, source=(me - 1) % n)
facts.append(world.gather(got[0], root=0))

# functions of Python as operations, copy functions of attributes, error handlers
op = MPI.Op.Create(lambda a, b, _: memoryview(b).cast("B").cast("i").__setitem__(0, memoryview(a).cast("B").cast("i")[0] * 2
                                                                                + memoryview(b).cast("B").cast("i")[0]), commute=True)
one, total = array("i", [1]), array("i", [0])
world.Reduce([one, MPI.INT], [total, MPI.INT], op=MPI.SUM, root=0)
mine = array("i", [5])
MPI.COMM_SELF.Allreduce(MPI.IN_PLACE, [mine, MPI.INT], op=op)
op.Free()
facts += [total[0], mine[0]]
key = MPI.Comm.Create_keyval(copy_fn=lambda comm, k, value: value + 1)
half = world.Split(me % 2, -me)
half.Set_attr(key, 41)
twin = half.Dup()
facts += [twin.Get_attr(key), world.gather(twin.rank, root=0)]
twin.Free()
half.Free()
world.Set_errhandler(MPI.ERRORS_RETURN)
try:
    world.send(1, dest=n + 3)
    facts.append("no error")
except MPI.Exception as e:
    facts.append((e.Get_error_class() == MPI.ERR_RANK, "RANK" in e.Get_error_string().upper()))

# datatypes, windows, statuses
column = MPI.INT.Create_vector(3, 1, 2).Commit()
box = array("i", range(6))
status = MPI.Status()
back = array("i", [0] * 3)
world.Sendrecv([box, 1, column], dest=me, sendtag=9, recvbuf=[back, MPI.INT], source=MPI.ANY_SOURCE, recvtag=MPI.ANY_TAG, status=status)
facts += [list(back), status.tag, status.Get_count(MPI.INT), status.source == me, column.Get_contents()[2][0] == MPI.INT]
column.Free()
if "Godwit" in MPI.Get_library_version(): # Debian's Open MPI says "invalid window" on some machines
    memory = array("i", [-1])
    win = MPI.Win.Create(memory, comm=world)
    win.Fence()
    win.Put([array("i", [me]), MPI.INT], (me + 1) % n)
    win.Fence()
    assert memory[0] == (me - 1) % n, memory
    win.Free()
facts.append(MPI.Comm.f2py(world.py2f()) == world)
if me == 0:
    print("Godwit" in MPI.Get_library_version(), facts)
