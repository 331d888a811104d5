/* boot_wait.c -- waits for the launcher end where a host of the job is gone.
 *
 * Before ranks have exchanged addresses (and while they do) a rank knows other hosts only by what the launcher said at its start: a list of
 * names (PMIx, Slurm's variables), or the connections of the launcher's own processes on this host.  The first rank of the node probes
 * them as soon as an answer takes long, so that a host which goes later has answered before; each other rank one of them.  Afterwards net/alive.c does so.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"

#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { EXIT_LOST_HOST = 125 /* as mpiexec's */, HOST_MOST = 256, WATCH_MOST = 64 };

/* ---- who there is ---- */
/* The names of one pair of brackets; the numbers of a range have as many digits as its first. */
static bool expand_brackets(const char *list, size_t prefix, bool (*take)(void *, const char *, size_t), void *to)
{
    assert(list[prefix] == '[');
    for (const char *p = list + prefix + 1; *p && *p != ']';) {
        char *end, name[HOST_MOST];
        long a = strtol(p, &end, 10), b = a;
        int digits = (int)(end - p);
        if (end == p) return true;
        if (*end == '-') b = strtol(end + 1, &end, 10);
        for (; a <= b; a++) {
            int n = snprintf(name, sizeof name, "%.*s%0*ld", (int)prefix, list, digits, a);
            if (n < (int)sizeof name && !take(to, name, (size_t)n)) return false;
        }
        p = *end == ',' ? end + 1 : end;
        if (*p != ']' && !isdigit((unsigned char)*p)) return true;
    }
    return true;
}

void boot_hosts_expand(const char *list, bool (*take)(void *to, const char *name, size_t n), void *to)
{
    while (*list) {
        size_t n = strcspn(list, ",[");
        if (list[n] == '[') {
            if (!expand_brackets(list, n, take, to)) return;
            list += strcspn(list, "]");
            list += strcspn(list, ","); /* a name with text behind the bracket is not supported */
        } else {
            if (n && !take(to, list, n)) return;
            list += n;
        }
        list += *list == ',';
    }
}

static struct {
    atomic_flag is_taken; /* one thread at a time watches: the others go on waiting */
    bool is_listed;
    bool are_named; /* the launcher has named the hosts, all of them */
    int n, n_known; /* of[0..n_known) have been looked up */
    struct seen {
        char name[HOST_MOST];
        struct boot_ask ask; /* len 0: no address */
    } * of;
} watch = {.is_taken = ATOMIC_FLAG_INIT};

static bool is_this_host(const char *name, size_t n)
{
    size_t m = strcspn(gw_boot.host, "."), k = 0;
    while (k < n && name[k] != '.') k++;
    return m == k && strncmp(name, gw_boot.host, m) == 0;
}

/* Of a long list those that follow this host, as net/alive.c has it: the last WATCH_MOST before it are overwritten once it has been met. */
struct listing {
    bool is_met;
    int n_after, n_all;
};

static bool list_name(void *to, const char *name, size_t n)
{
    struct listing *l = to;
    const char *slots = memchr(name, ':', n);
    n = slots ? (size_t)(slots - name) : n;
    if (is_this_host(name, n)) {
        l->is_met = true;
        return true;
    }
    l->n_all++;
    if (n >= HOST_MOST || (watch.n == WATCH_MOST && !l->is_met)) return true;
    int at = l->is_met ? l->n_after++ : watch.n;
    if (at >= WATCH_MOST) return false;
    if (at >= watch.n) watch.n = at + 1;
    snprintf(watch.of[at].name, HOST_MOST, "%.*s", (int)n, name);
    return true;
}

static void list_hosts(void)
{
    const struct boot_backend *way = boot_backend_used();
    const char *of_mpiexec = getenv(BOOT_HOST_SLOTS), *of_slurm = getenv("SLURM_STEP_NODELIST");
    char *list = way && way->host_list ? way->host_list() : NULL;
    struct sockaddr_storage peers[WATCH_MOST];
    struct listing l = {0};
    watch.is_listed = true;
    watch.of = gw_xcalloc(WATCH_MOST, sizeof *watch.of);
    if (!list && (of_mpiexec || of_slurm)) list = gw_xasprintf("%s", of_mpiexec ? of_mpiexec : of_slurm);
    if (list) boot_hosts_expand(list, list_name, &l);
    free(list);
    watch.are_named = watch.n > 0;
    int n = watch.are_named ? 0 : boot_launcher_peers(peers, WATCH_MOST);
    for (int i = 0; i < n; i++) {
        struct seen *s = &watch.of[watch.n++];
        bool is_six = peers[i].ss_family == AF_INET6;
        socklen_t len = is_six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
        getnameinfo((struct sockaddr *)&peers[i], len, s->name, sizeof s->name, NULL, 0, NI_NUMERICHOST);
        boot_ask_begin(&s->ask, (struct sockaddr *)&peers[i], len);
        s->ask.from_start = true;
        watch.n_known++;
    }
}

static void look_up(struct seen *s)
{
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(s->name, NULL, &hints, &found) != 0) return;
    boot_ask_begin(&s->ask, found->ai_addr, found->ai_addrlen);
    s->ask.from_start = true;
    freeaddrinfo(found);
}

/* ---- who is gone ---- */
void boot_host_is_gone(const char *host, double silent)
{
    char text[160], shown[4 * HOST_MOST];
    snprintf(text, sizeof text, "host %.64s has not answered for %d s (GODWIT_HOST_TIMEOUT=%d); the job ends now",
             gw_plain(shown, sizeof shown, host, GW_PLAIN_WORD), (int)silent, (int)gw_set.host_timeout);
    gw_print(stderr, "godwit: rank %d (%s): %s\n", gw_boot.rank, gw_boot.host, text);
    boot_abort(EXIT_LOST_HOST, text);
}

double boot_host_patience(void) { return 1.5 * (double)gw_set.host_timeout + 2; }

/* The other ranks of a node are there for a host that is cut off: its first one ends, and tells a launcher that hears nothing. */
static double grace(void) { return gw_boot.local_rank ? 3 : 0; }

bool boot_host_is_lost(const struct boot_ask *a, double silent)
{
    return silent > (a->ever ? 1 : 2) * boot_host_patience() + grace();
}

static void look_around(void)
{
    if (!watch.is_listed) list_hosts();
    if (gw_boot.local_rank && watch.n > 1) watch.n = 1; /* one tells whether this host is cut off */
    for (int more = 4; more > 0 && watch.n_known < watch.n; more--) look_up(&watch.of[watch.n_known++]);
    for (int i = 0; i < watch.n_known && i < watch.n; i++) {
        struct seen *s = &watch.of[i];
        double silent = s->ask.len ? boot_ask_step(&s->ask, (double)gw_set.host_timeout / 4) : 0;
        if (unlikely(boot_host_is_lost(&s->ask, silent))) boot_host_is_gone(s->name, silent);
    }
}

/* Nobody has said which hosts there are, so only time tells.  Once MPI runs, ranks may compute for as long as they like. */
static void look_at_clock(double waited)
{
    char text[200];
    bool is_start = atomic_load_explicit(&boot_my_rank_slot()->phase, memory_order_relaxed) < BOOT_RUNNING;
    if (watch.are_named || !is_start || gw_set.init_timeout <= 0 || waited < (double)gw_set.init_timeout + grace()) return;
    snprintf(
        text, sizeof text,
        "MPI_Init has waited for ranks on other hosts for %d s (GODWIT_INIT_TIMEOUT): they have not called it, or their host is "
        "gone; the job ends now",
        (int)waited);
    gw_print(stderr, "godwit: rank %d (%s): %s\n", gw_boot.rank, gw_boot.host, text);
    boot_abort(EXIT_LOST_HOST, text);
}

/* Hydra waits for ever for a host to which its remote shell did not come: the name is unknown, or the host lets nobody in. */
static void look_at_shells(double waited)
{
    static double next = 1;
    char text[320], shown[4 * BOOT_PROCESS_NAME];
    struct boot_lost_way way;
    bool is_start = atomic_load_explicit(&boot_my_rank_slot()->phase, memory_order_relaxed) < BOOT_RUNNING;
    if (!is_start || gw_boot.local_rank || (gw_boot.how != BOOT_PMI1 && gw_boot.how != BOOT_PMI2) || waited < next) return;
    next = waited + 1;
    if (!boot_launcher_lost_way(&way)) return;
    snprintf(
        text, sizeof text,
        "the remote shell that %s (process %d) had started for another host has failed with status %d (its message is above), so that "
        "ranks there never come; the job ends now",
        gw_plain(shown, sizeof shown, way.launcher, GW_PLAIN_WORD), (int)way.pid, way.status);
    gw_print(stderr, "godwit: rank %d (%s): %s\n", gw_boot.rank, gw_boot.host, text);
    boot_abort(EXIT_LOST_HOST, text);
}

void boot_wait_step(uint64_t since_ns)
{
    static const double soon = 0.2;
    double waited = (double)(gw_now_ns() - since_ns) * 1e-9;
    if (waited < soon || gw_boot.nlocal == gw_boot.size || gw_set.host_timeout <= 0) return;
    if (atomic_flag_test_and_set_explicit(&watch.is_taken, memory_order_acquire)) return;
    look_around();
    look_at_shells(waited);
    look_at_clock(waited);
    atomic_flag_clear_explicit(&watch.is_taken, memory_order_release); /* pairs with the next one's test */
}
