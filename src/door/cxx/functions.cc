// functions.cc -- what is more than one call of C among the virtual functions of MPI::, and what programs do not have inline.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include "door/cxx/bindings.h"

#include <cstring>
#include <vector>

namespace MPI
{

// ---- programs do not have these inline ----
Comm::Comm() : Comm_Null(MPI_COMM_NULL) {}
Comm::Comm(const Comm_Null &other) : Comm_Null(other) {}
void Datatype::Free() { MPI_Type_free(&mpi_datatype); }
void Win::Free() { MPI_Win_free(&mpi_win); }
void File::Close() { MPI_File_close(&mpi_file); }

// ---- datatypes, requests, operations ----
void Datatype::Pack(const void *in, int n, void *out, int size, int &position, const Comm &comm) const
{
    MPI_Pack(in, n, mpi_datatype, out, size, &position, comm);
}

void Datatype::Unpack(const void *in, int size, void *out, int n, int &position, const Comm &comm) const
{
    MPI_Unpack(in, size, &position, out, n, mpi_datatype, comm);
}

int Datatype::Pack_size(int n, const Comm &comm) const { return answer_of<int>(MPI_Pack_size, n, mpi_datatype, (MPI_Comm)comm); }

void Datatype::Get_contents(int n_ints, int n_addresses, int n_types, int ints[], Aint addresses[], Datatype types[]) const
{
    std::vector<MPI_Datatype> handles(n_types > 0 ? n_types : 0, MPI_DATATYPE_NULL);
    MPI_Type_get_contents(mpi_datatype, n_ints, n_addresses, n_types, ints, addresses, handles.data());
    for (size_t i = 0; i < handles.size(); i++) types[i] = handles[i];
}

bool Request::Get_status(Status &status) const
{
    MPI_Status s = status;
    bool is_done = get_status(&s);
    if (is_done) status = s;
    return is_done;
}

// ---- communicators ----
void Comm::Alltoallw(const void *b, const int n[], const int displs[], const Datatype t[], void *rb, const int rn[],
                     const int rdispls[], const Datatype rt[]) const
{
    int peers = Is_inter() ? answer_of<int>(MPI_Comm_remote_size, mpi_comm) : Get_size();
    std::vector<MPI_Datatype> to(b == MPI_IN_PLACE ? 0 : peers), from(peers);
    for (size_t i = 0; i < to.size(); i++) to[i] = t[i];
    for (size_t i = 0; i < from.size(); i++) from[i] = rt[i];
    MPI_Alltoallw(b, n, displs, to.data(), rb, rn, rdispls, from.data(), mpi_comm);
}

static std::vector<int> ints_of(const bool v[], int n) { return std::vector<int>(v, v + (n > 0 ? n : 0)); }

Intercomm Intracomm::Create_intercomm(int leader, const Comm &peer, int remote_leader, int tag) const
{
    return answer_of<MPI_Comm>(MPI_Intercomm_create, mpi_comm, leader, (MPI_Comm)peer, remote_leader, tag);
}

Cartcomm Intracomm::Create_cart(int n, const int dims[], const bool periods[], bool reorder) const
{
    return answer_of<MPI_Comm>(MPI_Cart_create, mpi_comm, n, dims, ints_of(periods, n).data(), (int)reorder);
}

Graphcomm Intracomm::Create_graph(int n, const int index[], const int edges[], bool reorder) const
{
    return answer_of<MPI_Comm>(MPI_Graph_create, mpi_comm, n, index, edges, (int)reorder);
}

Intercomm Intracomm::Accept(const char *port, const Info &info, int root) const
{
    return answer_of<MPI_Comm>(MPI_Comm_accept, port, (MPI_Info)info, root, mpi_comm);
}

Intercomm Intracomm::Connect(const char *port, const Info &info, int root) const
{
    return answer_of<MPI_Comm>(MPI_Comm_connect, port, (MPI_Info)info, root, mpi_comm);
}

Intercomm Intracomm::Spawn(const char *command, const char *argv[], int n, const Info &info, int root) const
{
    return Spawn(command, argv, n, info, root, MPI_ERRCODES_IGNORE);
}

Intercomm Intracomm::Spawn(const char *command, const char *argv[], int n, const Info &info, int root, int codes[]) const
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_spawn(command, const_cast<char **>(argv), n, info, root, mpi_comm, &made, codes);
    return made;
}

Intercomm Intracomm::Spawn_multiple(int n, const char *commands[], const char **argvs[], const int procs[], const Info infos[],
                                    int root)
{
    return Spawn_multiple(n, commands, argvs, procs, infos, root, MPI_ERRCODES_IGNORE);
}

Intercomm Intracomm::Spawn_multiple(int n, const char *commands[], const char **argvs[], const int procs[], const Info infos[],
                                    int root, int codes[])
{
    MPI_Comm made = MPI_COMM_NULL;
    std::vector<MPI_Info> handles(infos, infos + (Get_rank() == root && n > 0 ? n : 0)); /* those of other ranks do not count */
    MPI_Comm_spawn_multiple(n, const_cast<char **>(commands), const_cast<char ***>(argvs), procs, handles.data(), root, mpi_comm,
                            &made, codes);
    return made;
}

void Cartcomm::Get_topo(int most, int dims[], bool periods[], int coords[]) const
{
    std::vector<int> cyclic(most > 0 ? most : 0);
    MPI_Cart_get(mpi_comm, most, dims, cyclic.data(), coords);
    for (size_t i = 0; i < cyclic.size(); i++) periods[i] = cyclic[i];
}

Cartcomm Cartcomm::Sub(const bool remain[]) const
{
    return answer_of<MPI_Comm>(MPI_Cart_sub, mpi_comm, ints_of(remain, Get_dim()).data());
}

int Cartcomm::Map(int n, const int dims[], const bool periods[]) const
{
    return answer_of<int>(MPI_Cart_map, mpi_comm, n, dims, ints_of(periods, n).data());
}

// ---- MPI::Exception ----
Exception::Exception(int code) : error_code(code), error_string(new char[MPI_MAX_ERROR_STRING]()), error_class(-1)
{
    int length;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, error_string, &length);
}

Exception::Exception(const Exception &other)
    : error_code(other.error_code), error_string(new char[MPI_MAX_ERROR_STRING]), error_class(other.error_class)
{
    std::memcpy(error_string, other.error_string, MPI_MAX_ERROR_STRING);
}

} // namespace MPI
