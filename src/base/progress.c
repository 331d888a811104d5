/* progress.c -- lines that say how far long work is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/time.h"

enum {
    FIRST_MS = 1000,
    EACH_MS = 200,
    LINES_MS = 10000
}; /* a terminal's line: the first, and how often it is renewed; lines elsewhere */

static void put(const struct gw_progress *p, const char *text)
{
    if (write(p->fd, text, strlen(text)) < 0) {} /* nobody to tell */
}

void gw_progress_begin(struct gw_progress *p, bool is_quiet)
{
    *p = (struct gw_progress){.fd = is_quiet ? -1 : STDERR_FILENO, .is_terminal = isatty(STDERR_FILENO)};
    p->due_ns = gw_now_ns() + (uint64_t)(p->is_terminal ? FIRST_MS : LINES_MS) * 1000000;
}

/* So that a line does not wrap, which could not be renewed. */
static int columns(const struct gw_progress *p)
{
    struct winsize size;
    return ioctl(p->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

void gw_progress_at(struct gw_progress *p, const char *fmt, ...)
{
    char text[256], line[sizeof text + 16];
    if (p->fd < 0) return;
    uint64_t now = gw_now_ns();
    if (now < p->due_ns) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (p->is_terminal)
        snprintf(line, sizeof line, "\r%.*s\x1b[K", columns(p), text);
    else
        snprintf(line, sizeof line, "%s\n", text);
    put(p, line);
    p->is_shown = p->is_terminal;
    p->due_ns = now + (uint64_t)(p->is_terminal ? EACH_MS : LINES_MS) * 1000000;
}

void gw_progress_clear(struct gw_progress *p)
{
    if (p->is_shown) put(p, "\r\x1b[K");
    p->is_shown = false;
}

void gw_progress_end(struct gw_progress *p)
{
    gw_progress_clear(p);
    p->fd = -1;
}
