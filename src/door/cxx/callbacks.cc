// callbacks.cc -- calls functions of users with MPI::'s signatures: operations, attributes, error handlers, generalized requests, data
// representations; exceptions.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include "door/cxx/bindings.h"
#include "door/ompi_cxx.h"

#include <atomic>
#include <exception>
#include <utility>

#define EXPORT __attribute__((visibility("default")))

// Such a function is told of an object of the class that the communicator is.  An error handler may be told of none: its communicator is
// freed, and to ask of what class it was would be an error.
template <class Call> static auto with_comm(MPI_Comm h, Call call)
{
    int is_inter = 0, topology = MPI_UNDEFINED;
    MPI::Intracomm intra(h);
    if (h == MPI_COMM_NULL) return call(intra);
    MPI_Comm_test_inter(h, &is_inter);
    if (!is_inter) MPI_Topo_test(h, &topology);
    MPI::Intercomm inter(h);
    MPI::Cartcomm cart(h);
    MPI::Graphcomm graph(h);
    return is_inter ? call(inter) : topology == MPI_CART ? call(cart) : topology == MPI_GRAPH ? call(graph) : call(intra);
}
template <class Call> static auto with_owner(MPI_Comm h, Call call)
{
    return with_comm(h, [&](MPI::Comm &c) { return call(c); });
}
template <class Call> static auto with_owner(MPI_Win h, Call call)
{
    MPI::Win win(h);
    return call(win);
}
template <class Call> static auto with_owner(MPI_Datatype h, Call call)
{
    MPI::Datatype type(h);
    return call(type);
}

// ---- operations ----
// MPI::Op::Init(), which programs have inline, makes every operation with this function, and tells the door of the user's.
extern "C" EXPORT void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *n, MPI_Datatype *type, MPI::Op::function *fn);
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *n, MPI_Datatype *type, MPI::Op::function *fn)
{
    fn(in, inout, *n, MPI::Datatype(*type));
}
extern "C" void ompi_op_set_cxx_callback(MPI_Op op, ompi_cxx_function *fn);
void MPI::Op::Init(function *fn, bool commute)
{
    MPI_Op_create((MPI_User_function *)(void *)ompi_mpi_cxx_op_intercept, commute, &mpi_op);
    ompi_op_set_cxx_callback(mpi_op, (ompi_cxx_function *)fn);
}

// ---- attributes ----
// The extra state of a key that has functions of C++.  It stays: nothing says when the last attribute of a key is gone.
namespace
{
template <class CopyC, class DeleteC, class Copy, class Delete> struct key_functions {
    CopyC *copy_c;
    DeleteC *delete_c;
    Copy *copy;
    Delete *remove;
    void *extra;
    key_functions *next;
};

template <class Key, class Handle> int copy_value(Handle h, int key, void *state, void *in, void *out, int *flag)
{
    Key *k = (Key *)state;
    if (k->copy_c) return k->copy_c(h, key, k->extra, in, out, flag);
    bool is_copied = false;
    *flag = 0;
    if (!k->copy) return MPI_SUCCESS;
    int rc = with_owner(h, [&](auto &owner) { return k->copy(owner, key, k->extra, in, out, is_copied); });
    *flag = is_copied;
    return rc;
}

template <class Key, class Handle> int delete_value(Handle h, int key, void *value, void *state)
{
    Key *k = (Key *)state;
    if (k->delete_c) return k->delete_c(h, key, value, k->extra);
    if (!k->remove) return MPI_SUCCESS;
    return with_owner(h, [&](auto &owner) { return k->remove(owner, key, value, k->extra); });
}

template <class Handle, class Create, class CopyC, class DeleteC, class Copy, class Delete>
int create_key(Create *create, CopyC *copy_c, DeleteC *delete_c, Copy *copy, Delete *remove, void *extra, int &key)
{
    typedef key_functions<CopyC, DeleteC, Copy, Delete> Key;
    static std::atomic<Key *> all; // so that they are found by who looks for memory that nobody points to
    key = MPI_KEYVAL_INVALID;
    Key *k = new Key{copy_c, delete_c, copy, remove, extra, all.load()};
    while (!all.compare_exchange_weak(k->next, k)) {}
    return create(copy_value<Key, Handle>, delete_value<Key, Handle>, &key, k);
}
} // namespace

int MPI::Comm::do_create_keyval(MPI_Comm_copy_attr_function *copy_c, MPI_Comm_delete_attr_function *delete_c,
                                Copy_attr_function *copy, Delete_attr_function *remove, void *extra, int &key)
{
    return create_key<MPI_Comm>(MPI_Comm_create_keyval, copy_c, delete_c, copy, remove, extra, key);
}

int MPI::Datatype::do_create_keyval(MPI_Type_copy_attr_function *copy_c, MPI_Type_delete_attr_function *delete_c,
                                    Copy_attr_function *copy, Delete_attr_function *remove, void *extra, int &key)
{
    return create_key<MPI_Datatype>(MPI_Type_create_keyval, copy_c, delete_c, copy, remove, extra, key);
}

int MPI::Win::do_create_keyval(MPI_Win_copy_attr_function *copy_c, MPI_Win_delete_attr_function *delete_c, Copy_attr_function *copy,
                               Delete_attr_function *remove, void *extra, int &key)
{
    return create_key<MPI_Win>(MPI_Win_create_keyval, copy_c, delete_c, copy, remove, extra, key);
}

// ---- error handlers and exceptions ----
template <class Create, class C, class Function> static MPI_Errhandler create_errhandler(Create *create, C *, Function *fn)
{
    MPI_Errhandler h = MPI_ERRHANDLER_NULL;
    if (create((C *)(void *)fn, &h) == MPI_SUCCESS) godwit_ompi_cxx_errhandler(h);
    return h;
}
MPI::Errhandler MPI::Comm::Create_errhandler(Errhandler_function *fn)
{
    return create_errhandler(MPI_Comm_create_errhandler, (MPI_Comm_errhandler_function *)NULL, fn);
}
MPI::Errhandler MPI::Win::Create_errhandler(Errhandler_function *fn)
{
    return create_errhandler(MPI_Win_create_errhandler, (MPI_Win_errhandler_function *)NULL, fn);
}
MPI::Errhandler MPI::File::Create_errhandler(Errhandler_function *fn)
{
    return create_errhandler(MPI_File_create_errhandler, (MPI_File_errhandler_function *)NULL, fn);
}

static thread_local std::exception_ptr left; // an error handler by this exception
// Then the call has failed whatever the handler made of the code: a call that succeeds would not throw, and the thread's next error would.
template <class Call> static void keep_exception(int *code, Call call)
{
    const int was = *code;
    left = nullptr;
    try {
        call();
    } catch (...) {
        left = std::current_exception();
        *code = was;
    }
}

static void on_comm(ompi_cxx_function *fn, void *h, int *code)
{
    keep_exception(code,
                   [=] { with_comm((MPI_Comm)h, [=](MPI::Comm &comm) { ((MPI::Comm::Errhandler_function *)fn)(comm, code); }); });
}
static void on_win(ompi_cxx_function *fn, void *h, int *code)
{
    MPI::Win win((MPI_Win)h);
    keep_exception(code, [&] { ((MPI::Win::Errhandler_function *)fn)(win, code); });
}
static void on_file(ompi_cxx_function *fn, void *h, int *code)
{
    MPI::File file((MPI_File)h);
    keep_exception(code, [&] { ((MPI::File::Errhandler_function *)fn)(file, code); });
}

namespace MPI
{
// Debian's header says that there are no exceptions, but this number of the last error.  A program that reads it has it as its own, by the
// linker, and is not thrown at.
extern EXPORT int mpi_errno;
int mpi_errno = MPI_SUCCESS;
extern int own_errno __attribute__((alias("_ZN3MPI9mpi_errnoE"), visibility("hidden")));
} // namespace MPI

static void failed(int code, int is_thrown)
{
    if (left) std::rethrow_exception(std::exchange(left, nullptr));
    if (!is_thrown) return;
    MPI::mpi_errno = code;
    if (&MPI::mpi_errno == &MPI::own_errno) throw MPI::Exception(code);
}

__attribute__((constructor)) static void open()
{
    static const ompi_cxx_calls calls = {on_comm, on_win, on_file, failed};
    godwit_ompi_cxx(&calls);
}
namespace MPI
{
EXPORT void InitializeIntercepts();
void InitializeIntercepts() {} // MPI::Init(), which programs have inline, calls it
} // namespace MPI

// ---- generalized requests: MPI::Grequest::Start(), which programs have inline, makes them with these functions ----
typedef MPI::Grequest::Intercept_data_t Grequest_data;
extern "C" {
EXPORT int ompi_mpi_cxx_grequest_query_fn_intercept(void *state, MPI_Status *status);
EXPORT int ompi_mpi_cxx_grequest_free_fn_intercept(void *state);
EXPORT int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *state, int is_complete);
}
int ompi_mpi_cxx_grequest_query_fn_intercept(void *state, MPI_Status *status)
{
    Grequest_data *g = (Grequest_data *)state;
    MPI::Status s(*status);
    int rc = g->query(g->extra, s);
    *status = s;
    return rc;
}
int ompi_mpi_cxx_grequest_free_fn_intercept(void *state)
{
    Grequest_data *g = (Grequest_data *)state;
    int rc = g->free(g->extra);
    delete g;
    return rc;
}
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *state, int is_complete)
{
    Grequest_data *g = (Grequest_data *)state;
    return g->cancel(g->extra, is_complete);
}

// ---- data representations: each conversion function is one of C or one of C++ ----
namespace MPI
{
#pragma GCC visibility push(default)
typedef int Datarep_c_function(void *memory, MPI_Datatype type, int n, void *file, Offset position, void *extra);
typedef void Datarep_conversion_function(void *memory, Datatype &type, int n, void *file, Offset position, void *extra);
typedef void Datarep_extent_function(const Datatype &type, Aint &extent, void *extra);
void Register_datarep(const char *name, Datarep_conversion_function *read, Datarep_conversion_function *write,
                      Datarep_extent_function *extent, void *extra);
void Register_datarep(const char *name, Datarep_c_function *read, Datarep_conversion_function *write,
                      Datarep_extent_function *extent, void *extra);
void Register_datarep(const char *name, Datarep_conversion_function *read, Datarep_c_function *write,
                      Datarep_extent_function *extent, void *extra);
void Register_datarep(const char *name, Datarep_c_function *read, Datarep_c_function *write, Datarep_extent_function *extent,
                      void *extra);
#pragma GCC visibility pop
} // namespace MPI

namespace
{
struct conversion {
    MPI::Datarep_c_function *c;
    MPI::Datarep_conversion_function *cxx;
    conversion(MPI::Datarep_c_function *fn) : c(fn), cxx(NULL) {}
    conversion(MPI::Datarep_conversion_function *fn) : c(NULL), cxx(fn) {}
    bool is_null() const { return !c && !cxx; } // MPI_CONVERSION_FN_NULL
    int operator()(void *memory, MPI_Datatype h, int n, void *file, MPI::Offset position, void *extra) const
    {
        if (c) return c(memory, h, n, file, position, extra);
        MPI::Datatype type(h);
        cxx(memory, type, n, file, position, extra);
        return MPI_SUCCESS;
    }
};
struct datarep { // is registered for as long as the process runs
    datarep *next;
    conversion read, write;
    MPI::Datarep_extent_function *extent;
    void *extra;
};
std::atomic<datarep *> datareps; // so that none counts as lost
int datarep_read(void *memory, MPI_Datatype type, int n, void *file, MPI_Offset position, void *state)
{
    datarep *d = (datarep *)state;
    return d->read(memory, type, n, file, position, d->extra);
}
int datarep_write(void *memory, MPI_Datatype type, int n, void *file, MPI_Offset position, void *state)
{
    datarep *d = (datarep *)state;
    return d->write(memory, type, n, file, position, d->extra);
}
int datarep_extent(MPI_Datatype h, MPI_Aint *extent, void *state)
{
    datarep *d = (datarep *)state;
    d->extent(MPI::Datatype(h), *extent, d->extra);
    return MPI_SUCCESS;
}
void register_datarep(const char *name, conversion read, conversion write, MPI::Datarep_extent_function *extent, void *extra)
{
    datarep *d = new datarep{NULL, read, write, extent, extra};
    int rc = MPI_Register_datarep(name, read.is_null() ? MPI_CONVERSION_FN_NULL : datarep_read,
                                  write.is_null() ? MPI_CONVERSION_FN_NULL : datarep_write, datarep_extent, d);
    if (rc == MPI_SUCCESS)
        d->next = datareps.exchange(d);
    else
        delete d;
}
} // namespace

void MPI::Register_datarep(const char *name, Datarep_conversion_function *read, Datarep_conversion_function *write,
                           Datarep_extent_function *extent, void *extra)
{
    register_datarep(name, read, write, extent, extra);
}
void MPI::Register_datarep(const char *name, Datarep_c_function *read, Datarep_conversion_function *write,
                           Datarep_extent_function *extent, void *extra)
{
    register_datarep(name, read, write, extent, extra);
}
void MPI::Register_datarep(const char *name, Datarep_conversion_function *read, Datarep_c_function *write,
                           Datarep_extent_function *extent, void *extra)
{
    register_datarep(name, read, write, extent, extra);
}
void MPI::Register_datarep(const char *name, Datarep_c_function *read, Datarep_c_function *write, Datarep_extent_function *extent,
                           void *extra)
{
    register_datarep(name, read, write, extent, extra);
}
