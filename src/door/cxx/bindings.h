// bindings.h -- the classes of MPI:: (MPI 2.2 chapter 16) in the layout of Open MPI's header: each object has the address of its virtual
// functions and a handle of C.
//
// Programs have most functions inline, from that header; objects that this library makes (MPI::COMM_WORLD) are called by their virtual
// functions from here.  So what counts is the ORDER of the virtual functions of a class, which is that of Open MPI 3 and 4, and the names of
// what is not inline there.  test/doors/cxx_tables.py compares all of it with that library, test/doors/cxx_points.cc calls nearly all virtual
// functions.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef GW_DOOR_CXX_BINDINGS_H
#define GW_DOOR_CXX_BINDINGS_H

// The names of Open MPI's structs are part of the names of functions.
#define MPI_Comm_       ompi_communicator_t
#define MPI_Datatype_   ompi_datatype_t
#define MPI_Errhandler_ ompi_errhandler_t
#define MPI_File_       ompi_file_t
#define MPI_Group_      ompi_group_t
#define MPI_Info_       ompi_info_t
#define MPI_Op_         ompi_op_t
#define MPI_Request_    ompi_request_t
#define MPI_Win_        ompi_win_t
extern "C" {
#include "mpi.h" // generated: the C interface of the door
}

#pragma GCC visibility push(default)
namespace MPI
{

class Comm;
class Intercomm;
class Cartcomm;
class Graphcomm;
typedef MPI_Aint Aint;
typedef long long Offset;

// Calls that answer through a pointer, by the type of what they answer.
template <class T, class F, class... Args> T answer_of(F *call, Args... args)
{
    T out = T();
    call(args..., &out);
    return out;
}

class Datatype
{
  public:
    Datatype() : mpi_datatype(MPI_DATATYPE_NULL) {}
    Datatype(MPI_Datatype h) : mpi_datatype(h) {}
    Datatype(const Datatype &other) : mpi_datatype(other.mpi_datatype) {}
    Datatype &operator=(const Datatype &other) = default;
    virtual ~Datatype() {}
    operator MPI_Datatype() const { return mpi_datatype; }

    typedef int Copy_attr_function(const Datatype &, int, void *, const void *, void *, bool &);
    typedef int Delete_attr_function(Datatype &, int, void *, void *);

    virtual Datatype Create_contiguous(int n) const { return answer_of<MPI_Datatype>(MPI_Type_contiguous, n, mpi_datatype); }
    virtual Datatype Create_vector(int n, int block, int stride) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_vector, n, block, stride, mpi_datatype);
    }
    virtual Datatype Create_indexed(int n, const int blocks[], const int displs[]) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_indexed, n, blocks, displs, mpi_datatype);
    }
    virtual Datatype Create_hindexed(int n, const int blocks[], const Aint displs[]) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_hindexed, n, blocks, displs, mpi_datatype);
    }
    virtual Datatype Create_hvector(int n, int block, Aint stride) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_hvector, n, block, stride, mpi_datatype);
    }
    virtual Datatype Create_indexed_block(int n, int block, const int displs[]) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_indexed_block, n, block, displs, mpi_datatype);
    }
    virtual Datatype Create_resized(const Aint lb, const Aint extent) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_resized, mpi_datatype, lb, extent);
    }
    virtual int Get_size() const { return answer_of<int>(MPI_Type_size, mpi_datatype); }
    virtual void Get_extent(Aint &lb, Aint &extent) const { MPI_Type_get_extent(mpi_datatype, &lb, &extent); }
    virtual void Get_true_extent(Aint &lb, Aint &extent) const { MPI_Type_get_true_extent(mpi_datatype, &lb, &extent); }
    virtual void Commit() { MPI_Type_commit(&mpi_datatype); }
    virtual void Free();
    virtual void Pack(const void *in, int n, void *out, int size, int &position, const Comm &comm) const;
    virtual void Unpack(const void *in, int size, void *out, int n, int &position, const Comm &comm) const;
    virtual int Pack_size(int n, const Comm &comm) const;
    virtual void Pack_external(const char *rep, const void *in, int n, void *out, Aint size, Aint &position) const
    {
        MPI_Pack_external(rep, in, n, mpi_datatype, out, size, &position);
    }
    virtual Aint Pack_external_size(const char *rep, int n) const
    {
        return answer_of<Aint>(MPI_Pack_external_size, rep, n, mpi_datatype);
    }
    virtual void Unpack_external(const char *rep, const void *in, Aint size, Aint &position, void *out, int n) const
    {
        MPI_Unpack_external(rep, in, size, &position, out, n, mpi_datatype);
    }
    virtual Datatype Create_subarray(int dims, const int sizes[], const int parts[], const int starts[], int order) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_subarray, dims, sizes, parts, starts, order, mpi_datatype);
    }
    virtual Datatype Create_darray(int size, int rank, int dims, const int sizes[], const int distribs[], const int dargs[],
                                   const int grid[], int order) const
    {
        return answer_of<MPI_Datatype>(MPI_Type_create_darray, size, rank, dims, sizes, distribs, dargs, grid, order, mpi_datatype);
    }
    virtual Datatype Dup() const { return answer_of<MPI_Datatype>(MPI_Type_dup, mpi_datatype); }
    virtual void Delete_attr(int key) { MPI_Type_delete_attr(mpi_datatype, key); }
    virtual bool Get_attr(int key, void *value) const { return answer_of<int>(MPI_Type_get_attr, mpi_datatype, key, value); }
    virtual void Get_contents(int n_ints, int n_addresses, int n_types, int ints[], Aint addresses[], Datatype types[]) const;
    virtual void Get_envelope(int &n_ints, int &n_addresses, int &n_types, int &combiner) const
    {
        MPI_Type_get_envelope(mpi_datatype, &n_ints, &n_addresses, &n_types, &combiner);
    }
    virtual void Get_name(char *name, int &length) const { MPI_Type_get_name(mpi_datatype, name, &length); }
    virtual void Set_attr(int key, const void *value) { MPI_Type_set_attr(mpi_datatype, key, const_cast<void *>(value)); }
    virtual void Set_name(const char *name) { MPI_Type_set_name(mpi_datatype, name); }

  protected:
    static int do_create_keyval(MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *extra, int &key);
    MPI_Datatype mpi_datatype;
};

// Not polymorphic: the program's own copy of these functions is found by nothing but its type.
class Exception
{
  public:
    Exception(int code);
    ~Exception() { delete[] error_string; }
    Exception(const Exception &other);
    Exception &operator=(const Exception &) = delete;

  protected:
    int error_code;
    char *error_string;
    int error_class;
};

class Op
{
  public:
    typedef void function(const void *in, void *inout, int n, const Datatype &type);
    Op(MPI_Op h) : mpi_op(h) {}
    virtual ~Op() {}
    operator MPI_Op() const { return mpi_op; }
    virtual void Init(function *fn, bool commute);
    virtual void Free() { MPI_Op_free(&mpi_op); }
    virtual void Reduce_local(const void *in, void *inout, int n, const Datatype &type) const
    {
        MPI_Reduce_local(in, inout, n, type, mpi_op);
    }
    virtual bool Is_commutative() const { return answer_of<int>(MPI_Op_commutative, mpi_op); }

  protected:
    MPI_Op mpi_op;
};

class Status
{
  public:
    Status() : mpi_status() {}
    Status(const MPI_Status &s) : mpi_status(s) {}
    virtual ~Status() {}
    operator MPI_Status() const { return mpi_status; }
    MPI_Status *c() { return &mpi_status; }
    virtual int Get_count(const Datatype &type) const { return answer_of<int>(MPI_Get_count, &mpi_status, (MPI_Datatype)type); }
    virtual bool Is_cancelled() const { return answer_of<int>(MPI_Test_cancelled, &mpi_status); }
    virtual int Get_elements(const Datatype &type) const
    {
        return answer_of<int>(MPI_Get_elements, &mpi_status, (MPI_Datatype)type);
    }
    virtual int Get_source() const { return mpi_status.MPI_SOURCE; }
    virtual void Set_source(int source) { mpi_status.MPI_SOURCE = source; }
    virtual int Get_tag() const { return mpi_status.MPI_TAG; }
    virtual void Set_tag(int tag) { mpi_status.MPI_TAG = tag; }
    virtual int Get_error() const { return mpi_status.MPI_ERROR; }
    virtual void Set_error(int error) { mpi_status.MPI_ERROR = error; }
    virtual void Set_elements(const Datatype &type, int n) { MPI_Status_set_elements(&mpi_status, type, n); }
    virtual void Set_cancelled(bool is_cancelled) { MPI_Status_set_cancelled(&mpi_status, is_cancelled); }

  protected:
    MPI_Status mpi_status;
};

class Request
{
  public:
    Request(MPI_Request h) : mpi_request(h) {}
    virtual ~Request() {}
    virtual void Wait(Status &status) { MPI_Wait(&mpi_request, status.c()); }
    virtual void Wait() { MPI_Wait(&mpi_request, MPI_STATUS_IGNORE); }
    virtual bool Test(Status &status) { return test(status.c()); }
    virtual bool Test() { return test(MPI_STATUS_IGNORE); }
    virtual void Free() { MPI_Request_free(&mpi_request); }
    virtual void Cancel() const { MPI_Cancel(const_cast<MPI_Request *>(&mpi_request)); }
    virtual bool Get_status(Status &status) const;
    virtual bool Get_status() const { return get_status(MPI_STATUS_IGNORE); }

  protected:
    bool test(MPI_Status *status)
    {
        int is_done = 0;
        MPI_Test(&mpi_request, &is_done, status);
        return is_done;
    }
    bool get_status(MPI_Status *status) const
    {
        int is_done = 0;
        MPI_Request_get_status(mpi_request, &is_done, status);
        return is_done;
    }
    MPI_Request mpi_request;
};

class Prequest : public Request
{
  public:
    Prequest(MPI_Request h) : Request(h) {}
    virtual ~Prequest() {}
    virtual void Start() { MPI_Start(&mpi_request); }
};

class Grequest : public Request
{
  public:
    typedef int Query_function(void *, Status &);
    typedef int Free_function(void *);
    typedef int Cancel_function(void *, bool);
    Grequest(MPI_Request h) : Request(h) {}
    virtual ~Grequest() {}
    virtual void Complete() { MPI_Grequest_complete(mpi_request); }
    struct Intercept_data_t { // the program makes it, and the request's free function below deletes it
        void *extra;
        Query_function *query;
        Free_function *free;
        Cancel_function *cancel;
    };
};

class Group
{
  public:
    Group(MPI_Group h) : mpi_group(h) {}
    virtual ~Group() {}
    operator MPI_Group() const { return mpi_group; }
    virtual int Get_size() const { return answer_of<int>(MPI_Group_size, mpi_group); }
    virtual int Get_rank() const { return answer_of<int>(MPI_Group_rank, mpi_group); }
    virtual Group Incl(int n, const int ranks[]) const { return answer_of<MPI_Group>(MPI_Group_incl, mpi_group, n, ranks); }
    virtual Group Excl(int n, const int ranks[]) const { return answer_of<MPI_Group>(MPI_Group_excl, mpi_group, n, ranks); }
    virtual Group Range_incl(int n, const int ranges[][3]) const
    {
        return answer_of<MPI_Group>(MPI_Group_range_incl, mpi_group, n, const_cast<int(*)[3]>(ranges));
    }
    virtual Group Range_excl(int n, const int ranges[][3]) const
    {
        return answer_of<MPI_Group>(MPI_Group_range_excl, mpi_group, n, const_cast<int(*)[3]>(ranges));
    }
    virtual void Free() { MPI_Group_free(&mpi_group); }

  protected:
    MPI_Group mpi_group;
};

class Errhandler
{
  public:
    Errhandler(MPI_Errhandler h) : mpi_errhandler(h) {}
    virtual ~Errhandler() {}
    operator MPI_Errhandler() const { return mpi_errhandler; }
    virtual void Free() { MPI_Errhandler_free(&mpi_errhandler); }

  private:
    MPI_Errhandler mpi_errhandler;
};

class Info
{
  public:
    Info(MPI_Info h) : mpi_info(h) {}
    virtual ~Info() {}
    operator MPI_Info() const { return mpi_info; }
    virtual void Delete(const char *key) { MPI_Info_delete(mpi_info, key); }
    virtual Info Dup() const { return answer_of<MPI_Info>(MPI_Info_dup, mpi_info); }
    virtual void Free() { MPI_Info_free(&mpi_info); }
    virtual bool Get(const char *key, int length, char *value) const
    {
        return answer_of<int>(MPI_Info_get, mpi_info, key, length, value);
    }
    virtual int Get_nkeys() const { return answer_of<int>(MPI_Info_get_nkeys, mpi_info); }
    virtual void Get_nthkey(int n, char *key) const { MPI_Info_get_nthkey(mpi_info, n, key); }
    virtual bool Get_valuelen(const char *key, int &length) const
    {
        return answer_of<int>(MPI_Info_get_valuelen, mpi_info, key, &length);
    }
    virtual void Set(const char *key, const char *value) { MPI_Info_set(mpi_info, key, value); }

  protected:
    MPI_Info mpi_info;
};

class Win
{
  public:
    Win(MPI_Win h) : mpi_win(h) {}
    virtual ~Win() {}
    typedef int Copy_attr_function(const Win &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Win &, int, void *, void *);
    typedef void Errhandler_function(Win &, int *, ...);

    static Errhandler Create_errhandler(Errhandler_function *fn);
    virtual void Set_errhandler(const Errhandler &handler) const { MPI_Win_set_errhandler(mpi_win, handler); }
    virtual Errhandler Get_errhandler() const { return answer_of<MPI_Errhandler>(MPI_Win_get_errhandler, mpi_win); }
    virtual void Accumulate(const void *from, int n, const Datatype &type, int rank, Aint disp, int target_n,
                            const Datatype &target_type, const Op &op) const
    {
        MPI_Accumulate(from, n, type, rank, disp, target_n, target_type, op, mpi_win);
    }
    virtual void Complete() const { MPI_Win_complete(mpi_win); }
    virtual void Fence(int assertion) const { MPI_Win_fence(assertion, mpi_win); }
    virtual void Free();
    virtual void Get(const void *to, int n, const Datatype &type, int rank, Aint disp, int target_n,
                     const Datatype &target_type) const
    {
        MPI_Get(const_cast<void *>(to), n, type, rank, disp, target_n, target_type, mpi_win);
    }
    virtual Group Get_group() const { return answer_of<MPI_Group>(MPI_Win_get_group, mpi_win); }
    virtual void Lock(int kind, int rank, int assertion) const { MPI_Win_lock(kind, rank, assertion, mpi_win); }
    virtual void Post(const Group &group, int assertion) const { MPI_Win_post(group, assertion, mpi_win); }
    virtual void Put(const void *from, int n, const Datatype &type, int rank, Aint disp, int target_n,
                     const Datatype &target_type) const
    {
        MPI_Put(from, n, type, rank, disp, target_n, target_type, mpi_win);
    }
    virtual void Start(const Group &group, int assertion) const { MPI_Win_start(group, assertion, mpi_win); }
    virtual bool Test() const { return answer_of<int>(MPI_Win_test, mpi_win); }
    virtual void Unlock(int rank) const { MPI_Win_unlock(rank, mpi_win); }
    virtual void Wait() const { MPI_Win_wait(mpi_win); }
    virtual void Call_errhandler(int code) const { MPI_Win_call_errhandler(mpi_win, code); }
    virtual void Delete_attr(int key) { MPI_Win_delete_attr(mpi_win, key); }
    virtual void Get_name(char *name, int &length) const { MPI_Win_get_name(mpi_win, name, &length); }
    virtual void Set_attr(int key, const void *value) { MPI_Win_set_attr(mpi_win, key, const_cast<void *>(value)); }
    virtual void Set_name(const char *name) { MPI_Win_set_name(mpi_win, name); }

  protected:
    static int do_create_keyval(MPI_Win_copy_attr_function *, MPI_Win_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *extra, int &key);
    MPI_Win mpi_win;
};

class File
{
  public:
    File(MPI_File h) : mpi_file(h) {}
    virtual ~File() {}
    typedef void Errhandler_function(File &, int *, ...);
    static Errhandler Create_errhandler(Errhandler_function *fn);
    void Close();

  protected:
    MPI_File mpi_file;
};

} // namespace MPI
#pragma GCC visibility pop

#include "door/cxx/comms.h"

#endif
