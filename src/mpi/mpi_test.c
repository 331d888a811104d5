/* mpi_test.c -- the library as a whole, of a process that is a job by itself: DOWN, UP, RESTING and UP again; sessions; what an error
 * becomes, by error handler; and the words with which a fatal one ends the process.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"
#include "base/settings.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "boot/call.h"

static bool says(const char *words) { return strstr(gw_fail_text(), words) != NULL; }
static int fn_of(const char *name)
{
    int i = 1;
    for (const char *is; (is = boot_call_name((uint32_t)i)) && strcmp(is, name) != 0;) i++;
    return i;
}

static void levels(void)
{
    static const int all[] = {GW_THREAD_SINGLE, GW_THREAD_FUNNELED, GW_THREAD_SERIALIZED, GW_THREAD_MULTIPLE};
    gw_settings_load();
    int was = gw_set.thread_max;
    for (int max = 0; max < 4; max++)
        for (int want = 0; want < 4; want++) {
            gw_set.thread_max = max;
            CHECK_EQ(life_level(all[want]), all[want < max ? want : max]);
        }
    gw_set.thread_max = was;
    CHECK_EQ(life_level(GW_THREAD_SERIALIZED + 0), GW_THREAD_SERIALIZED);
    CHECK_STR(mpi_level_name(GW_THREAD_SERIALIZED), "MPI_THREAD_SERIALIZED");
}

static int flag_of(int (*ask)(int *))
{
    int flag = -1;
    CHECK_EQ(ask(&flag), GW_OK);
    return flag;
}

/* ---- what an error becomes ---- */
static int handled, set_to;
static struct gw_obj *handled_on;
static void user_handler(const struct gw_callback *cb, struct gw_obj *on, int *mpi_code)
{
    (void)cb;
    handled++;
    handled_on = on;
    if (set_to) *mpi_code = set_to;
}
static void any(void) {}

static void raising(void)
{
    struct gw_errhandler *eh = NULL, *files = NULL;
    struct gw_comm *c = &gw_comm_world;
    int fn = fn_of("MPI_Send"), class = -1, len = 0, code = 0, added = 0;
    char text[GW_MAX_ERROR_STRING];
    mpi_upcalls.call_errhandler = user_handler;
    CHECK_EQ(comm_set_errhandler(c, &gw_errors_return), GW_OK);
    CHECK(!mpi_raise_prints(c));
    gw_fail(GW_ECOUNT, "count is -1; it must not be negative");
    CHECK_EQ(mpi_raise(fn, c, GW_ECOUNT, "(count=-1)"), GW_ERR_COUNT);
    CHECK(mpi_error_class(GW_ERR_COUNT, &class) == GW_OK && class == GW_ERR_COUNT);
    CHECK_EQ(mpi_error_string(GW_ERR_COUNT, text, &len), GW_OK);
    CHECK(strstr(text, "MPI_Send: count is -1; it must not be negative") && len == (int)strlen(text));
    CHECK(mpi_last_reason(GW_ERR_COUNT) && !mpi_last_reason(GW_ERR_TAG));
    CHECK_EQ(gw_errhandler_create(GW_KIND_COMM, any, &eh), GW_OK);
    CHECK_EQ(comm_set_errhandler(c, eh), GW_OK);
    CHECK(!mpi_raise_prints(c));
    CHECK(mpi_raise(fn, c, GW_ETAG, "") == GW_ERR_TAG && handled == 1 && handled_on == &c->obj);
    set_to = 4242; /* a handler may change what the call returns */
    CHECK(mpi_raise(fn, c, GW_ETAG, "") == 4242 && handled == 2);
    set_to = 0;
    CHECK(mpi_call_errhandler(c, GW_ERR_RANK) == GW_OK && handled == 3);
    CHECK(mpi_call_errhandler(c, 987654) < 0 && handled == 3);
    /* one that is only being made: the handler given for it */
    CHECK(mpi_raise(fn, eh, GW_EARG, "") == GW_ERR_ARG && handled == 4);
    CHECK_EQ(gw_errhandler_create(GW_KIND_FILE, any, &files), GW_OK);
    CHECK_EQ(comm_set_errhandler(&gw_comm_self, &gw_errors_return), GW_OK);
    CHECK_EQ(mpi_raise(fn, NULL, GW_EARG, ""), GW_ERR_ARG); /* calls without an object: MPI_COMM_SELF's */
    CHECK_EQ(comm_set_errhandler(&gw_comm_self, &gw_errors_are_fatal), GW_OK);
    CHECK(mpi_raise_prints(NULL));
    CHECK_EQ(comm_set_errhandler(c, &gw_errors_are_fatal), GW_OK);
    CHECK(mpi_raise_prints(c));
    CHECK_EQ(mpi_error_class(987654, &class), GW_EARG);
    CHECK(says("987654"));
    CHECK(gw_errclass_add(&added) == GW_OK && gw_errcode_add(added, &code) == GW_OK);
    CHECK(mpi_error_class(code, &class) == GW_OK && class == added);
    gw_errhandler_free(&eh), gw_errhandler_free(&files);
}

/* One block in one write: who, the call with its arguments, what was wrong, what to do; and the process ends. */
static void fatal(struct gw_errhandler *eh, const char *advice)
{
    int out[2], status = 0;
    char text[4096] = "";
    CHECK_EQ(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDERR_FILENO);
        gw_comm_world.errhandler = eh;
        gw_fail(GW_ERANK, "dest is 7; MPI_COMM_WORLD has ranks 0 to 0");
        mpi_raise(fn_of("MPI_Send"), &gw_comm_world, GW_ERANK, "(dest=7)");
        _exit(0);
    }
    close(out[1]);
    for (size_t n = 0; n < sizeof text - 1;) {
        ssize_t k = read(out[0], text + n, sizeof text - 1 - n);
        if (k <= 0) break;
        n += (size_t)k;
    }
    close(out[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(status != 0);
    CHECK(strstr(text, "rank 0 (pid ") && strstr(text, "MPI_Send(dest=7) failed") && strstr(text, "MPI_ERR_RANK: dest is 7;") &&
          strstr(text, advice));
}

/* ---- sessions ---- */
static void sessions(bool in_world)
{
    struct mpi_session *s = NULL;
    struct gw_group *g = NULL;
    struct gw_info *info = NULL;
    int n = 0, len;
    char name[32];
    CHECK_EQ(mpi_session_init(NULL, &gw_errors_return, &s), GW_OK);
    CHECK(mpi_hot.running && life_has_begun());
    CHECK_EQ(flag_of(mpi_initialized), atomic_load(&mpi_phase) != MPI_PHASE_BEFORE);
    CHECK(mpi_session_get_num_psets(s, NULL, &n) == GW_OK && n == 2);
    static const char *const names[] = {"mpi://WORLD", "mpi://SELF"};
    for (int i = 0; i < n; i++)
        for (int room = 0; room < 14; room++) {
            memset(name, '#', sizeof name);
            len = room;
            CHECK_EQ(mpi_session_get_nth_pset(s, NULL, i, &len, name), GW_OK);
            CHECK_EQ(len, (int)strlen(names[i]) + 1);
            CHECK(room == 0 ? name[0] == '#' : strncmp(name, names[i], (size_t)room - 1) == 0 && name[room] == '#');
        }
    len = 10;
    CHECK(mpi_session_get_nth_pset(s, NULL, 2, &len, name) == GW_EARG && says("n is 2") && len == 10);
    CHECK(mpi_session_get_nth_pset(s, NULL, -1, &len, name) == GW_EARG);
    CHECK(mpi_session_group(s, "MPI://world", &g) == GW_OK && g->size == 1 && g->rank == 0 && g->family == s->family);
    group_release(g);
    CHECK(mpi_session_group(s, "mpi://nobody", &g) == GW_EARG && says("\"mpi://nobody\""));
    CHECK(mpi_session_get_pset_info(s, "mpi://SELF", &info) == GW_OK && strcmp(gw_info_find(info, "mpi_size"), "1") == 0);
    gw_info_free(&info);
    CHECK_EQ(mpi_raise(fn_of("MPI_Session_get_info"), s, GW_EARG, ""), GW_ERR_ARG);
    struct gw_errhandler *eh = NULL;
    CHECK_EQ(gw_errhandler_create(GW_KIND_COMM, any, &eh), GW_OK);
    CHECK(mpi_session_set_errhandler(s, eh) == GW_EERRHANDLER && s->errhandler == &gw_errors_return);
    gw_errhandler_free(&eh);
    uint32_t id = s->obj.id;
    CHECK(mpi_session_finalize(&s) == GW_OK && !s && !gw_obj_lookup(id, GW_KIND_SESSION));
    CHECK_EQ(mpi_hot.running, in_world); /* RESTING while there is no instance */
    CHECK(life_has_begun());
}

/* A message to itself: the rooms work. */
static void works(void)
{
    int64_t v = 4711, w = 0;
    struct gw_req *r = NULL;
    CHECK_EQ(p2p_irecv(&w, 8, gw_type_byte, 0, 1, &gw_comm_world, &r), GW_OK);
    CHECK(p2p_send(&v, 8, gw_type_byte, 0, 1, &gw_comm_world) == GW_OK && req_wait(&r, NULL) == GW_OK && w == 4711);
}

int main(void)
{
    int provided = -1;
    struct mpi_session *s = NULL, *t = NULL;
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    levels();
    CHECK(!life_has_begun() && !mpi_hot.running && life_highest() == GW_THREAD_SINGLE);
    CHECK(mpi_finalize() == GW_EOTHER && says("MPI_Init was not called"));
    for (int i = 0; i < 3; i++) sessions(false);
    CHECK_EQ(mpi_session_init(NULL, &gw_errors_return, &s), GW_OK);
    CHECK_EQ(mpi_init(GW_THREAD_SERIALIZED, &provided), GW_OK);
    CHECK(provided == GW_THREAD_SERIALIZED && life_highest() == GW_THREAD_SERIALIZED);
    CHECK(flag_of(mpi_initialized) == 1 && flag_of(mpi_finalized) == 0 && flag_of(mpi_is_thread_main) == 1);
    CHECK_EQ(flag_of(mpi_query_thread), GW_THREAD_SERIALIZED);
    CHECK(mpi_init(GW_THREAD_SINGLE, &provided) == GW_EOTHER && says("already initialized"));
    works();
    raising();
    fatal(&gw_errors_are_fatal, "MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) would return the error");
    fatal(&gw_errors_abort, "(MPI_ERRORS_ABORT is set)");
    sessions(true);
    CHECK_EQ(mpi_finalize(), GW_OK);
    CHECK(flag_of(mpi_finalized) == 1 && flag_of(mpi_initialized) == 1 && mpi_hot.running); /* a session is left */
    CHECK(mpi_finalize() == GW_EOTHER && says("finalized before"));
    CHECK(mpi_init(GW_THREAD_SINGLE, &provided) == GW_EOTHER && says("cannot be initialized again"));
    works();
    CHECK_EQ(mpi_session_init(NULL, &gw_errors_return, &t), GW_OK);
    CHECK(mpi_session_finalize(&s) == GW_OK && mpi_hot.running && mpi_session_finalize(&t) == GW_OK && !mpi_hot.running);
    sessions(false);
    return unit_end();
}
