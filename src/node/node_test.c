/* node_test.c -- the segment, its heap, waiting and waking, copy jobs; with ranks as processes and with threads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"
#include "base/count.h"
#include "base/lock.h"
#include "base/settings.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "../../test/ranks.h"

enum { AREA = 10000, HEAP = 256 << 10 };

/* The first words of rank 0's area serve the test itself. */
struct board {
    _Atomic uint64_t word[512];
};
static struct board *board(void) { return node_area(0, 0); }

static void barrier(int slot)
{
    atomic_fetch_add(&board()->word[slot], 1);
    while (atomic_load(&board()->word[slot]) < (uint64_t)gw_node.nlocal) usleep(50);
}

/* ---- layout ------------------------------------------------------------------------------------------------------------------ */
static void layout(int rank)
{
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    CHECK(gw_node.nlocal == gw_boot.nlocal && gw_node.me == rank);
    CHECK_EQ(gw_node.oversubscribed, gw_boot.nlocal > 4);
    char *mine = node_area(rank, 0);
    CHECK_EQ((uintptr_t)mine % 4096, 0);
    for (int i = rank ? 0 : (int)sizeof(struct board); i < AREA; i++) CHECK_EQ(mine[i], 0);
    CHECK(node_ptr(0) == NULL && node_off(NULL) == 0 && node_ptr(node_off(mine)) == mine);
    CHECK(node_off(mine) + AREA <= gw_node.bytes);
    memset(mine + sizeof(struct board), rank + 1, AREA - sizeof(struct board));
    barrier(0);
    for (int r = 0; r < gw_node.nlocal; r++) {
        char *other = node_area(r, 0);
        CHECK(r == 0 || other >= (char *)node_area(r - 1, 0) + AREA);
        for (int i = sizeof(struct board); i < AREA; i++) CHECK_EQ(other[i], r + 1);
    }
    barrier(1);
    node_finalize();
}

static void node_wait_all(void)
{
    _Atomic uint32_t *come = &gw_node.doors[gw_node.nlocal].xoff; /* the entry of the whole node: nobody uses this word */
    uint32_t all = (atomic_fetch_add(come, 1) / (uint32_t)gw_node.nlocal + 1) * (uint32_t)gw_node.nlocal;
    while (atomic_load(come) < all) usleep(50);
}

/* Those of lane 0 lie together, behind those of the other lanes and before the heap; they are where other jobs look for them. */
static void lanes(int rank)
{
    enum { LANES = 3 };
    const int n = gw_boot.nlocal;
    CHECK_EQ(node_init(AREA, LANES, rank % 2, HEAP), GW_OK);
    const uint64_t size = node_area_bytes(AREA);
    char *first = node_area(0, 1), *last = node_area(n - 1, 0);
    CHECK((char *)gw_node.doors < first && node_off(last) + size + HEAP <= gw_node.bytes);
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < n; r++) {
            char *area = node_area(r, lane);
            CHECK(area >= first && area <= last && (uint64_t)(area - first) % size == 0);
            if (r > 0) CHECK_EQ(area - (char *)node_area(r - 1, lane), size);
        }
    for (int lane = 1; lane < LANES; lane++) CHECK((char *)node_area(n - 1, lane) < (char *)node_area(0, 0));
    for (int lane = 0; lane < LANES; lane++) memset(node_area(rank, lane), rank * LANES + lane + 1, size);
    node_wait_all();
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < n; r++)
            for (uint64_t i = 0; i < size; i += 64) CHECK_EQ(((unsigned char *)node_area(r, lane))[i], r * LANES + lane + 1);
    node_wait_all();
    struct node_other there = {.n = n, .lanes = LANES, .areas = first, .area_bytes = size};
    for (int lane = 0; lane < LANES; lane++) CHECK(node_other_area(&there, n - 1, lane) == node_area(n - 1, lane));
    node_finalize();
}

/* ---- heap -------------------------------------------------------------------------------------------------------------------- */
struct block {
    uint64_t off, bytes;
    unsigned char fill;
};

static uint64_t chance_state;
static uint64_t chance(uint64_t n)
{
    chance_state ^= chance_state << 13, chance_state ^= chance_state >> 7, chance_state ^= chance_state << 17;
    return (chance_state >> 11) % n;
}

static void block_check_and_free(struct block *b)
{
    unsigned char *p = node_ptr(b->off);
    for (uint64_t i = 0; i < b->bytes; i++)
        if (p[i] != b->fill) {
            CHECK_EQ(p[i], b->fill);
            break;
        }
    memset(p, 0, b->bytes);
    node_heap_free(b->off);
    b->off = 0;
}

/* Every rank allocates, writes and frees; nobody's bytes change; in the end all memory is one block again. */
static void heap_churn(int rank)
{
    enum { BLOCKS = 20 };
    struct block blocks[BLOCKS] = {{0}};
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    chance_state = 77 + (uint64_t)rank;
    int full = 0;
    for (int i = 0; i < 4000; i++) {
        struct block *b = &blocks[chance(BLOCKS)];
        if (b->off) {
            block_check_and_free(b);
            continue;
        }
        b->bytes = 1 + chance(i % 50 ? 2000 : 100000);
        b->off = node_heap_alloc(b->bytes);
        if (!b->off) {
            full++;
            continue;
        }
        CHECK_EQ(b->off % GW_CACHELINE, 0);
        CHECK(b->off + b->bytes <= gw_node.bytes);
        b->fill = (unsigned char)(rank * 40 + i % 40 + 1);
        memset(node_ptr(b->off), b->fill, b->bytes);
    }
    CHECK(full < 2000);
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].off) block_check_and_free(&blocks[k]);
    node_heap_free(0);
    barrier(0);
    if (rank == 0) {
        CHECK_EQ(node_heap_alloc(HEAP), 0); /* the heap's own words need room */
        uint64_t all = node_heap_alloc(HEAP - 4 * GW_CACHELINE);
        CHECK(all != 0);
        CHECK_EQ(node_heap_alloc(HEAP / 2), 0);
        for (int i = 0; i < 3; i++) { /* the third of three frees */
            CHECK_EQ(node_heap_alloc(HEAP / 2), 0);
            node_heap_leave(all, 3);
        }
        all = node_heap_alloc(HEAP / 2);
        CHECK(all != 0);
        node_heap_free(all);
        CHECK_EQ(node_heap_alloc(UINT64_MAX - 10), 0); /* no wrap-around */
    }
    barrier(1);
    node_finalize();
}

/* ---- waiting: ranks pass a token round; each sleeps while it waits ------------------------------------------------------------- */
enum { TOKEN = 100, LAPS = 300 };

static void wait_for(_Atomic uint64_t *word, uint64_t value)
{
    struct node_wait w;
    node_wait_begin(&w);
    while (atomic_load_explicit(word, memory_order_acquire) < value) node_wait_step(&w, false);
    node_wait_end(&w);
}

static void pass_token(int rank)
{
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    int n = gw_node.nlocal, next = (rank + 1) % n;
    _Atomic uint64_t *token = &board()->word[TOKEN];
    for (uint64_t lap = 0; lap < LAPS; lap++) {
        wait_for(token, lap * (uint64_t)n + (uint64_t)rank);
        CHECK_EQ(atomic_load(token), lap * (uint64_t)n + (uint64_t)rank);
        if (rank == 0 && lap % 100 == 0) usleep(3000); /* the others fall asleep */
        atomic_fetch_add_explicit(token, 1, memory_order_release);
        node_ring(next);
    }
    barrier(1);
    node_finalize();
}

static int64_t thread_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Waiting long costs little; the ring at the end is not lost.  The best of three: what a hypervisor takes from a thread that runs may be
 * charged to it. */
static void idle(int rank)
{
    enum { TIMES = 3 };
    int64_t least_us = INT64_MAX;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    for (int i = 0; i < TIMES; i++) {
        barrier(i);
        if (rank == 0) {
            usleep(300000);
            atomic_store_explicit(&board()->word[TOKEN + i], 1, memory_order_release);
            for (int r = 1; r < gw_node.nlocal; r++) node_ring(r);
        } else {
            int64_t before = thread_cpu_us();
            wait_for(&board()->word[TOKEN + i], 1);
            int64_t took_us = thread_cpu_us() - before;
            if (took_us < least_us) least_us = took_us;
        }
    }
    if (rank) CHECK(least_us < 30000);
    barrier(TIMES);
    node_finalize();
}

static long sleeps(void) /* how often this thread has given its core away to wait */
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw;
}

/* Progress starts the spin anew; a waiter that makes progress never sleeps. */
static void steps(int rank)
{
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    struct node_wait w;
    node_wait_begin(&w);
    for (int i = 0; i < 100000; i++) {
        node_wait_step(&w, true);
        CHECK_EQ(w.phase, 0);
    }
    CHECK(!node_seems_asleep(&gw_node.doors[0]));
    for (int i = 0; i < 100000 && !node_seems_asleep(&gw_node.doors[0]); i++) node_wait_step(&w, false);
    CHECK(node_seems_asleep(&gw_node.doors[0])); /* armed, not yet asleep */
    uint32_t seq = atomic_load(&gw_node.doors[0].seq);
    node_ring(0);
    CHECK(!node_seems_asleep(&gw_node.doors[0]));
    CHECK_EQ(atomic_load(&gw_node.doors[0].seq), seq + 1);
    long before = sleeps();
    node_wait_step(&w, false); /* must not sleep: it was rung */
    CHECK_EQ(sleeps(), before);
    node_wait_end(&w);
    node_ring(0);
    CHECK_EQ(atomic_load(&gw_node.doors[0].seq), seq + 1); /* nobody sleeps: the bell is not touched */
    node_finalize();
}

/* Who watches a descriptor is woken by it, and by its doorbell.  The waits would last for an hour: a lost wake-up is a test that hangs. */
static void descriptors(int rank)
{
    static const int64_t hour_ns = 3600000000000;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    struct node_door *d = &gw_node.doors[0];
    if (rank == 0) {
        int fds[2];
        CHECK_EQ(pipe(fds), 0);
        CHECK(!node_bell_is_used());
        CHECK_EQ(node_wait_on(fds[0]), GW_OK);
        CHECK(node_bell_is_used() && atomic_load(&d->bell));
        CHECK_EQ(write(fds[1], "x", 1), 1);
        CHECK(node_bell_wait(&d->seq, atomic_load(&d->seq), hour_ns, false)); /* readable already */
        CHECK_EQ(read(fds[0], &(char){0}, 1), 1);
        CHECK(!node_bell_wait(&d->seq, atomic_load(&d->seq) - 1, hour_ns, false)); /* rung already */
        for (int i = 0; i < 100; i++) {
            uint32_t seen = atomic_load(&d->seq);
            atomic_fetch_or(&d->sleeping, 1);
            CHECK(!node_bell_wait(&d->seq, seen, hour_ns, false));
            CHECK_EQ(atomic_load(&d->seq), seen + 1);
        }
        CHECK_EQ(node_wait_on(-1), GW_EOTHER);
    } else {
        for (int i = 0; i < 100; i++) {
            while (!node_seems_asleep(d)) usleep(10);
            node_ring(0);
        }
    }
    barrier(0);
    node_finalize();
}

/* What the kernel has counted of this thread. */
static long switches;
int getrusage(__rusage_who_t who, struct rusage *r)
{
    (void)who;
    *r = (struct rusage){.ru_nivcsw = switches};
    return 0;
}
static void yielded(uint64_t before, uint64_t after, bool is_switch)
{
    switches += is_switch;
    node_wait_yielded(before, after);
}

/* Who yields where others compute waits asleep for a while. */
static void long_yields(int rank)
{
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    uint64_t ms = (uint64_t)gw_ticks_per_us() * 1000, now = gw_ticks();
    yielded(now + 9997 * ms, now + 9998 * ms, true); /* short: no pause, not even in ten seconds */
    CHECK(node_wait_yield());
    yielded(now + 9996 * ms, now + 9998 * ms, false); /* long, but by nobody on this core */
    CHECK(node_wait_yield());
    yielded(now + 9997 * ms, now + 9998 * ms, true);
    yielded(now + 9998 * ms, now + 10000 * ms, true); /* long: a pause until ten seconds from now */
    bool sleeps = gw_set.wait == GW_SET_WAIT_AUTO || gw_set.wait == GW_SET_WAIT_SLEEP;
    CHECK_EQ(node_wait_yield(), !sleeps);
    struct node_wait w;
    node_wait_begin(&w);
    while (w.phase == 0) node_wait_step(&w, false);
    w.until = now + 10000 * ms; /* it would yield for long */
    node_wait_step(&w, false);
    CHECK_EQ(node_seems_asleep(&gw_node.doors[0]), sleeps); /* armed instead */
    node_wait_end(&w);
    yielded(now - 1000 * ms, now - 900 * ms, true); /* the pause is over */
    CHECK(node_wait_yield());
    node_finalize();
}

/* Who is seen to share its core with others that nobody counted spins less for a while. */
static void shared_cores(int rank)
{
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    uint64_t us = gw_ticks_per_us(), ms = us * 1000, now = gw_ticks();
    uint32_t spin = node_spin();
    bool learns = spin > 1000 && gw_set.wait != GW_SET_WAIT_SPIN;
    yielded(now, now + us, false);
    CHECK_EQ(node_spin(), spin);
    yielded(now, now + 50 * us, true);
    yielded(now + ms, now + ms + us, true);
    CHECK(learns ? node_spin() < 10 : node_spin() == spin);
    yielded(now + ms + 10 * us, now + ms + 11 * us, false); /* a quick one now and then says nothing */
    CHECK(learns ? node_spin() < 10 : node_spin() == spin);
    yielded(now + 3 * ms, now + 3 * ms + us, false);
    CHECK_EQ(node_spin(), spin);
    node_finalize();
}

/* A wait that has become long says so in the rank's slot, whichever way it waits; progress and its end are told too. */
static void tells(int rank)
{
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    const struct boot_where *where = &boot_slot->where;
    struct node_wait w;
    atomic_store(&boot_slot->call, 77);
    node_wait_begin(&w);
    CHECK_EQ(atomic_load(&where->state), BOOT_BUSY);
    CHECK(!node_wait_step(&w, false)); /* not at once */
    while (!node_wait_step(&w, false)) {}
    CHECK_EQ(atomic_load(&where->state), BOOT_BLOCKED);
    CHECK_EQ(where->call, 77);
    CHECK_EQ(where->n_pending, 0);
    CHECK(where->since_ns > 0 && where->told_ns <= gw_now_ns());
    struct boot_where *mine = node_report_begin();
    CHECK_EQ(atomic_load(&where->version) % 2, 1);
    mine->n_pending = 1;
    node_report_end(mine);
    CHECK_EQ(atomic_load(&where->version) % 2, 0);
    CHECK(w.again_ns > where->told_ns);
    w.again_ns = UINT64_MAX;                                       /* however long the steps take */
    for (int i = 0; i < 5; i++) CHECK(!node_wait_step(&w, false)); /* once is enough */
    CHECK_EQ(where->n_pending, 1);
    uint64_t since = where->since_ns, told = where->told_ns;
    node_wait_step(&w, true);
    CHECK_EQ(atomic_load(&where->state), BOOT_MOVING);
    while (!node_wait_step(&w, false)) {}
    CHECK_EQ(atomic_load(&where->state), BOOT_BLOCKED);
    CHECK_EQ(where->since_ns, since); /* the same wait */
    CHECK(where->told_ns > told);
    CHECK_EQ(where->n_pending, 0);
    node_wait_end(&w);
    CHECK_EQ(atomic_load(&where->state), BOOT_BUSY);
    node_finalize();
}

/* Tests in vain are told where they are many; a wait that lasts is told instead. */
static void polls(int rank)
{
    (void)rank;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    const struct boot_where *where = &boot_slot->where;
    CHECK(!node_polled());
    while (!node_polled()) {}
    CHECK_EQ(atomic_load(&where->state), BOOT_POLLING);
    uint64_t told = where->told_ns, since = where->since_ns;
    while (!node_polled()) {}
    CHECK(where->told_ns > told);
    CHECK_EQ(where->since_ns, since);
    struct node_wait w;
    node_wait_begin(&w);
    while (!node_wait_step(&w, false)) {}
    CHECK_EQ(atomic_load(&where->state), BOOT_BLOCKED);
    for (int i = 0; i < 100000; i++) CHECK(!node_polled());
    node_wait_end(&w);
    node_wait_begin_silent(&w); /* a progress thread is not the program */
    uint64_t slept = gw_count.sleeps, waited = gw_count.waits_long;
    for (int i = 0; i < 50; i++) CHECK(!node_wait_step(&w, false));
    CHECK(gw_count.sleeps == slept && gw_count.waits_long == waited);
    node_wait_end(&w);
    CHECK_EQ(atomic_load(&where->state), BOOT_BUSY);
    node_finalize();
}

/* ---- several threads of one rank wait at one door ------------------------------------------------------------------------------- */
enum { WAITERS = 4, ROUNDS = 200 };

static void *thread_waits(void *arg)
{
    uint64_t me = (uint64_t)(uintptr_t)arg;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        wait_for(&board()->word[TOKEN], i);
        atomic_fetch_add(&board()->word[TOKEN + 1 + me], 1);
    }
    return NULL;
}

static void threads(int rank)
{
    gw_threads = true;
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    pthread_t t[WAITERS];
    if (rank == 1) {
        for (uintptr_t i = 0; i < WAITERS; i++) CHECK_EQ(pthread_create(&t[i], NULL, thread_waits, (void *)i), 0);
        for (int i = 0; i < WAITERS; i++) pthread_join(t[i], NULL);
    } else {
        for (uint64_t i = 1; i <= ROUNDS; i++) {
            if (i % 20 == 0) usleep(2000);
            atomic_store_explicit(&board()->word[TOKEN], i, memory_order_release);
            node_ring(1);
            for (int k = 0; k < WAITERS; k++)
                while (atomic_load(&board()->word[TOKEN + 1 + k]) < i) usleep(20);
        }
    }
    barrier(1);
    node_finalize();
}

/* ---- copy jobs ------------------------------------------------------------------------------------------------------------------ */
static void jobs(int rank)
{
    enum { TOTAL = 1000003, PIECE = 4096 };
    CHECK_EQ(node_init(AREA, 1, true, HEAP), GW_OK);
    _Atomic uint64_t *job_word = &board()->word[TOKEN], *sum = &board()->word[TOKEN + 1];
    if (rank == 0) {
        uint64_t held[1000];
        int n = 0;
        while (n < 1000 && (held[n] = node_job_alloc()) != 0) n++;
        CHECK(n > 0 && n < 1000);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++) CHECK(held[i] != held[k]);
        for (int i = 0; i < n; i++) node_job_free(held[i]);
        atomic_store(job_word, node_job_alloc());
    }
    uint64_t job;
    while (!(job = atomic_load(job_word))) usleep(50);
    int64_t start, len, mine = 0;
    while (node_job_claim(job, TOTAL, PIECE, &start, &len)) {
        CHECK(start % PIECE == 0 && len > 0 && len <= PIECE && start + len <= TOTAL);
        atomic_fetch_add(sum, (uint64_t)start);
        mine += len;
        CHECK(!node_job_done(job, TOTAL));
        node_job_add(job, len);
    }
    while (!node_job_done(job, TOTAL)) usleep(20);
    atomic_fetch_add(&board()->word[TOKEN + 2], (uint64_t)mine);
    barrier(1);
    uint64_t pieces = (TOTAL + PIECE - 1) / PIECE;
    CHECK_EQ(atomic_load(&board()->word[TOKEN + 2]), TOTAL); /* each byte once */
    CHECK_EQ(atomic_load(sum), PIECE * (pieces * (pieces - 1) / 2));
    barrier(2);
    if (rank == 0) node_job_free(job);
    node_finalize();
}

int main(void)
{
    ranks_run(1, 4, layout);
    ranks_run(5, 4, layout);
    for (int n = 1; n <= 4; n++) ranks_run(n, 4, lanes);
    ranks_run(4, 4, heap_churn);
    ranks_run(1, 4, steps);
    ranks_run(1, 0, steps);
    ranks_run(1, 4, long_yields);
    ranks_run(1, 4, shared_cores);
    ranks_run(2, 4, pass_token);
    ranks_run(1, 0, shared_cores);
    ranks_run(6, 2, pass_token); /* oversubscribed */
    ranks_run(1, 4, tells);
    ranks_run(1, 4, polls);
    ranks_run(2, 4, descriptors);
    setenv("GODWIT_WAIT", "sleep", 1);
    ranks_run(3, 4, pass_token);
    ranks_run(1, 4, tells);
    setenv("GODWIT_WAIT", "yield", 1);
    ranks_run(3, 4, pass_token);
    ranks_run(1, 4, tells);
    ranks_run(1, 4, long_yields);
    ranks_run(1, 4, shared_cores);
    setenv("GODWIT_WAIT", "spin", 1);
    ranks_run(1, 4, tells);
    unsetenv("GODWIT_WAIT");
    ranks_run(3, 4, idle);
    ranks_run(2, 4, threads);
    ranks_run(2, 1, threads);
    ranks_run(3, 4, jobs);
    return unit_end();
}
