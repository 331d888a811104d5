/* raise.c -- raises errors: calls error handlers, prints the message, ends the job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/plain.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "node/node.h"

enum { BLOCK_MAX = 4096 };

struct mpi_upcalls mpi_upcalls;

/* The error handler of an object, or of calls without an object.  Before init and after finalize it is the initial one, except for files,
 * whose errors return. */
static struct gw_errhandler *handler_of(void *on)
{
    enum gw_kind kind = on ? ((struct gw_obj *)on)->kind : GW_KIND_NONE;
    if (kind == GW_KIND_FILE) return ((struct gw_file *)on)->errhandler;
    if (kind == GW_KIND_ERRHANDLER) return on;
    if (kind == GW_KIND_SESSION) return ((struct mpi_session *)on)->errhandler;
    if (!mpi_hot.running) return gw_errhandler_initial();
    if (kind == GW_KIND_WIN) return ((struct rma_win *)on)->errhandler;
    if (!on && atomic_load(&mpi_phase) != MPI_PHASE_RUNNING)
        return gw_errhandler_initial(); /* with sessions only there is no MPI_COMM_SELF */
    const struct gw_comm *c = on ? on : &gw_comm_self;
    return c->errhandler ? c->errhandler : &gw_errors_are_fatal;
}

bool mpi_raise_prints(void *on)
{
    struct gw_errhandler *eh = handler_of(on);
    return !eh->user.fn && eh != &gw_errors_return && eh != &gw_errors_throw;
}

/* True if another rank of this node has already printed why the job ends: one block is enough. */
static bool someone_aborted(void)
{
    if (!gw_node.base || gw_node.nlocal < 2) return false;
    for (int i = 0; i < gw_node.nlocal; i++)
        if (i != gw_node.me && atomic_load_explicit(&boot_slot_of(i)->phase, memory_order_acquire) == BOOT_ABORTED) return true;
    return false;
}

static void print_block(const char *said)
{
    /* One write, so that the blocks of several ranks do not mix. */
    size_t done = 0, n = strlen(said);
    while (done < n) {
        ssize_t k = write(STDERR_FILENO, said + done, n - done);
        if (k <= 0) break;
        done += (size_t)k;
    }
}

static void who_am_i(char *out, size_t cap)
{
    int phase = atomic_load_explicit(&mpi_phase, memory_order_relaxed);
    if (phase == MPI_PHASE_BEFORE && !mpi_hot.running)
        snprintf(out, cap, "pid %d", (int)getpid());
    else
        snprintf(out, cap, "rank %d (pid %d on %s)", gw_boot.rank, (int)getpid(), gw_boot.host);
}

static const char *what_to_do(const void *on, const struct gw_errhandler *eh)
{
    if (!mpi_hot.running) return "outside of MPI_Init and MPI_Finalize every error ends the program";
    if (eh == &gw_errors_abort) return "this rank and the job end now (MPI_ERRORS_ABORT is set)";
    if (on && ((const struct gw_obj *)on)->kind == GW_KIND_FILE)
        return "this rank and the job end now (MPI_ERRORS_ARE_FATAL is set; MPI_File_set_errhandler(file, MPI_ERRORS_RETURN) would return the error instead)";
    if (on && ((const struct gw_obj *)on)->kind == GW_KIND_SESSION)
        return "this rank and the job end now (the session's error handler is MPI_ERRORS_ARE_FATAL; "
               "MPI_Session_init(info, MPI_ERRORS_RETURN, &session) would make errors return instead)";
    if (on && ((const struct gw_obj *)on)->kind == GW_KIND_ERRHANDLER)
        return "this rank and the job end now (the error handler is MPI_ERRORS_ARE_FATAL; MPI_ERRORS_RETURN would return the "
               "error instead)";
    if (on && ((const struct gw_obj *)on)->kind == GW_KIND_WIN)
        return "this rank and the job end now (MPI_ERRORS_ARE_FATAL is set; "
               "MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN) would return the error instead)";
    if (!on && atomic_load(&mpi_phase) != MPI_PHASE_RUNNING)
        return "this rank and the job end now (the initial error handler is MPI_ERRORS_ARE_FATAL; mpiexec -initial-errhandler "
               "mpi_errors_return would return the error instead)";
    /* Of these errors the handler of MPI_COMM_WORLD, which most programs set, is not asked (MPI 4.1 section 9.3). */
    if (!on || on == &gw_comm_self.obj)
        return "this rank and the job end now (MPI_ERRORS_ARE_FATAL is set for MPI_COMM_SELF, where errors outside of any other "
               "communicator go; MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) would return the error instead)";
    return "this rank and the job end now (MPI_ERRORS_ARE_FATAL is set; "
           "MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) would return the error instead)";
}

static GW_COLD void end_of_job(const void *on, const struct gw_errhandler *eh, int mpi_code, const char *call, const char *args,
                               const char *reason) __attribute__((noreturn));
static void end_of_job(const void *on, const struct gw_errhandler *eh, int mpi_code, const char *call, const char *args,
                       const char *reason)
{
    char block[BLOCK_MAX], who[192], last_words[sizeof((struct boot_rank *)0)->what];
    int class_number = mpi_code;
    gw_errcode_find(mpi_code, &class_number);
    const char *class = mpi_class_name(class_number);
    who_am_i(who, sizeof who);
    gw_plain_format(block, sizeof block, "godwit: %s: %s%s failed\n  %s: %s\n  %s\n", who, call, args, class ? class : "error",
                    reason, what_to_do(on, eh));
    if (!someone_aborted()) print_block(block);
    size_t n = gw_plain_format(last_words, sizeof last_words, "%s: %s: %s", call, class ? class : "error", reason);
    if (n + 1 == sizeof last_words) memcpy(last_words + sizeof last_words - 4, "...", 4);
    boot_abort(mpi_code, last_words);
}

/* The calling thread's last error: its text, for MPI_Error_string, as the code is only the class. */
static _Thread_local struct {
    int class;
    bool is_thrown; /* the handler was gw_errors_throw */
    char reason[GW_MAX_ERROR_STRING / 2];
} last;

const char *mpi_last_reason(int class) { return class && last.class == class ? last.reason : NULL; }

bool mpi_last_is_thrown(void)
{
    bool is_thrown = last.is_thrown;
    last.is_thrown = false;
    return is_thrown;
}

/* Runs the handler.  If that lets the program continue, returns the code; a function of the user gets its address and may change it (section
 * 9.3). */
static int handle(void *on, int mpi_code, const char *call, const char *args, const char *reason)
{
    struct gw_errhandler *eh = handler_of(on);
    last.is_thrown = eh == &gw_errors_throw;
    if (eh == &gw_errors_return || last.is_thrown) return mpi_code;
    if (eh->user.fn) {
        /* A copy: the function may replace the handler of the object, and may leave by an exception of C++. */
        struct gw_callback user = eh->user;
        int code = mpi_code;
        mpi_upcalls.call_errhandler(&user, on ? on : &gw_comm_self.obj, &code);
        last.is_thrown = false; /* that was of a call that the function made */
        return code;
    }
    end_of_job(on, eh, mpi_code, call, args, reason);
}

int mpi_raise(int fn, void *on, int code, const char *args)
{
    const char *call = boot_call_name((uint32_t)fn);
    assert(code < 0 && call);
    int class = gw_error_class(code);
    assert(class > 0);
    const char *text = gw_fail_text();
    if (!text[0]) text = gw_error_text(code);
    last.class = class;
    snprintf(last.reason, sizeof last.reason, "%s: %s", call, text);
    return handle(on, class, call, args, text);
}

int mpi_call_errhandler(void *on, int mpi_code)
{
    char text[GW_MAX_ERROR_STRING];
    int len;
    int rc = mpi_error_string(mpi_code, text, &len);
    if (rc != GW_OK) return rc;
    handle(on, mpi_code, "the program itself", " called the error handler: this", text);
    return GW_OK;
}
