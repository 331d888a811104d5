// comms.h -- the classes of communicators of MPI::.  Of bindings.h, which includes it.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef GW_DOOR_CXX_COMMS_H
#define GW_DOOR_CXX_COMMS_H

#include "door/cxx/bindings.h"

#pragma GCC visibility push(default)
namespace MPI
{

class Comm_Null
{
  public:
    Comm_Null(MPI_Comm h) : mpi_comm(h) {}
    virtual ~Comm_Null() {}
    operator MPI_Comm() const { return mpi_comm; }

  protected:
    MPI_Comm mpi_comm;
};

class Comm : public Comm_Null
{
  public:
    Comm();
    Comm(const Comm_Null &other);
    Comm(MPI_Comm h) : Comm_Null(h) {}
    typedef int Copy_attr_function(const Comm &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Comm &, int, void *, void *);
    typedef void Errhandler_function(Comm &, int *, ...);

    // ---- messages ----
    virtual void Send(const void *b, int n, const Datatype &t, int rank, int tag) const { MPI_Send(b, n, t, rank, tag, mpi_comm); }
    virtual void Recv(void *b, int n, const Datatype &t, int rank, int tag, Status &status) const
    {
        MPI_Recv(b, n, t, rank, tag, mpi_comm, status.c());
    }
    virtual void Recv(void *b, int n, const Datatype &t, int rank, int tag) const
    {
        MPI_Recv(b, n, t, rank, tag, mpi_comm, MPI_STATUS_IGNORE);
    }
    virtual void Bsend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        MPI_Bsend(b, n, t, rank, tag, mpi_comm);
    }
    virtual void Ssend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        MPI_Ssend(b, n, t, rank, tag, mpi_comm);
    }
    virtual void Rsend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        MPI_Rsend(b, n, t, rank, tag, mpi_comm);
    }
    virtual Request Isend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Isend, b, n, t, rank, tag);
    }
    virtual Request Ibsend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Ibsend, b, n, t, rank, tag);
    }
    virtual Request Issend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Issend, b, n, t, rank, tag);
    }
    virtual Request Irsend(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Irsend, b, n, t, rank, tag);
    }
    virtual Request Irecv(void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Irecv, b, n, t, rank, tag);
    }
    virtual bool Iprobe(int rank, int tag, Status &status) const { return iprobe(rank, tag, status.c()); }
    virtual bool Iprobe(int rank, int tag) const { return iprobe(rank, tag, MPI_STATUS_IGNORE); }
    virtual void Probe(int rank, int tag, Status &status) const { MPI_Probe(rank, tag, mpi_comm, status.c()); }
    virtual void Probe(int rank, int tag) const { MPI_Probe(rank, tag, mpi_comm, MPI_STATUS_IGNORE); }
    virtual Prequest Send_init(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Send_init, b, n, t, rank, tag);
    }
    virtual Prequest Bsend_init(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Bsend_init, b, n, t, rank, tag);
    }
    virtual Prequest Ssend_init(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Ssend_init, b, n, t, rank, tag);
    }
    virtual Prequest Rsend_init(const void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Rsend_init, b, n, t, rank, tag);
    }
    virtual Prequest Recv_init(void *b, int n, const Datatype &t, int rank, int tag) const
    {
        return start(MPI_Recv_init, b, n, t, rank, tag);
    }
    virtual void Sendrecv(const void *b, int n, const Datatype &t, int to, int tag, void *rb, int rn, const Datatype &rt, int from,
                          int rtag, Status &status) const
    {
        MPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, mpi_comm, status.c());
    }
    virtual void Sendrecv(const void *b, int n, const Datatype &t, int to, int tag, void *rb, int rn, const Datatype &rt, int from,
                          int rtag) const
    {
        MPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, mpi_comm, MPI_STATUS_IGNORE);
    }
    virtual void Sendrecv_replace(void *b, int n, const Datatype &t, int to, int tag, int from, int rtag, Status &status) const
    {
        MPI_Sendrecv_replace(b, n, t, to, tag, from, rtag, mpi_comm, status.c());
    }
    virtual void Sendrecv_replace(void *b, int n, const Datatype &t, int to, int tag, int from, int rtag) const
    {
        MPI_Sendrecv_replace(b, n, t, to, tag, from, rtag, mpi_comm, MPI_STATUS_IGNORE);
    }

    // ---- the communicator ----
    virtual Group Get_group() const { return answer_of<MPI_Group>(MPI_Comm_group, mpi_comm); }
    virtual int Get_size() const { return answer_of<int>(MPI_Comm_size, mpi_comm); }
    virtual int Get_rank() const { return answer_of<int>(MPI_Comm_rank, mpi_comm); }
    virtual Comm &Clone() const = 0;
    virtual void Free() { MPI_Comm_free(&mpi_comm); }
    virtual bool Is_inter() const { return answer_of<int>(MPI_Comm_test_inter, mpi_comm); }

    // ---- collectives ----
    virtual void Barrier() const { MPI_Barrier(mpi_comm); }
    virtual void Bcast(void *b, int n, const Datatype &t, int root) const { MPI_Bcast(b, n, t, root, mpi_comm); }
    virtual void Gather(const void *b, int n, const Datatype &t, void *rb, int rn, const Datatype &rt, int root) const
    {
        MPI_Gather(b, n, t, rb, rn, rt, root, mpi_comm);
    }
    virtual void Gatherv(const void *b, int n, const Datatype &t, void *rb, const int rn[], const int displs[], const Datatype &rt,
                         int root) const
    {
        MPI_Gatherv(b, n, t, rb, rn, displs, rt, root, mpi_comm);
    }
    virtual void Scatter(const void *b, int n, const Datatype &t, void *rb, int rn, const Datatype &rt, int root) const
    {
        MPI_Scatter(b, n, t, rb, rn, rt, root, mpi_comm);
    }
    virtual void Scatterv(const void *b, const int n[], const int displs[], const Datatype &t, void *rb, int rn, const Datatype &rt,
                          int root) const
    {
        MPI_Scatterv(b, n, displs, t, rb, rn, rt, root, mpi_comm);
    }
    virtual void Allgather(const void *b, int n, const Datatype &t, void *rb, int rn, const Datatype &rt) const
    {
        MPI_Allgather(b, n, t, rb, rn, rt, mpi_comm);
    }
    virtual void Allgatherv(const void *b, int n, const Datatype &t, void *rb, const int rn[], const int displs[],
                            const Datatype &rt) const
    {
        MPI_Allgatherv(b, n, t, rb, rn, displs, rt, mpi_comm);
    }
    virtual void Alltoall(const void *b, int n, const Datatype &t, void *rb, int rn, const Datatype &rt) const
    {
        MPI_Alltoall(b, n, t, rb, rn, rt, mpi_comm);
    }
    virtual void Alltoallv(const void *b, const int n[], const int displs[], const Datatype &t, void *rb, const int rn[],
                           const int rdispls[], const Datatype &rt) const
    {
        MPI_Alltoallv(b, n, displs, t, rb, rn, rdispls, rt, mpi_comm);
    }
    virtual void Alltoallw(const void *b, const int n[], const int displs[], const Datatype t[], void *rb, const int rn[],
                           const int rdispls[], const Datatype rt[]) const;
    virtual void Reduce(const void *b, void *rb, int n, const Datatype &t, const Op &op, int root) const
    {
        MPI_Reduce(b, rb, n, t, op, root, mpi_comm);
    }
    virtual void Allreduce(const void *b, void *rb, int n, const Datatype &t, const Op &op) const
    {
        MPI_Allreduce(b, rb, n, t, op, mpi_comm);
    }
    virtual void Reduce_scatter(const void *b, void *rb, int n[], const Datatype &t, const Op &op) const
    {
        MPI_Reduce_scatter(b, rb, n, t, op, mpi_comm);
    }

    // ---- the rest ----
    virtual void Disconnect() { MPI_Comm_disconnect(&mpi_comm); }
    virtual void Get_name(char *name, int &length) const { MPI_Comm_get_name(mpi_comm, name, &length); }
    virtual void Set_name(const char *name) { MPI_Comm_set_name(mpi_comm, name); }
    virtual int Get_topology() const { return answer_of<int>(MPI_Topo_test, mpi_comm); }
    virtual void Abort(int code) { MPI_Abort(mpi_comm, code); }
    static Errhandler Create_errhandler(Errhandler_function *fn);
    virtual void Set_errhandler(const Errhandler &handler) { MPI_Comm_set_errhandler(mpi_comm, handler); }
    virtual Errhandler Get_errhandler() const { return answer_of<MPI_Errhandler>(MPI_Comm_get_errhandler, mpi_comm); }
    virtual void Set_attr(int key, const void *value) const { MPI_Comm_set_attr(mpi_comm, key, const_cast<void *>(value)); }
    virtual bool Get_attr(int key, void *value) const { return answer_of<int>(MPI_Comm_get_attr, mpi_comm, key, value); }
    virtual void Delete_attr(int key) { MPI_Comm_delete_attr(mpi_comm, key); }

  protected:
    template <class Call, class Buffer> MPI_Request start(Call *call, Buffer *b, int n, MPI_Datatype t, int rank, int tag) const
    {
        return answer_of<MPI_Request>(call, b, n, t, rank, tag, mpi_comm);
    }
    bool iprobe(int rank, int tag, MPI_Status *status) const
    {
        int is_there = 0;
        MPI_Iprobe(rank, tag, mpi_comm, &is_there, status);
        return is_there;
    }
    static int do_create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *extra, int &key);
};

class Intracomm : public Comm
{
  public:
    Intracomm(MPI_Comm h) : Comm(h) {}
    virtual void Scan(const void *b, void *rb, int n, const Datatype &t, const Op &op) const
    {
        MPI_Scan(b, rb, n, t, op, mpi_comm);
    }
    virtual void Exscan(const void *b, void *rb, int n, const Datatype &t, const Op &op) const
    {
        MPI_Exscan(b, rb, n, t, op, mpi_comm);
    }
    virtual Intracomm &Clone() const { return *new Intracomm(dup()); }
    virtual Intracomm Create(const Group &group) const { return answer_of<MPI_Comm>(MPI_Comm_create, mpi_comm, (MPI_Group)group); }
    virtual Intracomm Split(int color, int key) const { return answer_of<MPI_Comm>(MPI_Comm_split, mpi_comm, color, key); }
    virtual Intercomm Create_intercomm(int leader, const Comm &peer, int remote_leader, int tag) const;
    virtual Cartcomm Create_cart(int n, const int dims[], const bool periods[], bool reorder) const;
    virtual Graphcomm Create_graph(int n, const int index[], const int edges[], bool reorder) const;
    virtual Intercomm Accept(const char *port, const Info &info, int root) const;
    virtual Intercomm Connect(const char *port, const Info &info, int root) const;
    virtual Intercomm Spawn(const char *command, const char *argv[], int n, const Info &info, int root) const;
    virtual Intercomm Spawn(const char *command, const char *argv[], int n, const Info &info, int root, int codes[]) const;
    virtual Intercomm Spawn_multiple(int n, const char *commands[], const char **argvs[], const int procs[], const Info infos[],
                                     int root);
    virtual Intercomm Spawn_multiple(int n, const char *commands[], const char **argvs[], const int procs[], const Info infos[],
                                     int root, int codes[]);

  protected:
    MPI_Comm dup() const { return answer_of<MPI_Comm>(MPI_Comm_dup, mpi_comm); }
};

class Cartcomm : public Intracomm
{
  public:
    Cartcomm(MPI_Comm h) : Intracomm(h) {}
    virtual Cartcomm &Clone() const { return *new Cartcomm(dup()); }
    virtual int Get_dim() const { return answer_of<int>(MPI_Cartdim_get, mpi_comm); }
    virtual void Get_topo(int most, int dims[], bool periods[], int coords[]) const;
    virtual int Get_cart_rank(const int coords[]) const { return answer_of<int>(MPI_Cart_rank, mpi_comm, coords); }
    virtual void Get_coords(int rank, int most, int coords[]) const { MPI_Cart_coords(mpi_comm, rank, most, coords); }
    virtual void Shift(int dim, int disp, int &from, int &to) const { MPI_Cart_shift(mpi_comm, dim, disp, &from, &to); }
    virtual Cartcomm Sub(const bool remain[]) const;
    virtual int Map(int n, const int dims[], const bool periods[]) const;
};

class Graphcomm : public Intracomm
{
  public:
    Graphcomm(MPI_Comm h) : Intracomm(h) {}
    virtual Graphcomm &Clone() const { return *new Graphcomm(dup()); }
    virtual void Get_dims(int nodes[], int edges[]) const { MPI_Graphdims_get(mpi_comm, nodes, edges); }
    virtual void Get_topo(int most_index, int most_edges, int index[], int edges[]) const
    {
        MPI_Graph_get(mpi_comm, most_index, most_edges, index, edges);
    }
    virtual int Get_neighbors_count(int rank) const { return answer_of<int>(MPI_Graph_neighbors_count, mpi_comm, rank); }
    virtual void Get_neighbors(int rank, int most, int neighbors[]) const { MPI_Graph_neighbors(mpi_comm, rank, most, neighbors); }
    virtual int Map(int n, const int index[], const int edges[]) const
    {
        return answer_of<int>(MPI_Graph_map, mpi_comm, n, index, edges);
    }
};

class Intercomm : public Comm
{
  public:
    Intercomm(MPI_Comm h) : Comm(h) {}
    virtual Intercomm &Clone() const { return *new Intercomm(answer_of<MPI_Comm>(MPI_Comm_dup, mpi_comm)); }
    virtual int Get_remote_size() const { return answer_of<int>(MPI_Comm_remote_size, mpi_comm); }
    virtual Group Get_remote_group() const { return answer_of<MPI_Group>(MPI_Comm_remote_group, mpi_comm); }
    virtual Intracomm Merge(bool high) const { return answer_of<MPI_Comm>(MPI_Intercomm_merge, mpi_comm, (int)high); }
    virtual Intercomm Create(const Group &group) const { return answer_of<MPI_Comm>(MPI_Comm_create, mpi_comm, (MPI_Group)group); }
    virtual Intercomm Split(int color, int key) const { return answer_of<MPI_Comm>(MPI_Comm_split, mpi_comm, color, key); }
};

} // namespace MPI
#pragma GCC visibility pop

#endif
