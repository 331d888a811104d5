/* check_say.c -- switching on, and findings as the user reads them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdio.h>
#include <unistd.h>

#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/segment.h"

enum { MODE_OFF, MODE_ON, MODE_ABORT, MODES }; /* the setting's words come twice */
static struct {
    _Atomic int n;
    int rank;      /* of this process, also when the rooms below are gone: */
    bool is_alone; /* they are */
} findings;

static int mode(void) { return gw_set.check % MODES; }

GW_ONCE bool check_is_asked(void) { return mode() != MODE_OFF; }

/* The slots are read by those who check: the others cannot know what the messages mean that they would get. */
void check_alike(void)
{
    if (!gw_node.base) return;
    for (int i = 0; i < gw_node.nlocal; i++)
        if (!boot_slot_of(i)->is_checking)
            gw_die("MPI_Init: GODWIT_CHECK is on for this rank and off for rank %d; set it alike for all ranks of the job",
                   gw_boot.local_to_world[i]);
}

bool check_is_alone(void) { return findings.is_alone; }

void check_say_alone(void) { findings.is_alone = true; }

void check_begin(void)
{
    findings.n = 0;
    findings.is_alone = false;
    findings.rank = gw_boot.rank;
    check_place_begin();
    check_type_begin();
    check_recv_begin();
}

const char *check_comm_name(uint32_t ctx, char *out)
{
    struct gw_comm *c = comm_by_context(ctx >> GW_STREAM_BITS);
    snprintf(out, CHECK_COMM_TEXT, "%s",
             !c               ? "a communicator that was freed"
                 : c->name[0] ? c->name
                              : "a communicator without a name");
    if (c) comm_release(c);
    return out;
}

const char *check_win_name(const struct rma_win *w, char *out)
{
    snprintf(out, CHECK_WIN_TEXT, "%s%s", w && w->name[0] ? "the window " : "a window without a name", w ? w->name : "");
    return out;
}

/* One write, so that the findings of several ranks do not mix. */
static void put(const char *text, size_t n)
{
    for (ssize_t k; n > 0 && (k = write(STDERR_FILENO, text, n)) > 0; n -= (size_t)k) text += k;
}

static void put_line(const char *head, const char *fmt, va_list args)
{
    char text[4096];
    size_t n = gw_plain_format(text, sizeof text, "godwit[%d] %s: ", findings.rank, head);
    n += gw_plain_vformat(text + n, sizeof text - n - 1, fmt, args);
    text[n++] = '\n';
    put(text, n);
}

static void put_words(const char *head, const char *fmt, ...) GW_PRINTF(2, 3);
static void put_words(const char *head, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_line(head, fmt, args);
    va_end(args);
}

void check_say(const char *fmt, ...)
{
    static const char *const head = "check";
    int number = atomic_fetch_add(&findings.n, 1);
    if (number > CHECK_FINDINGS) return;
    va_list args;
    va_start(args, fmt);
    if (number < CHECK_FINDINGS)
        put_line(head, fmt, args);
    else
        put_words(head, "there is more; this rank has said %d things and says no more", CHECK_FINDINGS);
    va_end(args);
    if (mode() == MODE_ABORT && findings.is_alone) gw_exit_now(1);
    if (mode() == MODE_ABORT) boot_abort(1, "GODWIT_CHECK found misuse of MPI and was asked to end the job");
}

void check_remark(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_line("GODWIT_CHECK", fmt, args);
    va_end(args);
}
