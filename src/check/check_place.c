/* check_place.c -- from a return address to words: function and offset from the symbol table of the program or library that it lies
 * in, file and line from addr2line where that is installed and there is debug information.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"
#include "base/os.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "boot/call.h"

_Thread_local struct check_me check_me;

const char *check_call_name(int fn)
{
    const char *name = boot_call_name((uint32_t)fn);
    return name ? name : "an MPI call";
}

/* ---- where in the program ---- */
static struct {
    uintptr_t lo, hi;
} here; /* this library's code */

static int find_here(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, hi = lo + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || (uintptr_t)find_here < lo || (uintptr_t)find_here >= hi) continue;
        here.lo = lo;
        here.hi = hi;
        return 1;
    }
    return 0;
}

void check_place_begin(void) { dl_iterate_phdr(find_here, NULL); }

static bool is_here(const void *at) { return (uintptr_t)at >= here.lo && (uintptr_t)at < here.hi; }

/* An entry point that was not optimised does not jump to its second half but calls it: then `from` lies in this library. */
const void *check_outside(const void *from)
{
    enum { FRAMES = 16 };
    void *frames[FRAMES];
    if (likely(!is_here(from))) return from;
    int n = backtrace(frames, FRAMES), i = 0;
    while (i < n && !is_here(frames[i])) i++; /* sanitizers stand between */
    while (i < n && is_here(frames[i])) i++;
    return i < n ? frames[i] : from;
}

void check_enter(int fn, const void *from)
{
    struct check_me *me = &check_me;
    me->now = (struct check_site){fn, check_outside(from)};
    check_arrays_begin(me);
    check_thread_look();
    check_race_call();
}

/* ---- places that travel ---- */
struct module {
    const char *name;
    uintptr_t base;
};

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The program itself has no name here. */
static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct module *m = arg;
    if (strncmp(file_of(info->dlpi_name), m->name, CHECK_MODULE_TEXT - 1) != 0) return 0;
    m->base = info->dlpi_addr;
    return 1;
}

static int is_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct module *m = arg;
    m->base = info->dlpi_addr; /* the first one */
    return 1;
}

uint64_t check_site_pack(struct check_site s, char *module)
{
    struct link_map *map = NULL;
    Dl_info d;
    memset(module, 0, CHECK_MODULE_TEXT);
    if (!s.from || !dladdr1(s.from, &d, (void **)&map, RTLD_DL_LINKMAP) || !map) return 0;
    if (map->l_name[0]) strncpy(module, file_of(map->l_name), CHECK_MODULE_TEXT - 1);
    return (uintptr_t)s.from - map->l_addr;
}

struct check_site check_site_unpack(int fn, uint64_t place, const char *module)
{
    struct module m = {module, 0};
    if (place == 0 || !dl_iterate_phdr(module[0] ? find_module : is_program, &m)) return (struct check_site){fn, NULL};
    return (struct check_site){fn, (const void *)(m.base + (uintptr_t)place)};
}

/* ---- the symbol table on file: the dynamic one, which dladdr() knows, has no static functions and mostly not main ---- */
static const char *symbol_at(struct gw_image *f, uint64_t where, uint64_t *offset_out, bool *has_lines_out)
{
    const ElfW(Ehdr) *head = gw_image_part(f, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr))) return NULL;
    const ElfW(Shdr) *sections = gw_image_part(f, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
    if (!sections || head->e_shstrndx >= head->e_shnum) return NULL;
    const char *names = gw_image_part(f, sections[head->e_shstrndx].sh_offset, sections[head->e_shstrndx].sh_size), *found = NULL;
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        if (names && s->sh_name + sizeof ".debug_line" <= sections[head->e_shstrndx].sh_size &&
            strcmp(names + s->sh_name, ".debug_line") == 0)
            *has_lines_out = true;
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= head->e_shnum) continue;
        const ElfW(Sym) *symbols = gw_image_part(f, s->sh_offset, s->sh_size);
        const ElfW(Shdr) *text = &sections[s->sh_link];
        const char *strings = gw_image_part(f, text->sh_offset, text->sh_size);
        for (uint64_t k = 0; symbols && strings && !found && k < s->sh_size / sizeof *symbols; k++) {
            const ElfW(Sym) *y = &symbols[k];
            if ((y->st_info & 0xf) != STT_FUNC || where < y->st_value || where - y->st_value >= y->st_size) continue;
            if (y->st_name >= text->sh_size) continue;
            found = strings + y->st_name;
            *offset_out = where - y->st_value;
        }
    }
    return found;
}

/* ---- addr2line ---- */
/* What it says, "file:line", waited for up to a second. */
static void read_line(int fd, char *out, size_t cap)
{
    char text[1024];
    size_t n = 0;
    struct pollfd p = {fd, POLLIN, 0};
    for (ssize_t k = 1; k > 0 && n < sizeof text - 1 && poll(&p, 1, 1000) > 0;) {
        k = read(fd, text + n, sizeof text - 1 - n);
        n += k > 0 ? (size_t)k : 0;
    }
    text[n] = 0;
    char *end = strchr(text, '\n');
    if (end) *end = 0;
    char *colon = strrchr(text, ':'), *slash = strrchr(text, '/');
    if (!end || !colon || text[0] == '?' || colon[1] < '1' || colon[1] > '9') return;
    char *more = strchr(colon, ' '); /* " (discriminator 3)" */
    if (more) *more = 0;
    snprintf(out, cap, " (%.100s)", slash ? slash + 1 : text);
}

static void line_of(const char *path, uint64_t where, char *out, size_t cap)
{
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)where);
    char *argv[] = {"addr2line", "-e", (char *)(uintptr_t)path, address, NULL};
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (rc == 0) {
        read_line(fds[0], out, cap);
        waitpid(pid, NULL, 0);
    }
    close(fds[0]);
}

const char *check_site_text(struct check_site s, char *out)
{
    Dl_info d;
    int n = snprintf(out, CHECK_SITE_TEXT, "%s", check_call_name(s.fn));
    assert(n > 0 && n < CHECK_SITE_TEXT);
    size_t rest = CHECK_SITE_TEXT - (size_t)n;
    if (!s.from || !dladdr(s.from, &d) || !d.dli_fname) return out;
    /* The address is that of the instruction behind the call. */
    uint64_t at = (uintptr_t)s.from - 1, offset = 0, base = (uintptr_t)d.dli_fbase;
    const char *path = d.dli_fname, *slash = strrchr(path, '/');
    char self[PATH_MAX], lines[128] = "";
    if (!slash || access(path, R_OK) != 0) { /* a program that was found through PATH, or after a change of directory */
        if (gw_own_program(self) && !strstr(path, ".so")) path = self;
    }
    struct gw_image f;
    bool is_open = gw_image_open(path, &f);
    const ElfW(Ehdr) *head = is_open ? gw_image_part(&f, 0, sizeof *head) : NULL;
    uint64_t where = head && head->e_type == ET_EXEC ? at : at - base;
    bool has_lines = false;
    const char *name = is_open ? symbol_at(&f, where, &offset, &has_lines) : NULL;
    if (has_lines) line_of(path, where, lines, sizeof lines);
    if (name)
        snprintf(out + n, rest, " at %.100s+0x%llx%s", name, (unsigned long long)offset + 1, lines);
    else
        snprintf(out + n, rest, " at %.100s+0x%llx%s", slash ? slash + 1 : d.dli_fname, (unsigned long long)where + 1, lines);
    if (is_open) gw_image_close(&f);
    return out;
}
