/* call_pairs.c -- a program in which one rank makes another call than the others, for test/system/call_pairs.py.
 *
 *     mpi_call_pairs               the calls of the table: a name, its kind, the MPI call that waits; without mpiexec
 *     mpi_call_pairs A:i B:j [S]   all ranks but the last make call A on object i of its kind, the last one call B on object j, S seconds later
 *
 * Object 0 of a communicator is MPI_COMM_WORLD, 1 a duplicate named "other"; files and windows are of MPI_COMM_WORLD, messages are to and from the
 * next rank, which has none for this one.  Files stay in TMPDIR.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static struct {
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
} of[2];
enum { MANY = 1 << 20 }; /* more than is sent before it is received */
static int in[MANY], out[64], memory[2][64];
static MPI_Group everybody;

/* What a call works on. */
static MPI_Comm c;
static MPI_Win w;
static MPI_File f;
static MPI_Request q = MPI_REQUEST_NULL;

static int next(void) { return (rank + 1) % size; }

/* ---- communicators ---- */
static void barrier(void) { MPI_Barrier(c); }
static void allreduce(void) { MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, c); }
static void ibarrier(void)
{
    MPI_Ibarrier(c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void dup(void)
{
    MPI_Comm new;
    MPI_Comm_dup(c, &new);
}
static void idup(void)
{
    MPI_Comm new;
    MPI_Comm_idup(c, &new, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void split(void)
{
    MPI_Comm new;
    MPI_Comm_split(c, 0, 0, &new);
}
static void create(void)
{
    MPI_Comm new;
    MPI_Comm_create(c, everybody, &new);
}
static void cart(void)
{
    MPI_Comm new;
    int periodic = 0;
    MPI_Cart_create(c, 1, &size, &periodic, 0, &new);
}
static void barrier_start(void)
{
    MPI_Barrier_init(c, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void disconnect(void) { MPI_Comm_disconnect(&c); }
static void win_create(void)
{
    MPI_Win new;
    MPI_Win_create(memory[0], sizeof memory[0], 4, MPI_INFO_NULL, c, &new);
}
static void win_allocate(void)
{
    MPI_Win new;
    int *base;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, c, &base, &new);
}
static void file_make(MPI_Comm comm, const char *name, MPI_File *file)
{
    char path[300];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.200s/%s", tmp ? tmp : "/tmp", name);
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, file);
}
static void file_open(void)
{
    MPI_File new;
    file_make(c, "new.dat", &new);
}

/* ---- windows ---- */
static void fence(void) { MPI_Win_fence(0, w); }
static void win_free(void) { MPI_Win_free(&w); }
static void post_wait(void)
{
    MPI_Win_post(everybody, 0, w);
    MPI_Win_wait(w);
}
static void start_complete(void)
{
    MPI_Win_start(everybody, 0, w);
    MPI_Win_complete(w);
}

/* ---- files ---- */
static void file_sync(void) { MPI_File_sync(f); }
static void file_close(void) { MPI_File_close(&f); }
static void file_set_size(void) { MPI_File_set_size(f, 100); }
static void file_preallocate(void) { MPI_File_preallocate(f, 100); }
static void file_set_view(void) { MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }
static void file_set_atomicity(void) { MPI_File_set_atomicity(f, 1); }
static void file_set_info(void) { MPI_File_set_info(f, MPI_INFO_NULL); }
static void file_seek_shared(void) { MPI_File_seek_shared(f, 0, MPI_SEEK_SET); }
static void write_all(void) { MPI_File_write_all(f, in, 4, MPI_INT, MPI_STATUS_IGNORE); }
static void write_at_all(void) { MPI_File_write_at_all(f, 16 * rank, in, 4, MPI_INT, MPI_STATUS_IGNORE); }
static void read_at_all(void) { MPI_File_read_at_all(f, 16 * rank, out, 4, MPI_INT, MPI_STATUS_IGNORE); }
static void write_ordered(void) { MPI_File_write_ordered(f, in, 4, MPI_INT, MPI_STATUS_IGNORE); }
static void read_ordered(void) { MPI_File_read_ordered(f, out, 4, MPI_INT, MPI_STATUS_IGNORE); }
static void split_write(void)
{
    MPI_File_write_at_all_begin(f, 16 * rank, in, 4, MPI_INT);
    MPI_File_write_at_all_end(f, in, MPI_STATUS_IGNORE);
}
static void iwrite_at_all(void)
{
    MPI_File_iwrite_at_all(f, 16 * rank, in, 4, MPI_INT, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void iread_at_all(void)
{
    MPI_File_iread_at_all(f, 16 * rank, out, 4, MPI_INT, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* ---- messages ---- */
static void receive(void) { MPI_Recv(out, 1, MPI_INT, next(), 7, c, MPI_STATUS_IGNORE); }
static void ssend(void) { MPI_Ssend(in, 1, MPI_INT, next(), 7, c); }
static void wait_one(void)
{
    MPI_Irecv(out, 1, MPI_INT, next(), 7, c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void wait_any(void)
{
    MPI_Request two[2];
    int which;
    for (int i = 0; i < 2; i++) MPI_Irecv(out + i, 1, MPI_INT, next(), 7 + i, c, &two[i]);
    MPI_Waitany(2, two, &which, MPI_STATUS_IGNORE);
}
static void probe(void) { MPI_Probe(next(), 7, c, MPI_STATUS_IGNORE); }
static void mprobe(void)
{
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, 7, c, &m, MPI_STATUS_IGNORE);
}
static void precv(void)
{
    MPI_Precv_init(out, 2, 1, MPI_INT, next(), 7, c, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void psend(void)
{
    MPI_Psend_init(in, 2, MANY / 2, MPI_INT, next(), 7, c, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Pready_range(0, 1, q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* ---- others ---- */
static void finalize(void) {}
static void spawn(void) /* the root is a rank of the other side, which is waited for */
{
    MPI_Comm new;
    MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, rank == size - 1 ? 0 : size - 1, c, &new, MPI_ERRCODES_IGNORE);
}
static void accept_port(void)
{
    MPI_Comm new;
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, c, &new);
}

static const struct {
    const char *name, *kind;
    void (*run)(void);
    const char *call;
} calls[] = {
    {"barrier", "comm", barrier, "MPI_Barrier"},
    {"allreduce", "comm", allreduce, "MPI_Allreduce"},
    {"ibarrier", "comm", ibarrier, "MPI_Ibarrier"},
    {"barrier_start", "comm", barrier_start, "MPI_Barrier_init"},
    {"dup", "comm", dup, "MPI_Comm_dup"},
    {"idup", "comm", idup, "MPI_Comm_idup"},
    {"split", "comm", split, "MPI_Comm_split"},
    {"create", "comm", create, "MPI_Comm_create"},
    {"cart", "comm", cart, "MPI_Cart_create"},
    {"disconnect", "comm", disconnect, "MPI_Comm_disconnect"},
    {"win_create", "comm", win_create, "MPI_Win_create"},
    {"win_allocate", "comm", win_allocate, "MPI_Win_allocate"},
    {"file_open", "comm", file_open, "MPI_File_open"},
    {"spawn", "comm", spawn, "MPI_Comm_spawn"},
    {"accept", "comm", accept_port, "MPI_Comm_accept"},
    {"fence", "win", fence, "MPI_Win_fence"},
    {"win_free", "win", win_free, "MPI_Win_free"},
    {"post_wait", "win", post_wait, "MPI_Win_wait"},
    {"start_complete", "win", start_complete, "MPI_Win_start"},
    {"sync", "file", file_sync, "MPI_File_sync"},
    {"close", "file", file_close, "MPI_File_close"},
    {"set_size", "file", file_set_size, "MPI_File_set_size"},
    {"preallocate", "file", file_preallocate, "MPI_File_preallocate"},
    {"set_view", "file", file_set_view, "MPI_File_set_view"},
    {"set_atomicity", "file", file_set_atomicity, "MPI_File_set_atomicity"},
    {"set_info", "file", file_set_info, "MPI_File_set_info"},
    {"seek_shared", "file", file_seek_shared, "MPI_File_seek_shared"},
    {"write_all", "file", write_all, "MPI_File_write_all"},
    {"write_at_all", "file", write_at_all, "MPI_File_write_at_all"},
    {"read_at_all", "file", read_at_all, "MPI_File_read_at_all"},
    {"write_ordered", "file", write_ordered, "MPI_File_write_ordered"},
    {"read_ordered", "file", read_ordered, "MPI_File_read_ordered"},
    {"split_write", "file", split_write, "MPI_File_write_at_all_begin"},
    {"iwrite_at_all", "file", iwrite_at_all, "MPI_File_iwrite_at_all"},
    {"iread_at_all", "file", iread_at_all, "MPI_File_iread_at_all"},
    {"recv", "message", receive, "MPI_Recv"},
    {"ssend", "message", ssend, "MPI_Ssend"},
    {"wait", "message", wait_one, "MPI_Wait"},
    {"waitany", "message", wait_any, "MPI_Waitany"},
    {"probe", "message", probe, "MPI_Probe"},
    {"mprobe", "message", mprobe, "MPI_Mprobe"},
    {"precv", "message", precv, "MPI_Wait"},
    {"psend", "message", psend, "MPI_Wait"},
    {"finalize", "end", finalize, "MPI_Finalize"},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void make(const char *what)
{
    const char *colon = strchr(what, ':');
    size_t len = colon ? (size_t)(colon - what) : strlen(what);
    int object = colon && colon[1] == '1';
    c = of[object].comm, w = of[object].win, f = of[object].file;
    for (int i = 0; i < CALLS; i++)
        if (strlen(calls[i].name) == len && strncmp(calls[i].name, what, len) == 0) {
            calls[i].run();
            return;
        }
    fprintf(stderr, "no call %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void compute(double seconds)
{
    for (double end = test_now() + seconds; test_now() < end;) {}
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        for (int i = 0; i < CALLS; i++) printf("%s %s %s\n", calls[i].name, calls[i].kind, calls[i].call);
        return 0;
    }
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    of[0].comm = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &of[1].comm);
    MPI_Comm_set_name(of[1].comm, "other");
    for (int i = 0; i < 2; i++) {
        file_make(MPI_COMM_WORLD, i ? "second.dat" : "first.dat", &of[i].file);
        MPI_Win_create(memory[i], sizeof memory[i], 4, MPI_INFO_NULL, MPI_COMM_WORLD, &of[i].win);
    }
    if (argc > 3 && rank == size - 1) compute(atof(argv[3]));
    make(argv[rank == size - 1 ? 2 : 1]);
    MPI_Finalize();
    if (rank == 0) printf("it came to its end\n");
    return 0;
}
