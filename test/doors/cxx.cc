// cxx.cc -- for abi.sh: a program in C++ by the C functions (BY_C), or by the C++ bindings (BY_MPI), says whose library it has, and a sum.
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mpi.h>

#ifndef BY_MPI
/* a + b + 1, for as many numbers as the datatype, asked by its virtual functions, says that there are bytes */
static void one_more(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    for (int i = 0; i < n * type.Get_size() / (int)sizeof(int); i++) ((int *)inout)[i] += ((const int *)in)[i] + 1;
}

/* Objects of the bindings that are made of C's handles. */
static int by_objects(int rank)
{
    int two[2] = {rank + 1, rank + 1}, got[2] = {0, 0};
    MPI::Intracomm world(MPI_COMM_WORLD), half;
    const MPI::Comm *base = &world;
    MPI::Op op;
    op.Init(one_more, false);
    MPI_Reduce(two, got, 2, MPI_INT, op, 0, MPI_COMM_WORLD);
    op.Free();
    MPI::Datatype pair = MPI::Datatype(MPI_INT).Create_contiguous(2);
    pair.Commit();
    bool ok = pair.Get_size() == 8 && base->Get_rank() == rank && (MPI_Comm)half == MPI_COMM_NULL;
    pair.Free();
    return ok && (MPI_Datatype)pair == MPI_DATATYPE_NULL && got[0] == got[1] ? got[0] : -1;
}
#endif

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, sum = 0, length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(version, &length);
#ifdef BY_MPI
    rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    MPI::COMM_WORLD.Reduce(&rank, &sum, 1, MPI::INT, MPI::SUM, 0);
#else
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
#endif
    if (rank == 0) std::printf("%.6s: %d ranks, sum %d\n", version, size, sum);
#ifndef BY_MPI
    int objects = by_objects(rank);
    if (rank == 0) std::printf("objects %d\n", objects);
#endif
    return MPI_Finalize();
}
