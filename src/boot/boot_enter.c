/* boot_enter.c -- the way to the segment of our mpiexec: by the inherited descriptor, and for a process to which that did not come down,
 * through mpiexec.
 *
 * Wrappers close descriptors (Python's subprocess, daemons), and so do programs before MPI_Init.  If such a rank took another way (PMIx), it
 * would wait for ranks that came by this one.  mpiexec holds the segment open as long as the job lives; the kernel lets processes of the same
 * user open it by /proc, or, in another pid or user namespace, mpiexec's port hands it out to who shows the secret of the variable.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/hash.h"
#include "boot/port.h"
#include "boot/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which launcher is this process of? ---------------------------------------------------------------------------------- */
static const char *const marked[] = {"PMIX_NAMESPACE", "PMI_PORT", "SLURM_STEP_ID", "FLUX_JOB_ID", "PALS_APID"};
_Static_assert(BOOT_ENV_MARK == 8 * GW_ARRAY_LEN(marked) + 1, "eight digits each");

/* The value of marked[i], hashed; 0: it is not set. */
static uint32_t marked_hash(char *const *env, size_t i)
{
    size_t n = strlen(marked[i]);
    const char *value = NULL;
    for (char *const *e = env; *e && !value; e++)
        if (strncmp(*e, marked[i], n) == 0 && (*e)[n] == '=') value = *e + n + 1;
    uint32_t hash = value ? (uint32_t)(gw_hash_text(value) >> 16) : 0;
    return value && !hash ? 1 : hash;
}

void boot_env_mark(char *const *env, char out[BOOT_ENV_MARK])
{
    for (size_t i = 0; i < GW_ARRAY_LEN(marked); i++) snprintf(out + 8 * i, 9, "%08x", marked_hash(env, i));
}

bool boot_env_other(char *const *env, const char *mark)
{
    char now[BOOT_ENV_MARK];
    bool is_other = false;
    boot_env_mark(env, now);
    for (size_t i = 0; i < sizeof now - 1 && !is_other; i += 8) /* what a wrapper has taken away was no launcher's doing */
        is_other = memcmp(now + i, "00000000", 8) != 0 && memcmp(now + i, mark + i, 8) != 0;
    return is_other;
}

/* ---- the segment ------------------------------------------------------------------------------------------------------------ */
/* The text behind ",key=", or NULL. */
static const char *value_of(const char *text, const char *key)
{
    char word[16];
    snprintf(word, sizeof word, ",%s=", key);
    const char *at = strstr(text, word);
    return at ? at + strlen(word) : NULL;
}

/* The number of the world, as GODWIT_BOOT has it; 0: it says none. */
static uint64_t world_said(const char *text)
{
    const char *job = value_of(text, "job");
    return job ? strtoull(job, NULL, 16) : 0;
}

/* Is it mpiexec's segment of this world?  NULL, or what is wrong. */
static const char *head_fault(int fd, const char *text, struct boot_head *head_out)
{
    uint64_t bytes, world = world_said(text);
    const char *why = boot_head_read(fd, head_out, &bytes);
    if (!why && world && head_out->uid != world) why = "it is of another job";
    return why;
}

/* The inherited descriptor.  Its number may have become any descriptor of the program: pread() leaves that unchanged. */
static int inherited(const char *text, struct boot_head *head_out, bool *is_hopeless_out)
{
    int fd = boot_list_int(text, "fd", -1);
    uint64_t world = world_said(text);
    struct boot_head h;
    struct stat st;
    memset(&h, 0, sizeof h);
    *is_hopeless_out = false;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        h.magic != BOOT_MAGIC)
        return gw_fail(GW_EUNSUPPORTED,
                       "descriptor %d is not what mpiexec handed down: something between mpiexec and this program closed "
                       "it, or another MPI process started this one",
                       fd);
    if (h.version != GODWIT_SHM_VERSION) {
        *is_hopeless_out = true;
        return gw_fail(GW_EUNSUPPORTED, "mpiexec and the library are of different versions (segment %u, wanted %u)", h.version,
                       GODWIT_SHM_VERSION);
    }
    if (world && h.uid != world) return gw_fail(GW_EUNSUPPORTED, "descriptor %d is the segment of another job", fd);
    const char *why = head_fault(fd, text, head_out);
    *is_hopeless_out = why != NULL;
    return why ? gw_fail(GW_EUNSUPPORTED, "the segment of mpiexec (descriptor %d, local rank %d) cannot be used: %s", fd,
                         boot_list_int(text, "local", -1), why)
               : fd;
}

/* The segment that mpiexec itself holds. */
static int fetched(const char *text, struct boot_head *head_out, const char **why_out)
{
    char port[BOOT_PORT_TEXT];
    struct boot_port at;
    int fd = boot_file_open(boot_list_int(text, "pid", -1), boot_list_int(text, "fd", -1), why_out);
    const char *why = fd < 0 ? *why_out : head_fault(fd, text, head_out), *said = value_of(text, "at");
    if (!why) return fd;
    *why_out = why;
    if (fd >= 0) close(fd);
    if (said) snprintf(port, sizeof port, "%.*s", (int)strcspn(said, ","), said);
    if (!said || !boot_port_parse(port, &at)) return -1;
    fd = boot_segment_fetch(&at);
    if (fd < 0) return -1;
    why = head_fault(fd, text, head_out);
    if (!why) return fd;
    *why_out = why;
    close(fd);
    return -1;
}

int boot_enter(const char *text, struct boot_head *head_out, bool *is_new_out)
{
    bool is_hopeless;
    const char *why = "";
    char first[256];
    int fd = inherited(text, head_out, &is_hopeless), local = boot_list_int(text, "local", -1);
    *is_new_out = fd < 0;
    if (fd < 0 && is_hopeless) return -1;
    if (fd < 0 && world_said(text)) {
        snprintf(first, sizeof first, "%s", gw_fail_text());
        fd = fetched(text, head_out, &why);
        if (fd < 0)
            gw_fail(GW_EUNSUPPORTED, "%s; and that of mpiexec (process %d) cannot be had: %s", first,
                    boot_list_int(text, "pid", -1), why);
        else
            GW_EXPLAIN(GW_LOG_BOOT, "%s; it came from mpiexec (process %d)", first, boot_list_int(text, "pid", -1));
    }
    if (fd < 0) return -1;
    if (local >= 0 && local < head_out->nlocal && head_out->nlocal <= head_out->size - head_out->first_rank) return fd;
    if (*is_new_out) close(fd);
    gw_fail(GW_EUNSUPPORTED, "the segment of mpiexec (descriptor %d, local rank %d) cannot be used: it is damaged", fd, local);
    return -1;
}
