// cxx_mpich.cc -- for abi.sh: functions of users with MPI::'s signatures, through MPICH's library for C++.
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

static int failed, handled[3], copied, removed;
static void want(bool ok, const char *what)
{
    if (!ok) std::printf("not so: %s\n", what);
    failed += !ok;
}

/* a + b + 1 */
static void one_more(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    want(type == MPI::INT, "type of an operation");
    for (int i = 0; i < n; i++) ((int *)inout)[i] += ((const int *)in)[i] + 1;
}

template <class Owner> static int copy(const Owner &owner, int key, void *extra, void *in, void *out, bool &flag)
{
    want(extra == &failed && key != MPI::KEYVAL_INVALID, "arguments of a copy function");
    *(void **)out = (char *)in + 1;
    flag = true;
    copied++;
    return MPI::SUCCESS;
}
template <class Owner> static int remove_value(Owner &owner, int key, void *value, void *extra)
{
    want(extra == &failed, "arguments of a delete function");
    removed += (int)((char *)value - (char *)&failed);
    return MPI::SUCCESS;
}

static void on_comm(MPI::Comm &comm, int *code, ...)
{
    want(comm.Get_size() == MPI::COMM_WORLD.Get_size() && MPI::Get_error_class(*code) == MPI::ERR_RANK, "error of a communicator");
    handled[0]++;
}
static void on_win(MPI::Win &win, int *code, ...)
{
    want(MPI::Get_error_class(*code) == MPI::ERR_RANK, "error of a window");
    handled[1]++;
}
static void on_file(MPI::File &file, int *code, ...)
{
    want(MPI::Get_error_class(*code) == MPI::ERR_ARG, "error of a file");
    handled[2]++;
}

static void attributes()
{
    void *value = NULL;
    int key = MPI::Comm::Create_keyval(copy<MPI::Comm>, remove_value<MPI::Comm>, &failed);
    MPI::Intracomm one = MPI::COMM_WORLD.Dup();
    one.Set_attr(key, &failed);
    MPI::Intracomm two = one.Dup();
    want(two.Get_attr(key, &value) && value == (char *)&failed + 1, "attribute of a communicator's copy");
    two.Free(), one.Free();
    want(copied == 1 && removed == 1, "attributes of communicators");
    MPI::Comm::Free_keyval(key);

    key = MPI::Datatype::Create_keyval(copy<MPI::Datatype>, remove_value<MPI::Datatype>, &failed);
    MPI::Datatype type = MPI::INT.Dup();
    type.Set_attr(key, &failed);
    MPI::Datatype other = type.Dup();
    want(other.Get_attr(key, &value) && value == (char *)&failed + 1, "attribute of a datatype's copy");
    other.Free(), type.Free();
    want(copied == 2 && removed == 2, "attributes of datatypes");
    MPI::Datatype::Free_keyval(key);

    key = MPI::Win::Create_keyval(copy<MPI::Win>, remove_value<MPI::Win>, &failed);
    MPI::Win win = MPI::Win::Create(&value, sizeof value, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Set_attr(key, (char *)&failed + 5);
    win.Free();
    want(copied == 2 && removed == 7, "attributes of windows");
    MPI::Win::Free_keyval(key);
}

static void errors(const char *name)
{
    int memory = 0, size = MPI::COMM_WORLD.Get_size();
    MPI::Errhandler comm = MPI::Comm::Create_errhandler(on_comm), win = MPI::Win::Create_errhandler(on_win),
                    file = MPI::File::Create_errhandler(on_file);
    MPI::COMM_WORLD.Set_errhandler(comm);
    MPI::COMM_WORLD.Send(&memory, 1, MPI::INT, size, 1);
    want(handled[0] == 1, "an error handler of a communicator");
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    MPI::Win w = MPI::Win::Create(&memory, sizeof memory, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    w.Set_errhandler(win);
    w.Call_errhandler(MPI::ERR_RANK);
    want(handled[1] == 1, "an error handler of a window");
    w.Free();
    MPI::File f = MPI::File::Open(MPI::COMM_WORLD, name, MPI::MODE_CREATE | MPI::MODE_RDWR, MPI::INFO_NULL);
    f.Set_errhandler(file);
    f.Call_errhandler(MPI::ERR_ARG);
    want(handled[2] == 1, "an error handler of a file");
    f.Close();
    comm.Free(), win.Free(), file.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int size = MPI::COMM_WORLD.Get_size(), one = 1, sum = 0;
    MPI::Op op;
    op.Init(one_more, true);
    MPI::COMM_WORLD.Allreduce(&one, &sum, 1, MPI::INT, op);
    want(sum == 2 * size - 1, "an operation");
    op.Free();
    attributes();
    errors(argv[1]);
    MPI::COMM_WORLD.Barrier();
    if (MPI::COMM_WORLD.Get_rank() == 0 && !failed) std::printf("C++: all points\n");
    MPI::Finalize();
    return failed > 0;
}
