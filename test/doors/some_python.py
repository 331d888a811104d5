"""For binaries.sh: modules of Python, and libraries below them, that Debian built with Open MPI; prints the results of one of them."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
me, n = world.rank, world.size


def say(*words):
    if me == 0:
        print(*words, flush=True)


def h5py():
    import h5py
    with h5py.File("parallel.h5", "w", driver="mpio", comm=world) as f:
        rows = f.create_dataset("rows", (28, 16), dtype="f8", chunks=(7, 4))
        for i in range(me, 28, n):
            rows[i] = np.arange(16) * (i + 0.5)
        whole = f.create_dataset("whole", (n, 5), dtype="i4")
        with whole.collective:
            whole[me] = np.arange(5) + 10 * me
        f.attrs["ranks"] = n
    with h5py.File("parallel.h5", "r", driver="mpio", comm=world) as f:
        say(float(f["rows"][:].sum()), f["whole"][:].tolist(), int(f.attrs["ranks"]), float(f["rows"][me % 28, 3]))


def petsc4py():
    import petsc4py
    petsc4py.init(["x"], comm=world)
    from petsc4py import PETSc
    m = 24
    A = PETSc.Mat().createAIJ([m * m, m * m], nnz=(5, 4))
    first, last = A.getOwnershipRange()
    for row in range(first, last):
        i, j = divmod(row, m)
        A[row, row] = 4.1
        for k in [row - m] * (i > 0) + [row + m] * (i < m - 1) + [row - 1] * (j > 0) + [row + 1] * (j < m - 1):
            A[row, k] = -1
    A.assemble()
    x, b = A.createVecs()
    b.set(1)
    for solver, precond, package in (("cg", "jacobi", None), ("gmres", "bjacobi", None), ("pipecg", "jacobi", None), ("cg", "hypre", None),
                                     ("cg", "gamg", None), ("preonly", "lu", "mumps"), ("preonly", "lu", "superlu_dist")):
        ksp = PETSc.KSP().create(world)
        ksp.setOperators(A)
        ksp.setType(solver)
        pc = ksp.getPC()
        pc.setType(precond)
        if package:
            pc.setFactorSolverType(package)
        ksp.setTolerances(rtol=1e-10)
        ksp.setFromOptions()
        x.set(0)
        ksp.solve(b, x)
        say(solver, precond, package, ksp.getIterationNumber(), "%.9f" % x.norm(), int(ksp.getConvergedReason()))
        ksp.destroy()
    part = PETSc.MatPartitioning().create(world)
    part.setAdjacency(A.convert("mpiadj"))
    part.setType("ptscotch")
    part.apply(owner := PETSc.IS())
    say("ptscotch", sorted(set(world.allreduce(owner.getIndices().tolist()))))
    da = PETSc.DMDA().create([9, 8, 7], dof=2, stencil_width=1, comm=world)
    g, l = da.createGlobalVec(), da.createLocalVec()
    s, e = g.getOwnershipRange()
    g.setArray(np.arange(s, e, dtype=float))
    da.globalToLocal(g, l)
    say("ghosts", "%.1f" % world.allreduce(l.array.sum()))


def slepc4py():
    import slepc4py
    slepc4py.init(["x"])
    from petsc4py import PETSc
    from slepc4py import SLEPc
    m = 60
    A = PETSc.Mat().createAIJ([m, m], nnz=(3, 2))
    for row in range(*A.getOwnershipRange()):
        A[row, row] = 2
        if row:
            A[row, row - 1] = -1
        if row < m - 1:
            A[row, row + 1] = -1
    A.assemble()
    for kind in ("krylovschur", "lobpcg", "jd"):
        eps = SLEPc.EPS().create(world)
        eps.setOperators(A)
        eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
        eps.setType(kind)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
        eps.setDimensions(4, 24)
        eps.setTolerances(1e-9, 2000)
        eps.solve()
        say(kind, ["%.6f" % eps.getEigenvalue(i).real for i in range(4)])


def mpi4py_fft():
    from mpi4py_fft import PFFT, DistArray, newDistArray
    for slab in (True, False):
        fft = PFFT(world, [16, 15, 14], axes=(0, 1, 2), dtype=float, slab=slab)
        u = newDistArray(fft, False)
        where = np.ix_(*[np.arange(s.start, s.stop) for s in fft.local_slice(False)])
        u[:] = np.sin(where[0]) + where[1] * 0.25 + np.cos(where[2] * 2.0)
        hat = fft.forward(u, normalize=True)
        back = fft.backward(hat)
        say(slab, "%.8f" % world.allreduce(float((abs(hat) ** 2).sum())), world.allreduce(bool(np.allclose(back, u)), op=MPI.LAND))
    a = DistArray([8, 7, 6], subcomm=[0, 1, 0] if n <= 7 else None, dtype=int, val=me)
    b = a.redistribute(2)
    say(world.allreduce(int(b.sum())), world.allgather(list(b.shape)))


globals()[sys.argv[1]]()
