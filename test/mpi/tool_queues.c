/* tool_queues.c -- rank 1 plays the debugger of rank 0, which is stopped: it loads the library that MPIR_dll_name names, gives it the
 * callbacks of the message queue interface, and finds what rank 0 has posted, sent and not received yet.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../tools/msgq/mqs.h"
#include "p2p_check.h"

enum { TAG_NEVER = 30, TAG_ANY_SOURCE, TAG_UNEXPECTED, TAG_LARGE, TAG_READY, LARGE = 3000000 };

/* ---- the debugger ------------------------------------------------------------------------------------------------------ */
static struct {
    pid_t pid;
    long moved; /* its library lies so much higher than ours */
    mqs_image_info *image;
    mqs_process_info *process;
    char dll[4096];
} target;
static int n_blocks;

static void *our_malloc(size_t n)
{
    n_blocks++;
    return malloc(n);
}
static void our_free(void *p)
{
    n_blocks--;
    free(p);
}
static void print(const char *text) { puts(text); }
static char *error_text(int code)
{
    (void)code;
    return "error";
}
static void put_image(mqs_image *i, mqs_image_info *info)
{
    (void)i;
    target.image = info;
}
static mqs_image_info *get_image(mqs_image *i)
{
    (void)i;
    return target.image;
}
static void put_process(mqs_process *p, mqs_process_info *info)
{
    (void)p;
    target.process = info;
}
static mqs_process_info *get_process(mqs_process *p)
{
    (void)p;
    return target.process;
}
static void sizes(mqs_process *p, mqs_target_type_sizes *out)
{
    (void)p;
    *out = (mqs_target_type_sizes){sizeof(short), sizeof(int), sizeof(long), sizeof(long long), sizeof(void *)};
}
static int find_function(mqs_image *i, char *name, mqs_lang_code lang, mqs_taddr_t *out)
{
    (void)i, (void)name, (void)lang, (void)out;
    return mqs_no_information;
}
static int find_symbol(mqs_image *i, char *name, mqs_taddr_t *out)
{
    (void)i;
    void *here = dlsym(RTLD_DEFAULT, name);
    if (!here) return mqs_no_information;
    *out = (mqs_taddr_t)((long)here + target.moved);
    return mqs_ok;
}
static mqs_type *find_type(mqs_image *i, char *name, mqs_lang_code lang)
{
    (void)i, (void)name, (void)lang;
    return NULL;
}
static int no_field(mqs_type *t, char *name)
{
    (void)t, (void)name;
    return -1;
}
static int no_size(mqs_type *t)
{
    (void)t;
    return -1;
}
static int global_rank(mqs_process *p)
{
    (void)p;
    return 0;
}
static mqs_image *image_of(mqs_process *p) { return (mqs_image *)p; }
static int fetch(mqs_process *p, mqs_taddr_t at, int bytes, void *out)
{
    struct iovec mine = {out, (size_t)bytes}, theirs = {(void *)at, (size_t)bytes};
    (void)p;
    return process_vm_readv(target.pid, &mine, 1, &theirs, 1, 0) == bytes ? mqs_ok : mqs_no_information;
}
static void to_host(mqs_process *p, const void *in, void *out, int bytes)
{
    (void)p;
    memcpy(out, in, (size_t)bytes);
}

static const mqs_basic_callbacks basic = {our_malloc, our_free, print, error_text, put_image, get_image, put_process, get_process};
static const mqs_image_callbacks of_image = {sizes, find_function, find_symbol, find_type, no_field, no_size};
static const mqs_process_callbacks of_process = {global_rank, image_of, fetch, to_host};

#define FN(name) __typeof__(&name) name##_
static struct {
    FN(mqs_setup_basic_callbacks);
    FN(mqs_version_string);
    FN(mqs_version_compatibility);
    FN(mqs_dll_taddr_width);
    FN(mqs_dll_error_string);
    FN(mqs_setup_image);
    FN(mqs_image_has_queues);
    FN(mqs_destroy_image_info);
    FN(mqs_setup_process);
    FN(mqs_process_has_queues);
    FN(mqs_destroy_process_info);
    FN(mqs_update_communicator_list);
    FN(mqs_setup_communicator_iterator);
    FN(mqs_get_communicator);
    FN(mqs_get_comm_group);
    FN(mqs_next_communicator);
    FN(mqs_setup_operation_iterator);
    FN(mqs_next_operation);
} dll;

static void load(void)
{
    void *library = dlopen(target.dll, RTLD_NOW | RTLD_LOCAL);
    if (!library) printf("%s\n", dlerror());
    CHECK(library != NULL);
#define GET(name)                                                                                                                  \
    do {                                                                                                                           \
        *(void **)&dll.name##_ = dlsym(library, #name);                                                                            \
        CHECK(dll.name##_ != NULL);                                                                                                \
    } while (0)
    GET(mqs_setup_basic_callbacks);
    GET(mqs_version_string);
    GET(mqs_version_compatibility);
    GET(mqs_dll_taddr_width);
    GET(mqs_dll_error_string);
    GET(mqs_setup_image);
    GET(mqs_image_has_queues);
    GET(mqs_destroy_image_info);
    GET(mqs_setup_process);
    GET(mqs_process_has_queues);
    GET(mqs_destroy_process_info);
    GET(mqs_update_communicator_list);
    GET(mqs_setup_communicator_iterator);
    GET(mqs_get_communicator);
    GET(mqs_get_comm_group);
    GET(mqs_next_communicator);
    GET(mqs_setup_operation_iterator);
    GET(mqs_next_operation);
}

/* The begin of the file's mapping in a process. */
static long base_of(pid_t pid, const char *file)
{
    char path[64], line[4400];
    long base = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && !base && fgets(line, sizeof line, f))
        if (strstr(line, file)) base = (long)strtoul(line, NULL, 16);
    if (f) fclose(f);
    return base;
}

/* The communicator's operations of a kind: at most `most`, their number is returned. */
static int operations(mqs_process *p, int kind, mqs_pending_operation *ops, int most)
{
    int n = 0;
    CHECK_EQ(dll.mqs_setup_operation_iterator_(p, kind), mqs_ok);
    while (n < most && dll.mqs_next_operation_(p, &ops[n]) == mqs_ok) n++;
    CHECK_EQ(dll.mqs_next_operation_(p, &ops[0]) == mqs_ok, 0);
    return n;
}

static const mqs_pending_operation *with_tag(const mqs_pending_operation *ops, int n, int tag)
{
    for (int i = 0; i < n; i++)
        if (ops[i].desired_tag == tag) return &ops[i];
    CHECK(!"an operation with this tag");
    return &ops[0];
}

static void look_at_world(mqs_process *p, const mqs_taddr_t buffers[3])
{
    mqs_pending_operation ops[8];
    CHECK_EQ(operations(p, mqs_pending_receives, ops, 8), 2);
    CHECK(ops[0].desired_tag == TAG_NEVER && ops[1].desired_tag == TAG_ANY_SOURCE); /* as they were posted */
    CHECK(ops[0].desired_local_rank == 1 && ops[0].desired_global_rank == 1 && !ops[0].tag_wild);
    CHECK(ops[0].desired_length == 12 && ops[0].buffer == buffers[0] && ops[0].status == mqs_st_pending);
    CHECK(ops[1].desired_local_rank == -1 && ops[1].desired_length == 8 && ops[1].buffer == buffers[1]);
    CHECK(strcmp(ops[0].extra_text[0], "receive") == 0);
    int n = operations(p, mqs_unexpected_messages, ops, 8);
    CHECK_EQ(n, 1);
    const mqs_pending_operation *o = with_tag(ops, n, TAG_UNEXPECTED);
    CHECK(o->desired_local_rank == 1 && o->actual_length == 100 && o->system_buffer == !getenv("GODWIT_PROTO"));
    unsigned char data[100];
    if (o->system_buffer) CHECK_EQ(fetch(p, o->buffer, 100, data), mqs_ok);
    if (o->system_buffer) CHECK_EQ(pattern_wrong(data, 100, 5), -1);
    n = operations(p, mqs_pending_sends, ops, 8);
    CHECK_EQ(n, 1);
    o = with_tag(ops, n, TAG_LARGE);
    CHECK(o->desired_local_rank == 1 && o->desired_length == LARGE && o->buffer == buffers[2]);
}

/* A part of the world in which its ranks are the other way round. */
static void look_at_part(mqs_process *p)
{
    mqs_pending_operation ops[4];
    int ranks[2] = {-1, -1};
    CHECK_EQ(dll.mqs_get_comm_group_(p, ranks), mqs_ok);
    CHECK(ranks[0] == 1 && ranks[1] == 0);
    CHECK_EQ(operations(p, mqs_pending_sends, ops, 4), 0);
    CHECK_EQ(operations(p, mqs_unexpected_messages, ops, 4), 0);
    CHECK_EQ(operations(p, mqs_pending_receives, ops, 4), 1);
    CHECK(ops[0].tag_wild && ops[0].desired_local_rank == 0 && ops[0].desired_global_rank == 1);
}

static void debug(const mqs_taddr_t buffers[3])
{
    mqs_process *p = (mqs_process *)&target;
    mqs_communicator c;
    char *message = NULL;
    int seen = 0;
    load();
    CHECK_EQ(dll.mqs_version_compatibility_(), MQS_INTERFACE_COMPATIBILITY);
    CHECK_EQ(dll.mqs_dll_taddr_width_(), (int)sizeof(void *));
    CHECK(strstr(dll.mqs_version_string_(), "Godwit") != NULL);
    dll.mqs_setup_basic_callbacks_(&basic);
    CHECK_EQ(dll.mqs_setup_image_((mqs_image *)p, &of_image), mqs_ok);
    CHECK_EQ(dll.mqs_image_has_queues_((mqs_image *)p, &message), mqs_ok);
    CHECK_EQ(dll.mqs_setup_process_(p, &of_process), mqs_ok);
    CHECK_EQ(dll.mqs_process_has_queues_(p, &message), mqs_ok);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(dll.mqs_update_communicator_list_(p), mqs_ok);
        CHECK_EQ(dll.mqs_setup_communicator_iterator_(p), mqs_ok);
        do {
            CHECK_EQ(dll.mqs_get_communicator_(p, &c), mqs_ok);
            if (strcmp(c.name, "MPI_COMM_WORLD") == 0) {
                seen |= 1;
                CHECK(c.size == size && c.local_rank == 0);
                look_at_world(p, buffers);
            }
            if (strcmp(c.name, "MPI_COMM_SELF") == 0) {
                seen |= 2;
                CHECK(c.size == 1 && c.local_rank == 0);
            }
            if (strcmp(c.name, "the other way round") == 0) {
                seen |= 4;
                CHECK(c.size == 2 && c.local_rank == 1);
                look_at_part(p);
            }
        } while (dll.mqs_next_communicator_(p) == mqs_ok);
        CHECK_EQ(seen, 7);
        CHECK_EQ(dll.mqs_get_communicator_(p, &c), mqs_no_information);
    }
    pid_t pid = target.pid; /* a process that cannot be read is an error with a text */
    target.pid = -1;
    CHECK(dll.mqs_process_has_queues_(p, &message) > mqs_first_user_code && message && message[0]);
    CHECK(strlen(dll.mqs_dll_error_string_(dll.mqs_update_communicator_list_(p))) > 10);
    target.pid = pid;
    dll.mqs_destroy_process_info_(target.process);
    dll.mqs_destroy_image_info_(target.image);
    CHECK_EQ(n_blocks, 0);
}

/* ---- the ranks ----------------------------------------------------------------------------------------------------------- */
static void debugged(MPI_Comm part)
{
    static int never[3], any[2], in_part;
    char *large = calloc(1, LARGE);
    unsigned char small[100];
    mqs_taddr_t told[4] = {(mqs_taddr_t)never, (mqs_taddr_t)any, (mqs_taddr_t)large, (mqs_taddr_t)getpid()};
    MPI_Request r[4];
    MPI_Status st;
    MPI_Irecv(never, 3, MPI_INT, 1, TAG_NEVER, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(any, 2, MPI_INT, MPI_ANY_SOURCE, TAG_ANY_SOURCE, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(&in_part, 1, MPI_INT, 0, MPI_ANY_TAG, part, &r[2]);
    MPI_Isend(large, LARGE, MPI_BYTE, 1, TAG_LARGE, MPI_COMM_WORLD, &r[3]);
    MPI_Probe(1, TAG_UNEXPECTED, MPI_COMM_WORLD, &st);
    MPI_Send(told, 4, MPI_UNSIGNED_LONG, 1, TAG_READY, MPI_COMM_WORLD);
    kill(getpid(), SIGSTOP); /* until the debugger lets us go on */
    MPI_Recv(small, 100, MPI_BYTE, 1, TAG_UNEXPECTED, MPI_COMM_WORLD, &st);
    CHECK_EQ(pattern_wrong(small, 100, 5), -1);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(never[2] == 9 && any[1] == 8 && in_part == 7);
    free(large);
}

static int is_stopped(pid_t pid)
{
    char path[64], text[512] = "", state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fread(text, 1, sizeof text - 1, f) > 0 && strrchr(text, ')')) state = strrchr(text, ')')[2];
    if (f) fclose(f);
    return state == 'T' || state == 't';
}

static void debugger(MPI_Comm part)
{
    unsigned char small[100];
    mqs_taddr_t told[4];
    int never[3] = {0, 0, 9}, any[2] = {0, 8}, in_part = 7;
    char *large = malloc(LARGE), byte;
    MPI_Request r;
    pattern_fill(small, 100, 5);
    MPI_Isend(small, 100, MPI_BYTE, 0, TAG_UNEXPECTED, MPI_COMM_WORLD, &r);
    MPI_Recv(told, 4, MPI_UNSIGNED_LONG, 0, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    target.pid = (pid_t)told[3];
    while (!is_stopped(target.pid)) usleep(1000);
    const char *library = "libmpi_abi.so";
    target.moved = base_of(target.pid, library) - base_of(getpid(), library);
    mqs_taddr_t name = 0;
    if (fetch(NULL, told[0], 1, &byte) != mqs_ok)
        printf("skipped: processes may not be read here (%s)\n", strerror(errno));
    else if (find_symbol(NULL, "MPIR_dll_name", &name) == mqs_ok && fetch(NULL, name, sizeof target.dll, target.dll) == mqs_ok)
        debug(told);
    else
        CHECK(!"MPIR_dll_name");
    kill(target.pid, SIGCONT);
    MPI_Send(never, 3, MPI_INT, 0, TAG_NEVER, MPI_COMM_WORLD);
    MPI_Send(any, 2, MPI_INT, 0, TAG_ANY_SOURCE, MPI_COMM_WORLD);
    MPI_Send(&in_part, 1, MPI_INT, 1, 1, part);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv(large, LARGE, MPI_BYTE, 0, TAG_LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(large);
}

int main(int argc, char **argv)
{
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &part);
    if (part != MPI_COMM_NULL) MPI_Comm_set_name(part, "the other way round");
    if (size > 1 && rank == 0) debugged(part);
    if (size > 1 && rank == 1) debugger(part);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    return test_end();
}
