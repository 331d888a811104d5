/* link_test.c -- frames arrive as they were sent, however the bytes are cut; what is no frame breaks the link; a full pipe keeps nobody waiting.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/link.h"
#include "base/base.h"
#include "unit.h"

static struct link pair(struct link *other)
{
    int a[2], b[2];
    if (pipe2(a, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(b, O_CLOEXEC | O_NONBLOCK) < 0) exit(2);
    *other = (struct link){.in = a[0], .out = b[1]};
    return (struct link){.in = b[0], .out = a[1]};
}

static void whole(void)
{
    struct link there, here = pair(&there);
    struct link_frame f;
    link_send(&here, &(struct link_frame){LINK_END, 15, 143, 1, "abc", 3});
    link_send(&here, &(struct link_frame){.kind = LINK_MET});
    CHECK(!link_next(&there, &f));
    CHECK_EQ(link_read(&there), LINK_OPEN);
    CHECK(link_next(&there, &f) && f.kind == LINK_END && f.a == 15 && f.b == 143 && f.c == 1 && f.len == 3 &&
          memcmp(f.data, "abc", 3) == 0);
    CHECK(link_next(&there, &f) && f.kind == LINK_MET && f.len == 0);
    CHECK(!link_next(&there, &f));
    CHECK_EQ(link_read(&there), LINK_OPEN); /* nothing is there */
    link_close(&here);
    CHECK_EQ(link_read(&there), LINK_CLOSED);
    CHECK(!there.is_broken);
    link_close(&there);
    CHECK_EQ(link_read(&there), LINK_CLOSED);
}

/* A greeting with what a shell says before it, and frames behind it, byte by byte. */
static void cut(void)
{
    struct link there, here = pair(&there);
    struct link_frame f;
    char line[8], bytes[256];
    const char *text = "Welcome\nGODWIT-AGENT\n";
    if (write(here.out, text, strlen(text)) < 0) exit(2);
    link_send(&here, &(struct link_frame){LINK_SAY, 0, 0, 0, "x", 1});
    ssize_t n = read(there.in, bytes, sizeof bytes);
    int lines = 0, frames = 0;
    for (ssize_t i = 0; i < n; i++) {
        if (write(here.out, bytes + i, 1) < 0) exit(2);
        link_read(&there);
        if (lines < 2 && link_line(&there, line, sizeof line)) {
            CHECK_STR(line, lines ? "GODWIT-" : "Welcome"); /* as far as there is room */
            lines++;
        } else if (lines == 2 && link_next(&there, &f)) {
            CHECK(f.kind == LINK_SAY && f.len == 1 && f.data[0] == 'x');
            frames++;
        }
    }
    CHECK(lines == 2 && frames == 1);
    link_close(&here);
    link_close(&there);
}

static void no_frame(void)
{
    const uint32_t heads[][5] = {
        {0, 0, 0, 0, 0}, {LINK_DONE + 1, 0, 0, 0, 0}, {LINK_SAY, 0, 0, 0, LINK_FRAME_MOST + 1}, {~0u, ~0u, ~0u, ~0u, ~0u}};
    for (size_t i = 0; i < GW_ARRAY_LEN(heads); i++) {
        struct link there, here = pair(&there);
        struct link_frame f;
        if (write(here.out, heads[i], sizeof heads[i]) < 0) exit(2);
        link_read(&there);
        CHECK(!link_next(&there, &f) && there.is_broken);
        CHECK(!link_next(&there, &f));
        link_close(&here);
        link_close(&there);
    }
}

/* More than a pipe takes is queued, and goes when there is room. */
static void full(void)
{
    enum { BYTES = 1 << 20 };
    struct link there, here = pair(&there);
    struct link_frame f;
    char *data = gw_xcalloc(1, BYTES);
    data[BYTES - 1] = 'z';
    link_send(&here, &(struct link_frame){LINK_OUTPUT, 7, 1, 0, data, BYTES});
    link_send(&here, &(struct link_frame){.kind = LINK_DONE, .a = 3});
    CHECK(!link_flush(&here));
    int turns = 0;
    bool got = false;
    for (; turns < 10000 && !got; turns++) {
        link_read(&there);
        got = link_next(&there, &f);
        link_flush(&here);
    }
    CHECK(got && f.kind == LINK_OUTPUT && f.a == 7 && f.b == 1 && f.len == BYTES && f.data[BYTES - 1] == 'z');
    for (turns = 0; turns < 10 && !link_next(&there, &f); turns++) link_read(&there), link_flush(&here);
    CHECK(f.kind == LINK_DONE && f.a == 3 && link_flush(&here));
    link_close(&there);
    link_send(&here, &(struct link_frame){.kind = LINK_MET}); /* nobody reads any more: no signal, and nothing is kept */
    CHECK(here.is_broken && link_flush(&here));
    link_close(&here);
    free(data);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    whole();
    cut();
    no_frame();
    full();
    return unit_end();
}
