/* progress_test.c -- what is said of long work: on a terminal, elsewhere, and where nothing is to be said.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/time.h"
#include "unit.h"

/* What `fd` has now. */
static const char *heard(int fd)
{
    static char text[4096];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ssize_t n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    return text;
}

/* What was written to a terminal before a last "!": the kernel passes it on a little later. */
static const char *heard_until_mark(int fd)
{
    static char text[4096];
    size_t at = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (at + 1 < sizeof text && (at == 0 || text[at - 1] != '!') && poll(&p, 1, 60000) > 0) {
        ssize_t n = read(fd, text + at, sizeof text - 1 - at);
        if (n <= 0) break;
        at += (size_t)n;
    }
    CHECK(at > 0 && text[at - 1] == '!');
    text[at ? at - 1 : 0] = 0;
    return text;
}

static void work(struct gw_progress *p, bool is_quiet)
{
    gw_progress_begin(p, is_quiet);
    for (int i = 0; i < 1000; i++) gw_progress_at(p, "unit: %d of 1000", i); /* within the first second nothing is due */
}

static void elsewhere(int kept)
{
    int ends[2];
    struct gw_progress p;
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    work(&p, false);
    p.due_ns = 0;
    gw_progress_at(&p, "unit: %s", "half");
    gw_progress_at(&p, "unit: not yet again");
    CHECK(p.due_ns > gw_now_ns() + UINT64_C(5000000000)); /* the next in ten seconds */
    gw_progress_end(&p);
    p.due_ns = 0;
    gw_progress_at(&p, "unit: after the end");
    dup2(kept, STDERR_FILENO);
    const char *said = heard(ends[0]);
    CHECK(strcmp(said, "unit: half\n") == 0);
    dup2(ends[1], STDERR_FILENO);
    work(&p, true);
    p.due_ns = 0;
    gw_progress_at(&p, "unit: quiet");
    gw_progress_end(&p);
    dup2(kept, STDERR_FILENO);
    CHECK(heard(ends[0])[0] == 0);
}

static void on_terminal(int kept)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios t;
    struct winsize size = {.ws_col = 11};
    CHECK(slave >= 0 && tcgetattr(slave, &t) == 0);
    cfmakeraw(&t);
    CHECK(tcsetattr(slave, TCSANOW, &t) == 0 && ioctl(slave, TIOCSWINSZ, &size) == 0);
    CHECK(dup2(slave, STDERR_FILENO) == STDERR_FILENO);
    struct gw_progress p;
    work(&p, false);
    for (int i = 0; i < 2; i++) {
        p.due_ns = 0;
        gw_progress_at(&p, "unit: %d is longer than the line", i);
    }
    gw_progress_clear(&p);
    gw_progress_clear(&p); /* once is enough */
    gw_progress_end(&p);
    dup2(kept, STDERR_FILENO);
    CHECK(write(slave, "!", 1) == 1);
    const char *said = heard_until_mark(master);
    CHECK(strcmp(said, "\runit: 0 is\x1b[K\runit: 1 is\x1b[K\r\x1b[K") == 0);
    close(slave);
    close(master);
}

int main(void)
{
    int kept = dup(STDERR_FILENO);
    elsewhere(kept);
    on_terminal(kept);
    return unit_end();
}
