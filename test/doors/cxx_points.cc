// cxx_points.cc -- for abi.sh: a program of the C++ bindings, MPI::, of MPICH or of Open MPI: objects, functions of users with MPI::'s
// signatures, exceptions.  Arguments: a file, and "own" where it runs on the library that it was built with.
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>

#ifdef OPEN_MPI
typedef const void *Type_value; // what a copy function for datatypes is given
#else
typedef void *Type_value;
#endif

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

template <class Owner, class Value> static int copy(const Owner &owner, int key, void *extra, Value in, void *out, bool &flag)
{
    want(extra == &failed && key != MPI::KEYVAL_INVALID, "arguments of a copy function");
    *(const void **)out = (const char *)in + 1;
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

// Of a receive whose communicator is freed meanwhile.  MPICH's library asks of what class the communicator is, so it must be one.
#ifdef OPEN_MPI
static const MPI_Comm told = MPI_COMM_NULL;
#else
static const MPI_Comm told = MPI_COMM_SELF;
#endif
static void on_none(MPI::Comm &comm, int *code, ...)
{
    want(MPI::Get_error_class(*code) == MPI::ERR_TRUNCATE && (MPI_Comm)comm == told, "error of a freed communicator");
    handled[0] += 10;
}

static void attributes()
{
    void *value = NULL;
    int key = MPI::Comm::Create_keyval(copy<MPI::Comm, void *>, remove_value<MPI::Comm>, &failed);
    MPI::Intracomm one = MPI::COMM_WORLD.Dup();
    one.Set_attr(key, &failed);
    MPI::Intracomm two = one.Dup();
    want(two.Get_attr(key, &value) && value == (char *)&failed + 1, "attribute of a communicator's copy");
    two.Free(), one.Free();
    want(copied == 1 && removed == 1, "attributes of communicators");
    MPI::Comm::Free_keyval(key);

    key = MPI::Datatype::Create_keyval(copy<MPI::Datatype, Type_value>, remove_value<MPI::Datatype>, &failed);
    MPI::Datatype type = MPI::INT.Dup();
    type.Set_attr(key, &failed);
    MPI::Datatype other = type.Dup();
    want(other.Get_attr(key, &value) && value == (char *)&failed + 1, "attribute of a datatype's copy");
    other.Free(), type.Free();
    want(copied == 2 && removed == 2, "attributes of datatypes");
    MPI::Datatype::Free_keyval(key);

    key = MPI::Win::Create_keyval(copy<MPI::Win, void *>, remove_value<MPI::Win>, &failed);
    MPI::Win win = MPI::Win::Create(&value, sizeof value, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Set_attr(key, (char *)&failed + 5);
    win.Free();
    want(copied == 2 && removed == 7, "attributes of windows");
    MPI::Win::Free_keyval(key);
}

static void errors(const char *name, bool is_own)
{
    int memory = 0, size = MPI::COMM_WORLD.Get_size();
    MPI::Errhandler comm = MPI::Comm::Create_errhandler(on_comm), win = MPI::Win::Create_errhandler(on_win),
                    file = MPI::File::Create_errhandler(on_file);
    MPI::COMM_WORLD.Set_errhandler(comm);
    MPI::COMM_WORLD.Send(&memory, 1, MPI::INT, size, 1);
    want(handled[0] == 1, "an error handler of a communicator");
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    if (!is_own) { // what a freed communicator's errors find is each library's own affair
        int two[2] = {1, 2};
        MPI::Errhandler none = MPI::Comm::Create_errhandler(on_none);
        MPI::Intracomm dup = MPI::COMM_WORLD.Dup();
        int rank = dup.Get_rank();
        dup.Set_errhandler(none);
        none.Free();
        MPI::Request r = dup.Irecv(&memory, 1, MPI::INT, rank, 3), s = dup.Isend(two, 2, MPI::INT, rank, 3);
        dup.Free();
        r.Wait();
        s.Wait();
        want(handled[0] == 11, "an error handler of a freed communicator");
    }
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

// ---- objects ----
static void types()
{
    int ints[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0}, position = 0, length, n_ints, n_addresses, n_types, combiner;
    MPI::Datatype odd = MPI::INT.Create_vector(3, 1, 2), two[2], sub;
    MPI::Aint lb, extent, addresses[1];
    int contents[3];
    char packed[64], name[MPI::MAX_OBJECT_NAME];
    odd.Commit();
    odd.Set_name("odd");
    odd.Get_name(name, length);
    odd.Get_extent(lb, extent);
    want(odd.Get_size() == 12 && extent == 20 && lb == 0 && length == 3 && !std::strcmp(name, "odd"), "a vector");
    odd.Pack(ints, 1, packed, sizeof packed, position, MPI::COMM_WORLD);
    want(position == 12 && odd.Pack_size(1, MPI::COMM_WORLD) >= 12, "packing");
    position = 0;
    odd.Unpack(packed, sizeof packed, back, 1, position, MPI::COMM_WORLD);
    want(back[0] == 1 && back[1] == 0 && back[2] == 3 && back[4] == 5, "unpacking");
    odd.Get_envelope(n_ints, n_addresses, n_types, combiner);
    want(n_ints == 3 && n_addresses == 0 && n_types == 1 && combiner == MPI::COMBINER_VECTOR, "an envelope");
    odd.Get_contents(3, 0, 1, contents, addresses, two);
    want(contents[0] == 3 && contents[2] == 2 && two[0] == MPI::INT, "contents");
    int sizes[2] = {2, 3}, parts[2] = {2, 1}, starts[2] = {0, 1}, blocks[2] = {1, 1};
    sub = MPI::INT.Create_subarray(2, sizes, parts, starts, MPI::ORDER_C);
    sub.Commit();
    MPI::COMM_SELF.Sendrecv(ints, 1, sub, 0, 1, back, 2, MPI::INT, 0, 1);
    want(back[0] == 2 && back[1] == 5, "a subarray");
    MPI::Aint displs[2] = {0, 8};
    MPI::Datatype members[2] = {MPI::INT, MPI::DOUBLE}, record = MPI::Datatype::Create_struct(2, blocks, displs, members),
                  wide = record.Create_resized(0, 32);
    wide.Get_extent(lb, extent);
    want(record.Get_size() == 12 && extent == 32, "a struct, resized");
    want(MPI::BOOL.Get_size() == 1 && MPI::DOUBLE_COMPLEX.Get_size() == 16 && MPI::TWOINT.Get_size() == 8 &&
             MPI::LONG_LONG.Get_size() == 8 && MPI::INTEGER.Get_size() == 4 && MPI::TWODOUBLE_PRECISION.Get_size() == 16 &&
             MPI::LONG_DOUBLE_COMPLEX.Get_size() == 2 * (int)sizeof(long double) && MPI::WCHAR.Get_size() == (int)sizeof(wchar_t),
         "sizes of predefined datatypes");
    odd.Free(), sub.Free(), record.Free(), wide.Free();
    want(odd == MPI::DATATYPE_NULL, "a datatype that is freed");
}

static void messages(MPI::Comm &comm)
{
    int rank = comm.Get_rank(), size = comm.Get_size(), next = (rank + 1) % size, last = (rank + size - 1) % size,
        got[4] = {-1, -1, -1, -1};
    MPI::Status status, all[4];
    MPI::Request r[4] = {comm.Irecv(&got[0], 1, MPI::INT, last, 1), comm.Irecv(&got[1], 1, MPI::INT, last, 2),
                         comm.Isend(&rank, 1, MPI::INT, next, 1), comm.Issend(&rank, 1, MPI::INT, next, 2)};
    MPI::Request::Waitall(4, r, all);
    want(got[0] == last && got[1] == last && all[0].Get_source() == last && all[1].Get_tag() == 2 &&
             all[0].Get_count(MPI::INT) == 1 && r[0] == MPI::REQUEST_NULL,
         "an array of requests");
    MPI::Prequest p[2] = {comm.Send_init(&rank, 1, MPI::INT, next, 3), comm.Recv_init(&got[2], 1, MPI::INT, last, 3)};
    for (int i = 0; i < 3; i++) {
        MPI::Prequest::Startall(2, p);
        MPI::Request q[2] = {p[0], p[1]};
        MPI::Request::Waitall(2, q);
    }
    want(got[2] == last, "persistent requests");
    p[0].Free(), p[1].Free();
    comm.Sendrecv_replace(&got[2], 1, MPI::INT, next, 4, last, 4, status);
    want(got[2] == (last + size - 1) % size && status.Get_source() == last && !status.Is_cancelled(), "Sendrecv_replace");
    MPI::Request s = comm.Isend(&rank, 1, MPI::INT, next, 5);
    comm.Probe(last, 5, status);
    comm.Recv(&got[3], status.Get_elements(MPI::INT), MPI::INT, status.Get_source(), 5);
    s.Wait();
    want(got[3] == last, "Probe");
    int all_ranks[16] = {0}, counts[16], displs[16], sum = 0;
    for (int i = 0; i < size; i++) counts[i] = 1, displs[i] = i;
    comm.Allgatherv(&rank, 1, MPI::INT, all_ranks, counts, displs, MPI::INT);
    for (int i = 0; i < size; i++) sum += all_ranks[i] == i;
    want(sum == size, "Allgatherv");
    MPI::Datatype types[16];
    int bytes[16];
    for (int i = 0; i < size; i++) types[i] = MPI::INT, bytes[i] = 4 * i;
    comm.Alltoallw(all_ranks, counts, bytes, types, got, counts, bytes, types);
    want(size > 4 || (got[0] == rank && got[size - 1] == rank), "Alltoallw");
    comm.Allreduce(MPI::IN_PLACE, &sum, 1, MPI::INT, MPI::SUM);
    want(sum == size * size, "in place");
}

static void communicators()
{
    MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), length, dims[1] = {size}, coords[1], from, to, *tag_ub;
    bool cyclic[1] = {true}, got_cyclic[1] = {false}, remain[1] = {true};
    char name[MPI::MAX_OBJECT_NAME];
    want(world.Get_attr(MPI::TAG_UB, &tag_ub) && *tag_ub >= 32767 && !world.Is_inter(), "an attribute of COMM_WORLD");
    MPI::Cartcomm ring = world.Create_cart(1, dims, cyclic, false);
    ring.Shift(0, 1, from, to);
    ring.Get_topo(1, dims, got_cyclic, coords);
    want(ring.Get_topology() == MPI::CART && ring.Get_dim() == 1 && to == (rank + 1) % size && got_cyclic[0] && coords[0] == rank &&
             ring.Get_cart_rank(coords) == rank,
         "a ring");
    MPI::Comm &base = ring, &clone = base.Clone(); // by its virtual functions
    clone.Set_name("clone");
    clone.Get_name(name, length);
    want(clone.Get_topology() == MPI::CART && !std::strcmp(name, "clone") && MPI::Comm::Compare(ring, clone) == MPI::CONGRUENT,
         "a clone");
    messages(clone);
    clone.Free();
    delete &clone;
    MPI::Cartcomm part = ring.Sub(remain);
    want(part.Get_size() == size, "part of a ring");
    part.Free(), ring.Free();
    int index[16], edges[16];
    for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
    MPI::Graphcomm graph = world.Create_graph(size, index, edges, false);
    graph.Get_neighbors(rank, 1, coords);
    want(graph.Get_neighbors_count(rank) == 1 && coords[0] == (rank + 1) % size && graph.Get_topology() == MPI::GRAPH, "a graph");
    graph.Free();
    int ranges[1][3] = {{0, size - 1, 2}}, one[1] = {0};
    MPI::Group all = world.Get_group(), even = all.Range_incl(1, ranges), first = all.Incl(1, one);
    want(all.Get_size() == size && even.Get_size() == (size + 1) / 2 && first.Get_rank() == (rank ? MPI::UNDEFINED : 0), "groups");
    MPI::Intracomm evens = world.Create(even);
    want((evens == MPI::COMM_NULL) == (rank % 2 != 0), "a communicator of a group");
    if (evens != MPI::COMM_NULL) evens.Free();
    all.Free(), even.Free(), first.Free();
    if (size < 2) return;
    MPI::Intracomm half = world.Split(rank % 2, rank);
    MPI::Intercomm inter = half.Create_intercomm(0, world, 1 - rank % 2, 7);
    want(inter.Is_inter() && inter.Get_remote_size() == size - half.Get_size(), "an intercommunicator");
    MPI::Intracomm again = inter.Merge(rank % 2);
    want(again.Get_size() == size, "merged");
    again.Free(), inter.Free(), half.Free();
}

static int freed, cancelled;
static int query_of(void *extra, MPI::Status &status)
{
    status.Set_elements(MPI::INT, 3);
    status.Set_cancelled(false);
    status.Set_source(MPI::UNDEFINED);
    status.Set_tag(17);
    return extra == &freed ? MPI::SUCCESS : MPI::ERR_OTHER;
}
static int free_of(void *) { return freed++, MPI::SUCCESS; }
static int cancel_of(void *, bool is_complete) { return cancelled += 1 + is_complete, MPI::SUCCESS; }

static void requests_and_infos()
{
    MPI::Status status;
    MPI::Grequest g;
    g = g.Start(query_of, free_of, cancel_of, &freed); // static in Open MPI's header alone
    want(!g.Test(), "a generalized request that is under way");
    g.Cancel();
    g.Complete();
    g.Wait(status);
    want(freed == 1 && cancelled == 1 && status.Get_tag() == 17 && status.Get_count(MPI::INT) == 3, "a generalized request");
    char value[8];
    int length;
    MPI::Info info = MPI::Info::Create();
    info.Set("key", "value");
    MPI::Info copy_of = info.Dup();
    info.Delete("key");
    want(info.Get_nkeys() == 0 && copy_of.Get("key", 7, value) && !std::strcmp(value, "value") &&
             copy_of.Get_valuelen("key", length) && length == 5,
         "infos");
    info.Free(), copy_of.Free();
}

static void windows_and_files(const char *name)
{
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size(), got = -1;
    static int memory[2] = {-1, 0};
    MPI::Win win = MPI::Win::Create(memory, sizeof memory, sizeof(int), MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Fence(0);
    win.Put(&rank, 1, MPI::INT, (rank + 1) % size, 0, 1, MPI::INT);
    win.Accumulate(&rank, 1, MPI::INT, 0, 1, 1, MPI::INT, MPI::SUM);
    win.Fence(0);
    want(memory[0] == (rank + size - 1) % size && (rank || memory[1] == size * (size - 1) / 2), "Put and Accumulate");
    win.Lock(MPI::LOCK_SHARED, 0, 0);
    win.Get(&got, 1, MPI::INT, 0, 0, 1, MPI::INT);
    win.Unlock(0);
    want(got == size - 1, "Get");
    MPI::Group group = win.Get_group();
    want(group.Get_size() == size, "the group of a window");
    group.Free(), win.Free();
    MPI::File f =
        MPI::File::Open(MPI::COMM_WORLD, name, MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    MPI::Status status;
    f.Write_at_all(rank * (int)sizeof rank, &rank, 1, MPI::INT, status);
    f.Sync(), MPI::COMM_WORLD.Barrier(), f.Sync();
    f.Read_at_all(((rank + 1) % size) * (int)sizeof rank, &got, 1, MPI::INT);
    want(got == (rank + 1) % size && f.Get_size() >= (MPI::Offset)sizeof rank * size && status.Get_count(MPI::INT) == 1, "a file");
    f.Close();
}

// ---- what is left of the virtual functions ----
/* The object, of which the compiler does not know the class: its table says which function runs. */
template <class Object> static Object &by_table(Object &object)
{
    Object *volatile at = &object;
    return *at;
}

/* The numbers that one of a datatype takes out of 0, 1, ..., as digits. */
static int taken(MPI::Datatype type)
{
    int numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8], position = 0, digits = 0, n = type.Get_size() / (int)sizeof(int);
    type.Commit();
    type.Pack(numbers, 1, out, sizeof out, position, MPI::COMM_SELF);
    for (int i = 0; i < n && i < 8; i++) digits = 10 * digits + out[i] + 1;
    type.Free();
    return digits;
}

static void more_types()
{
    const MPI::Datatype &number = by_table(MPI::INT);
    int sizes[1] = {6}, blocks[2] = {2, 1}, displs[2] = {5, 1}, distribs[1] = {MPI::DISTRIBUTE_BLOCK},
        dargs[1] = {MPI::DISTRIBUTE_DFLT_DARG}, grid[1] = {2};
    MPI::Aint bytes[2] = {20, 4}, lb, extent;
    want(taken(number.Create_darray(2, 1, 1, sizes, distribs, dargs, grid, MPI::ORDER_C)) == 456, "Create_darray");
    want(taken(number.Create_indexed(2, blocks, displs)) == 672, "Create_indexed");
    want(taken(number.Create_hindexed(2, blocks, bytes)) == 672, "Create_hindexed");
    want(taken(number.Create_indexed_block(2, 1, displs)) == 62, "Create_indexed_block");
    want(taken(number.Create_hvector(3, 1, 8)) == 135, "Create_hvector");
    MPI::Datatype one = number.Create_hindexed(1, &blocks[1], bytes);
    one.Get_true_extent(lb, extent);
    want(lb == 20 && extent == 4, "Get_true_extent");
    one.Free();
    int in[2] = {258, -1}, out[2] = {0, 0}, sum[2] = {1, 2};
    char packed[16];
    MPI::Aint position = 0;
    number.Pack_external("external32", in, 2, packed, sizeof packed, position);
    want(position == 8 && number.Pack_external_size("external32", 2) == 8 && packed[2] == 1 && packed[3] == 2, "Pack_external");
    position = 0;
    number.Unpack_external("external32", packed, sizeof packed, position, out, 2);
    want(out[0] == 258 && out[1] == -1, "Unpack_external");
    const MPI::Op &add = by_table(MPI::SUM);
    add.Reduce_local(in, sum, 2, number);
    want(sum[0] == 259 && sum[1] == 1 && add.Is_commutative(), "Reduce_local");
}

/* Every way to send that there is: to the next rank, whose receive has begun where it must have. */
static void sends(MPI::Comm &comm)
{
    enum { WAYS = 12 };
    static char buffer[4096];
    int rank = comm.Get_rank(), size = comm.Get_size(), next = (rank + 1) % size, last = (rank + size - 1) % size, got[WAYS],
        numbers[WAYS];
    MPI::Request r[WAYS - 1];
    MPI::Status status;
    void *detached = NULL;
    for (int i = 0; i < WAYS; i++) numbers[i] = 100 * rank + i, got[i] = -1;
    for (int i = 0; i < WAYS - 1; i++) r[i] = comm.Irecv(&got[i], 1, MPI::INT, last, i);
    MPI::Request made = comm.Irecv(&got[WAYS - 1], 1, MPI::INT, last, WAYS - 1), &open = by_table(made);
    comm.Barrier();
    MPI::Attach_buffer(buffer, sizeof buffer);
    comm.Bsend(&numbers[0], 1, MPI::INT, next, 0);
    comm.Rsend(&numbers[1], 1, MPI::INT, next, 1);
    comm.Ssend(&numbers[2], 1, MPI::INT, next, 2);
    MPI::Request s[] = {comm.Ibsend(&numbers[3], 1, MPI::INT, next, 3), comm.Irsend(&numbers[4], 1, MPI::INT, next, 4),
                        comm.Issend(&numbers[5], 1, MPI::INT, next, 5), comm.Isend(&numbers[6], 1, MPI::INT, next, 6)};
    MPI::Request::Waitall(4, s);
    MPI::Prequest p[] = {comm.Bsend_init(&numbers[7], 1, MPI::INT, next, 7), comm.Rsend_init(&numbers[8], 1, MPI::INT, next, 8),
                         comm.Ssend_init(&numbers[9], 1, MPI::INT, next, 9), comm.Send_init(&numbers[10], 1, MPI::INT, next, 10)};
    for (int i = 0; i < 4; i++) p[i].Start(), p[i].Wait(), p[i].Free();
    comm.Send(&numbers[11], 1, MPI::INT, next, 11);
    while (!open.Get_status(status)) {}
    want(status.Get_tag() == 11 && status.Get_source() == last && status.Get_count(MPI::INT) == 1 && open.Get_status(),
         "Get_status, after which there is a request");
    open.Wait();
    want(open == MPI::REQUEST_NULL, "Wait");
    MPI::Request::Waitall(WAYS - 1, r);
    for (int i = 0; i < WAYS; i++) want(got[i] == 100 * last + i, "a way to send");
    want(MPI::Detach_buffer(detached) == (int)sizeof buffer && detached == buffer, "Detach_buffer");
    want(!comm.Iprobe(last, 99) && !comm.Iprobe(last, 99, status), "Iprobe of what nobody sends");
    MPI::Request late = comm.Isend(&rank, 1, MPI::INT, next, 13);
    while (!comm.Iprobe(last, 13, status)) {}
    want(status.Get_count(MPI::INT) == 1 && comm.Iprobe(last, 13), "Iprobe");
    comm.Recv(&got[0], 1, MPI::INT, last, 13);
    late.Wait();
    want(got[0] == last, "what Iprobe found");
}

static void collectives(MPI::Intracomm &comm)
{
    int rank = comm.Get_rank(), size = comm.Get_size(), one = rank + 1, before = 0, with = 0, all[16], counts[16], displs[16],
        out = -1;
    MPI::Intracomm &base = by_table(comm);
    base.Scan(&one, &with, 1, MPI::INT, MPI::SUM);
    base.Exscan(&one, &before, 1, MPI::INT, MPI::SUM);
    want(with == one * (one + 1) / 2 && before == with - one, "Scan and Exscan"); // of rank 0 what it was
    for (int i = 0; i < size; i++) all[i] = -1, counts[i] = 1, displs[i] = size - 1 - i;
    base.Gather(&rank, 1, MPI::INT, all, 1, MPI::INT, size - 1);
    for (int i = 0; i < size; i++) want(all[i] == (rank == size - 1 ? i : -1), "Gather");
    base.Gatherv(&rank, 1, MPI::INT, all, counts, displs, MPI::INT, 0);
    want(rank != 0 || (all[0] == size - 1 && all[size - 1] == 0), "Gatherv, the other way round");
    base.Scatter(all, 1, MPI::INT, &out, 1, MPI::INT, 0);
    want(out == size - 1 - rank, "Scatter");
    base.Scatterv(all, counts, displs, MPI::INT, &out, 1, MPI::INT, 0);
    want(out == rank, "Scatterv");
    base.Allgather(&rank, 1, MPI::INT, all, 1, MPI::INT);
    int sent[16];
    for (int i = 0; i < size; i++) want(all[i] == i, "Allgather"), sent[i] = 10 * rank + i;
    base.Alltoall(sent, 1, MPI::INT, all, 1, MPI::INT);
    for (int i = 0; i < size; i++) want(all[i] == 10 * i + rank, "Alltoall"), all[i] = -1;
    base.Alltoallv(sent, counts, displs, MPI::INT, all, counts, displs, MPI::INT);
    for (int i = 0; i < size; i++) want(all[displs[i]] == 10 * i + displs[rank], "Alltoallv");
    base.Reduce_scatter(sent, &out, counts, MPI::INT, MPI::SUM);
    want(out == 10 * (size * (size - 1) / 2) + size * rank, "Reduce_scatter");
}

static void topologies()
{
    MPI::Intracomm &world = by_table(MPI::COMM_WORLD);
    int rank = world.Get_rank(), size = world.Get_size(), dims[2] = {1, size}, coords[2], index[16], edges[16], n_nodes, n_edges,
        got[16], ranges[1][3] = {{0, 0, 1}}, first[1] = {0};
    bool periods[2] = {false, true};
    MPI::Cartcomm made_grid = world.Create_cart(2, dims, periods, false), &grid = by_table(made_grid);
    grid.Get_coords(size - 1, 2, coords);
    want(coords[0] == 0 && coords[1] == size - 1 && grid.Map(2, dims, periods) == rank, "a grid");
    grid.Free();
    for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
    MPI::Graphcomm made_graph = world.Create_graph(size, index, edges, false), &graph = by_table(made_graph);
    graph.Get_dims(&n_nodes, &n_edges);
    want(n_nodes == size && n_edges == size && graph.Map(size, index, edges) == rank, "dimensions of a graph");
    graph.Get_topo(size, size, index, got);
    want(index[size - 1] == size && got[0] == 1 % size, "edges of a graph");
    graph.Free();
    MPI::Group all = world.Get_group(), rest = all.Excl(1, first), same = all.Range_excl(1, ranges);
    want(rest.Get_size() == size - 1 && MPI::Group::Compare(rest, same) == MPI::IDENT &&
             rest.Get_rank() == (rank ? rank - 1 : MPI::UNDEFINED),
         "all but the first");
    all.Free(), rest.Free(), same.Free();
    char key[MPI::MAX_INFO_KEY + 1];
    MPI::Info info = MPI::Info::Create();
    info.Set("one", "1"), info.Set("two", "2");
    info.Get_nthkey(1, key);
    want(!std::strcmp(key, "two"), "the second key");
    info.Free();
}

/* Each rank puts into the next one's window, in epochs of these two alone. */
static void epochs()
{
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size(), next[1] = {(rank + 1) % size},
        last[1] = {(rank + size - 1) % size};
    static int memory = -1;
    MPI::Win made = MPI::Win::Create(&memory, sizeof memory, 1, MPI::INFO_NULL, MPI::COMM_WORLD), &win = by_table(made);
    MPI::Group all = MPI::COMM_WORLD.Get_group(), to = all.Incl(1, next), from = all.Incl(1, last);
    for (int i = 0; i < 2; i++) {
        int number = 10 * rank + i;
        win.Post(from, 0);
        win.Start(to, 0);
        win.Put(&number, 1, MPI::INT, next[0], 0, 1, MPI::INT);
        win.Complete();
        if (i == 0)
            win.Wait();
        else
            while (!win.Test()) {}
        want(memory == 10 * last[0] + i, "Post, Start, Complete and Wait or Test");
    }
    char name[MPI::MAX_OBJECT_NAME];
    int length;
    win.Set_name("window");
    win.Get_name(name, length);
    want(length == 6 && !std::strcmp(name, "window"), "the name of a window");
    all.Free(), to.Free(), from.Free(), win.Free();
}

#ifdef OPEN_MPI
/* Numbers are less by one in the file. */
static void datarep_read(void *user, MPI::Datatype &type, int n, void *file, MPI::Offset position, void *extra)
{
    want(type == MPI::INT && extra == &failed, "arguments of a conversion");
    for (int i = 0; i < n; i++) ((int *)user)[position + i] = ((int *)file)[i] + 1;
}
static void datarep_write(void *user, MPI::Datatype &type, int n, void *file, MPI::Offset position, void *extra)
{
    want(type == MPI::INT && extra == &failed, "arguments of a conversion");
    for (int i = 0; i < n; i++) ((int *)file)[i] = ((int *)user)[position + i] - 1;
}
static void datarep_extent(const MPI::Datatype &type, MPI::Aint &extent, void *extra)
{
    want(type == MPI::INT && extra == &failed, "arguments of an extent function");
    extent = sizeof(int);
}
static void datareps(const char *name)
{
    int numbers[3] = {7, 8, 9}, got[3] = {0, 0, 0}, raw[3] = {0, 0, 0};
    MPI::Register_datarep("less", datarep_read, datarep_write, datarep_extent, &failed);
    MPI::COMM_WORLD.Barrier();
    if (MPI::COMM_WORLD.Get_rank() == 0) {
        MPI::File f =
            MPI::File::Open(MPI::COMM_SELF, name, MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
        f.Set_view(0, MPI::INT, MPI::INT, "less", MPI::INFO_NULL);
        f.Write_at(0, numbers, 3, MPI::INT);
        f.Read_at(0, got, 3, MPI::INT);
        f.Set_view(0, MPI::INT, MPI::INT, "native", MPI::INFO_NULL);
        f.Read_at(0, raw, 3, MPI::INT);
        want(got[0] == 7 && got[2] == 9 && raw[0] == 6 && raw[2] == 8, "a data representation");
        f.Close();
    }
    MPI::COMM_WORLD.Barrier();
}
#endif

/* One half accepts the other. */
static void connections()
{
    MPI::Intracomm &world = by_table(MPI::COMM_WORLD);
    int rank = world.Get_rank(), size = world.Get_size(), sum = 0;
    if (size < 2) return;
    MPI::Intracomm made = world.Split(rank % 2, rank), &half = by_table(made);
    char port[MPI::MAX_PORT_NAME] = "";
    if (rank == 0) MPI::Open_port(MPI::INFO_NULL, port);
    world.Bcast(port, sizeof port, MPI::CHAR, 0);
    MPI::Intercomm connected = rank % 2 ? half.Connect(port, MPI::INFO_NULL, 0) : half.Accept(port, MPI::INFO_NULL, 0),
                   &inter = by_table(connected);
    MPI::Group others = inter.Get_remote_group();
    want(inter.Get_remote_size() == size - half.Get_size() && others.Get_size() == inter.Get_remote_size(), "the other half");
    inter.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
    int expected = 0;
    for (int i = 1 - rank % 2; i < size; i += 2) expected += i;
    want(sum == expected, "the sum of the other half");
    others.Free(), half.Free();
    inter.Disconnect();
    if (rank == 0) MPI::Close_port(port);
}

/* Two more ranks, which get a number and give it back, each with its own added. */
static void children(const char *program)
{
    MPI::Intracomm &self = by_table(MPI::COMM_SELF);
    int number = 5, sum = 0, codes[2] = {-1, -1}, two[2] = {1, 1};
    const char *arguments[] = {"child", NULL}, *programs[] = {program, program}, **both[] = {arguments, arguments};
    const MPI::Info infos[] = {MPI::INFO_NULL, MPI::INFO_NULL};
    for (int i = 0; i < 2; i++) {
        MPI::Intercomm inter = i ? self.Spawn_multiple(2, programs, both, two, infos, 0, codes)
                                 : self.Spawn(program, arguments, 2, MPI::INFO_NULL, 0, codes);
        want(inter.Get_remote_size() == 2 && codes[0] == MPI::SUCCESS && codes[1] == MPI::SUCCESS, "spawned ranks");
        inter.Bcast(&number, 1, MPI::INT, MPI::ROOT);
        inter.Reduce(NULL, &sum, 1, MPI::INT, MPI::SUM, MPI::ROOT);
        want(sum == 2 * number + 1, "a sum of spawned ranks");
        inter.Disconnect();
    }
}
static int be_child()
{
    MPI::Intercomm parent = MPI::Comm::Get_parent();
    int number = 0;
    parent.Bcast(&number, 1, MPI::INT, 0);
    number += MPI::COMM_WORLD.Get_rank();
    parent.Reduce(&number, NULL, 1, MPI::INT, MPI::SUM, 0);
    parent.Disconnect();
    MPI::Finalize();
    return failed > 0;
}

// ---- exceptions ----
template <class Call> static bool throws(int one, int other, Call call)
{
    try {
        call();
    } catch (MPI::Exception &e) {
        int class_of = e.Get_error_class();
        if (class_of == one || class_of == other)
            return e.Get_error_code() != MPI::SUCCESS && std::strlen(e.Get_error_string()) > 0;
        std::printf("class %d: %s\n", class_of, e.Get_error_string());
    }
    return false;
}
static bool traffic()
{
    int one = 1, sum = 0, got = 0;
    MPI::COMM_WORLD.Allreduce(&one, &sum, 1, MPI::INT, MPI::SUM);
    MPI::COMM_SELF.Sendrecv(&one, 1, MPI::INT, 0, 2, &got, 1, MPI::INT, 0, 2);
    return sum == MPI::COMM_WORLD.Get_size() && got == 1;
}

static void exceptions(const char *name)
{
    MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), numbers[2] = {1, 2}, got[2] = {0, 0};
    world.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::Errhandler handler = world.Get_errhandler();
    want(handler == MPI::ERRORS_THROW_EXCEPTIONS, "that errors throw");
    for (int i = 0; i < 50; i++) {
        want(throws(MPI::ERR_RANK, MPI::ERR_RANK, [&] { world.Send(numbers, 1, MPI::INT, size, 1); }), "an exception of Send");
        want(throws(MPI::ERR_COUNT, MPI::ERR_COUNT, [&] { world.Bcast(numbers, -1, MPI::INT, 0); }), "an exception of Bcast");
        want(traffic(), "messages after an exception");
    }
    MPI::Request r = world.Irecv(got, 1, MPI::INT, rank, 4);
    world.Send(numbers, 2, MPI::INT, rank, 4);
    want(throws(MPI::ERR_TRUNCATE, MPI::ERR_TRUNCATE, [&] { r.Wait(); }), "an exception of Wait");
    want(r == MPI::REQUEST_NULL, "the request after its exception");
    want(throws(MPI::ERR_ARG, MPI::ERR_ARG, [&] { world.Call_errhandler(MPI::ERR_ARG); }), "an exception of Call_errhandler");
    MPI::Win w = MPI::Win::Create(got, sizeof got, 1, MPI::INFO_NULL, world);
    w.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    w.Fence(0);
    for (int i = 0; i < 3; i++)
        want(throws(MPI::ERR_RANK, MPI::ERR_RANK, [&] { w.Put(numbers, 1, MPI::INT, size, 0, 1, MPI::INT); }),
             "an exception of Put");
    want(throws(MPI::ERR_RANK, MPI::ERR_RANK, [&] { w.Call_errhandler(MPI::ERR_RANK); }), "an exception of a window");
    w.Put(&numbers[1], 1, MPI::INT, rank, 0, 1, MPI::INT);
    w.Fence(0);
    want(got[0] == 2 && traffic(), "a window after an exception");
    w.Free();
    MPI::File f = MPI::File::Open(world, name, MPI::MODE_CREATE | MPI::MODE_RDWR, MPI::INFO_NULL);
    f.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    for (int i = 0; i < 3; i++)
        want(throws(MPI::ERR_COUNT, MPI::ERR_ARG, [&] { f.Write_at(0, numbers, -1, MPI::INT); }), "an exception of a file");
    f.Write_at_all(8 * rank, numbers, 2, MPI::INT);
    f.Read_at(8 * rank, got, 2, MPI::INT);
    want(got[0] == 1 && got[1] == 2, "a file after an exception");
    f.Close();
    world.Set_errhandler(MPI::ERRORS_RETURN);
    world.Send(numbers, 1, MPI::INT, size, 1);
    want(traffic(), "messages after an error that returned");
}

// A function of the program that leaves by an exception of its own.
struct Mine {
    int class_of;
};
static void leave(MPI::Comm &comm, int *code, ...)
{
    int size = comm.Get_size(); // a call within the function
    throw Mine{size ? MPI::Get_error_class(*code) : 0};
}
static void leave_in_order(MPI::Comm &, int *code, ...)
{
    *code = MPI::SUCCESS;
    throw Mine{*code};
}
static void own_exceptions()
{
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(leave);
    int number = 1, caught = 0, size = MPI::COMM_WORLD.Get_size();
    MPI::COMM_WORLD.Set_errhandler(handler);
    for (int i = 0; i < 50; i++) {
        try {
            MPI::COMM_WORLD.Send(&number, 1, MPI::INT, size, 1);
        } catch (Mine &mine) {
            caught += mine.class_of == MPI::ERR_RANK;
        }
        want(traffic(), "messages after an exception of an error handler");
    }
    try {
        MPI::COMM_WORLD.Call_errhandler(MPI::ERR_TAG);
    } catch (Mine &mine) {
        caught += mine.class_of == MPI::ERR_TAG;
    }
    want(caught == 51, "exceptions of an error handler");
    handler.Free();
    handler = MPI::Comm::Create_errhandler(leave_in_order);
    MPI::COMM_WORLD.Set_errhandler(handler);
    try {
        MPI::COMM_WORLD.Send(&number, 1, MPI::INT, size, 1);
    } catch (Mine &mine) {
        caught += mine.class_of == MPI::SUCCESS;
    }
    want(caught == 52, "an exception of an error handler that has made the code MPI::SUCCESS");
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
    MPI::COMM_WORLD.Send(&number, 1, MPI::INT, size, 1); // throws nothing that was left
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    handler.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    if (argc > 1 && !std::strcmp(argv[1], "child")) return be_child();
    bool is_own = argc > 2 && !std::strcmp(argv[2], "own");
    int size = MPI::COMM_WORLD.Get_size(), one = 1, sum = 0;
    MPI::Op op;
    op.Init(one_more, true);
    MPI::COMM_WORLD.Allreduce(&one, &sum, 1, MPI::INT, op);
    want(sum == 2 * size - 1, "an operation");
    op.Free();
    attributes();
    errors(argv[1], is_own);
    types();
    messages(MPI::COMM_WORLD);
    communicators();
    requests_and_infos();
    more_types();
    sends(by_table(MPI::COMM_WORLD));
    collectives(MPI::COMM_WORLD);
    topologies();
    if (!is_own) { // windows as below; the other launchers have their own ways to more ranks
        epochs();
        connections();
        if (MPI::COMM_WORLD.Get_rank() == 0) children(argv[0]);
#ifdef OPEN_MPI
        datareps(argv[1]);
#endif
    }
    if (!is_own) windows_and_files(argv[1]); // what MPICH 4.0.2 puts does not always come
#ifdef OPEN_MPI
    if (!is_own) exceptions(argv[1]), own_exceptions(); // its own library throws none
#else
    exceptions(argv[1]), own_exceptions();
#endif
    MPI::COMM_WORLD.Barrier();
    if (MPI::COMM_WORLD.Get_rank() == 0 && !failed) std::printf("C++: all points\n");
    MPI::Finalize();
    return failed > 0;
}
