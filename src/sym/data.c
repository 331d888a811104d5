/* data.c -- static and global variables of the program, which other PEs of the node map.
 *
 * They lie in the writable segments of the main program, less what is read-only after relocation (RELRO); its own program header
 * tells where (dl_iterate_phdr), so nothing else of the process can be taken for them.  Their pages are copied into a file of the
 * node and mapped back over themselves, in one step of the kernel's; pages of zeros that nobody has touched stay so.  Threads
 * that write there between the copy and that step lose what they write.
 *
 *     private --sym_data_open()--> in the file --fork()--> the child's are private again, as they were at that moment
 *                                              --sym_data_close()--> private, with their values
 *
 * Between copy and step nothing may be written there, and a sanitizer's runtime lies there too, whose checks would also stumble
 * over what lies between two variables: so these are calls of the system without the C library.  ThreadSanitizer's has a thread
 * of its own, which writes at any time: there the variables stay where they are, as they do if the programs of the PEs are not
 * the same.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"
#include "base/settings.h"
#include "coll/coll.h"
#include "op/op.h"

static const struct share_words words = {"godwit-data", "the program's static data", "the static data of all PEs of this node", ""};

enum { GUARD = 64 << 10, SEGMENTS = 16, ENTRIES = 512 };
static struct {
    struct sym_file file;
    char *at; /* in the program */
    uint64_t bytes;
    uint64_t given; /* from here on they were zeros when the program began */
    uint64_t from;  /* the own part, in the file's memory */
    bool is_moved;  /* what lies at `at` is the file */
    bool is_found;
    uint64_t offset; /* of `at` from the program's begin, the same in processes that run the same program */
    bool has_handlers;
} data = {.file.fd = -1};
static _Thread_local char *before_fork; /* a copy of them; NULL: none */

/* ---- where they are ---- */
struct segment {
    uint64_t from, end, given;
};
struct found {
    uint64_t load, begin; /* what addresses of the header are moved by; the lowest of them */
    struct segment all;
    bool has_code; /* in memory that can be written */
};

/* Of pieces that are not one behind the other, the largest: the rest is a few bytes at the end of what is read-only. */
static void found_add(struct found *f, struct segment s)
{
    if (s.from >= s.end) return;
    if (f->all.end == s.from && f->all.end)
        f->all = (struct segment){f->all.from, s.end, s.given};
    else if (s.end - s.from > f->all.end - f->all.from)
        f->all = s;
}

/* The first object is the program. */
static int find_in(struct dl_phdr_info *info, size_t bytes, void *out)
{
    struct found *f = out;
    const uint64_t page = gw_page_bytes();
    struct segment relro = {0, 0, 0};
    (void)bytes;
    f->load = info->dlpi_addr;
    f->begin = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_vaddr < f->begin) f->begin = p->p_vaddr & ~(page - 1);
        if (p->p_type == PT_GNU_RELRO)
            relro = (struct segment){p->p_vaddr & ~(page - 1), (p->p_vaddr + p->p_memsz) & ~(page - 1), 0};
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        if (p->p_flags & PF_X) f->has_code = true;
        struct segment s = {p->p_vaddr & ~(page - 1), gw_align_up(p->p_vaddr + p->p_memsz, page),
                            gw_align_up(p->p_vaddr + p->p_filesz, page)},
                       behind = s;
        if (relro.end > s.from && relro.from < s.end) { /* in the middle of it, or at its begin */
            s.end = relro.from;
            behind.from = relro.end;
            found_add(f, s);
        }
        found_add(f, behind);
    }
    return 1;
}

static void find(void)
{
    struct found f = {0};
    dl_iterate_phdr(find_in, &f);
    data.is_found = !f.has_code && f.all.end;
    if (!data.is_found) return;
    data.at = (char *)(uintptr_t)(f.load + f.all.from);
    data.bytes = f.all.end - f.all.from;
    data.given = f.all.given > f.all.from ? f.all.given - f.all.from : 0;
    data.offset = f.all.from - f.begin;
}

/* ---- calls of the system, see above ---- */
static bool write_all(uint64_t offset, uint64_t end)
{
    for (const uint64_t to = data.file.file.head + data.from; offset < end;) {
        long n = syscall(SYS_pwrite64, data.file.fd, data.at + offset, end - offset, to + offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        offset += (uint64_t)n;
    }
    return true;
}

static bool read_all(char *into, uint64_t offset, uint64_t end)
{
    for (const uint64_t from = data.file.file.head + data.from; offset < end;) {
        long n = syscall(SYS_pread64, data.file.fd, into + offset, end - offset, from + offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        offset += (uint64_t)n;
    }
    return true;
}

static bool map_over(void)
{
    long at = syscall(SYS_mmap, data.at, data.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, data.file.fd,
                      data.file.file.head + data.from);
    return at == (long)(uintptr_t)data.at;
}

/* ---- into the file ---- */
/* Which of `n` pages from `first` on somebody has touched: bits 63 and 62, in memory and in swap.  Unknown: all. */
static void look(int pagemap, uint64_t first, int n, uint64_t *entries_out)
{
    memset(entries_out, 0xff, (size_t)n * sizeof *entries_out);
    if (pagemap >= 0 &&
        pread(pagemap, entries_out, (size_t)n * sizeof *entries_out, (off_t)(first * sizeof *entries_out)) !=
            (ssize_t)((size_t)n * sizeof *entries_out))
        memset(entries_out, 0xff, (size_t)n * sizeof *entries_out);
}

/* Copies what is not zero by nature, page by page in long runs. */
static bool copy_in(int pagemap)
{
    const uint64_t page = gw_page_bytes(), n = data.bytes / page;
    uint64_t entries[ENTRIES], run = 0; /* pages before this one that wait to be copied */
    for (uint64_t i = 0; i < n; i++) {
        if (i % ENTRIES == 0)
            look(pagemap, (uint64_t)(uintptr_t)data.at / page + i, (int)(n - i < ENTRIES ? n - i : ENTRIES), entries);
        bool is_used = i * page < data.given || entries[i % ENTRIES] >> 62;
        if (!is_used && run && !write_all((i - run) * page, i * page)) return false;
        run = is_used ? run + 1 : 0;
    }
    return write_all((n - run) * page, data.bytes);
}

static bool move_in(void)
{
    const bool asks = data.given < data.bytes && gw_has_proc();
    int pagemap = asks ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    bool is_done = copy_in(pagemap) && map_over();
    if (pagemap >= 0) close(pagemap);
    return is_done;
}

/* ---- and out of it ---- */
/* A private copy; what nobody has written in the file is left out.  NULL: no memory. */
static char *copy_out(void)
{
    char *copy = mmap(NULL, data.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return NULL;
    const off_t begin = (off_t)(data.file.file.head + data.from), end = begin + (off_t)data.bytes;
    for (off_t at = begin, to; at < end && (at = lseek(data.file.fd, at, SEEK_DATA)) >= 0 && at < end; at = to) {
        to = lseek(data.file.fd, at, SEEK_HOLE);
        if (to < 0 || to > end) to = end;
        if (read_all(copy, (uint64_t)(at - begin), (uint64_t)(to - begin))) continue;
        munmap(copy, data.bytes);
        return NULL;
    }
    return copy;
}

static bool move_over(char *copy)
{
    return (char *)(uintptr_t)syscall(SYS_mremap, copy, data.bytes, data.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, data.at) == data.at;
}

static void fork_prepare(void)
{
    before_fork = NULL;
    if (data.is_moved) before_fork = copy_out();
}

static void fork_parent(void)
{
    if (before_fork) munmap(before_fork, data.bytes);
    before_fork = NULL;
}

/* What the child writes would be its parent's: it cannot go on that way. */
static void fork_child(void)
{
    if (!data.is_moved) return;
    if (!before_fork) before_fork = copy_out();
    if (!before_fork || !move_over(before_fork)) {
        gw_warn("a process that was forked cannot have variables of its own and ends: no memory for %.1f MiB "
                "(GODWIT_SYMMETRIC_DATA=0 leaves them out of shared memory)",
                (double)data.bytes / (1 << 20));
        _exit(EXIT_FAILURE);
    }
    data.is_moved = false;
    before_fork = NULL;
}

/* ---- all PEs ---- */
static bool may_move(void)
{
    const char *why = !gw_set.symmetric_data ? "GODWIT_SYMMETRIC_DATA is off"
        : sym_has_tsan()                     ? "the program has ThreadSanitizer"
                                             : NULL;
    if (why) GW_EXPLAIN(GW_LOG_BOOT, "static data of the program are not mapped by other PEs: %s", why);
    return !why;
}

static uint64_t stride(void) { return gw_align_up(data.bytes + GUARD, gw_page_bytes()); }

void sym_data_want(struct gw_comm *here, struct sym_file_want *want)
{
    data.bytes = 0;
    find();
    bool is_wanted = data.is_found && may_move() && here->size > 1;
    *want = (struct sym_file_want){.words = &words,
                                   .bytes = stride() * (uint64_t)here->size,
                                   .page = gw_page_bytes(),
                                   .file = &data.file,
                                   .rc = is_wanted ? GW_OK : gw_fail(GW_ENOMEM, "the first PE of the node does not map them")};
}

/* Into the own part of the file, which is for a program of this size. */
static int move_to_part(struct gw_comm *here)
{
    if (!data.is_found || !may_move()) return gw_fail(GW_ENOMEM, "this PE does not map them");
    data.from = (uint64_t)here->rank * stride();
    if (data.file.file.bytes != data.file.file.head + stride() * (uint64_t)here->size)
        return gw_fail(GW_ENOMEM, "the node's first PE has more or fewer of them");
    int rc = sym_file_guard(&data.file, &words, here, data.bytes, stride());
    if (rc == GW_OK && !data.has_handlers && pthread_atfork(fork_prepare, fork_parent, fork_child) != 0)
        rc = gw_fail(GW_ENOMEM, "no memory for what a fork needs (pthread_atfork)");
    if (rc != GW_OK) return rc;
    data.has_handlers = true;
    data.is_moved = move_in();
    if (!data.is_moved) return gw_fail(GW_ENOMEM, "the program's static data cannot be mapped from a file: %s", strerror(errno));
    madvise(data.file.whole, data.file.file.bytes, MADV_DONTDUMP); /* of a core dump only the own part */
    return GW_OK;
}

void sym_data_map(struct gw_comm *here, int rc)
{
    if (here->size == 1) return;
    if (rc == GW_OK) rc = move_to_part(here);
    if (rc != GW_OK) GW_EXPLAIN(GW_LOG_BOOT, "static data of the program are not mapped by other PEs: %s", gw_fail_text());
}

static bool has_them(void) { return data.is_moved || sym_memory.n_local == 1; }

void sym_data_say(int64_t said_out[SYM_DATA_SAID])
{
    const int64_t offset = (int64_t)data.offset, bytes = (int64_t)data.bytes;
    memcpy(said_out, (const int64_t[SYM_DATA_SAID]){data.is_found, has_them(), offset, -offset, bytes, -bytes},
           sizeof *said_out * SYM_DATA_SAID);
}

int sym_data_agreed(struct gw_comm *here, const int64_t least[SYM_DATA_SAID], bool *all_have_out)
{
    bool is_alike = least[2] == -least[3] && least[4] == -least[5];
    int64_t has = has_them();
    *all_have_out = true;
    if (!is_alike && sym_memory.me == 0)
        gw_warn("static and global variables are not symmetric: the PEs run different programs (static data of %lld to %lld bytes)",
                (long long)least[4], (long long)-least[5]);
    if (!is_alike || !least[0]) { /* those of this node may be alike, and in the file */
        sym_data_close();
        return GW_OK;
    }
    int rc = least[1] ? GW_OK : coll_allreduce(GW_IN_PLACE, &has, 1, gw_type_int64, gw_op_min, here, NULL);
    if (rc != GW_OK) return rc;
    if (!has) sym_data_close(); /* here some have moved theirs, and others could not */
    sym_memory.region[SYM_DATA] = (struct sym_region){.base = data.at,
                                                      .map = data.is_moved ? data.file.whole + data.file.file.head : data.at,
                                                      .stride = data.is_moved ? stride() : 0,
                                                      .bytes = has ? data.bytes : 0};
    sym_memory.data_bytes = data.bytes;
    *all_have_out = least[1] != 0;
    return GW_OK;
}

void sym_data_close(void)
{
    if (data.is_moved) {
        char *copy = copy_out();
        if (!copy || !move_over(copy)) /* they keep their values; the file stays theirs until the process ends */
            gw_warn("static and global variables of the program stay in shared memory: no memory for %.1f MiB",
                    (double)data.bytes / (1 << 20));
        data.is_moved = false;
    }
    sym_file_end(&data.file);
}
