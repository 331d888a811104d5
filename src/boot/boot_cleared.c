/* boot_cleared.c -- a process whose environment was cleared on the way from the launcher to it (env -i, a wrapper): what still leads to its job.
 *
 * mpiexec notes in each slot which process it has started as that rank.  If that very process comes without a variable of any launcher, and the
 * descriptor came down to it, it is the rank.  One further below cannot know whether it is meant: programs clear the environment to run others
 * alone, too.  It runs alone then, and says so, unless a process between is an MPI program.  One that has another user's rights (set-user-ID)
 * cannot join; of the segment, which is the memory of the user who has started it, it believes how many ranks there are, to say so, and no more.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "base/plain.h"
#include "boot/world.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool is_looked_for;
    char text[sizeof((struct boot_rank *)0)->told]; /* "": there is none */
    int size; /* of the job whose segment came down, whoever this process is in it; 0: none did */
    pid_t launcher;
    bool is_theirs; /* this process has raised rights, and the segment is the user's who has started it */
} found;

/* Is the descriptor a segment of the user who has started this program, which has another one's rights? */
static bool take_theirs(int fd)
{
    struct boot_head h;
    struct stat st;
    if (!gw_is_raised() || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid() || st.st_uid == geteuid() ||
        pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.magic != BOOT_MAGIC || h.version != GODWIT_SHM_VERSION)
        return false;
    found.is_theirs = true;
    found.size = h.size;
    return true;
}

/* Is the descriptor mpiexec's segment?  Then it is noted, with what this process was told as a rank. */
static bool take(int fd)
{
    struct boot_head h;
    uint64_t bytes;
    if (boot_head_read(fd, &h, &bytes)) return take_theirs(fd);
    found.size = h.size;
    found.launcher = h.launcher_pid;
    int32_t me = getpid(), started;
    for (int i = 0; i < h.nlocal && h.launcher_pid == getppid(); i++) {
        off_t slot = (off_t)(h.ranks_offset + (uint64_t)i * sizeof(struct boot_rank));
        if (pread(fd, &started, sizeof started, slot + (off_t)offsetof(struct boot_rank, started)) != (ssize_t)sizeof started)
            break;
        if (started != me) continue;
        if (pread(fd, found.text, sizeof found.text, slot + (off_t)offsetof(struct boot_rank, told)) != (ssize_t)sizeof found.text)
            found.text[0] = 0;
        found.text[sizeof found.text - 1] = 0;
        break;
    }
    return true;
}

static void look(void)
{
    enum { WITHOUT_PROC = 64 };
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]) && atoi(e->d_name) > STDERR_FILENO && take(atoi(e->d_name))) break;
    for (int fd = STDERR_FILENO + 1; !d && fd < WITHOUT_PROC; fd++)
        if (take(fd)) break;
    if (d) closedir(d);
}

const char *boot_cleared_text(void)
{
    static const char *const others[] = {"PMI_FD", "PMI_PORT", "PMIX_NAMESPACE", "GODWIT_RANK"};
    for (size_t i = 0; i < GW_ARRAY_LEN(others); i++)
        if (getenv(others[i])) return NULL; /* somebody has taken away GODWIT_BOOT alone */
    if (!found.is_looked_for) look();
    found.is_looked_for = true;
    return found.text[0] ? found.text : NULL;
}

/* ---- alone, below a launcher ------------------------------------------------------------------------------------------------ */
/* Has the process an MPI library? */
static bool is_mpi_program(pid_t pid)
{
    char path[64], line[4352];
    bool has = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !has && fgets(line, sizeof line, f)) has = strstr(line, "/libmpi") != NULL;
    if (f) fclose(f);
    return has;
}

/* How many ranks the launcher has started, by the environment of a process that it started; 0: that does not say. */
static int size_said_to(pid_t pid)
{
    static const char *const sizes[] = {
        "GODWIT_SIZE=", "PMI_SIZE=", "OMPI_COMM_WORLD_SIZE=", "SLURM_STEP_NUM_TASKS=", "MPI_LOCALNRANKS="};
    char path[64], *word = NULL;
    size_t room = 0;
    int size = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !size && getdelim(&word, &room, 0, f) > 0)
        for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++)
            if (strncmp(word, sizes[i], strlen(sizes[i])) == 0) size = atoi(word + strlen(sizes[i]));
    free(word);
    if (f) fclose(f);
    return size;
}

/* Has the launcher's process several children?  One of those of mpiexec is no rank; Debian's mpirun.openmpi is another's. */
static bool has_several(pid_t pid, const char *name)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = fopen(path, "re");
    while (f && n < 3 && fscanf(f, "%*d") == 0 && !feof(f)) n++;
    if (f) fclose(f);
    return n >= (strncmp(name, "mpi", 3) == 0 && !strchr(name, '.') ? 3 : 2);
}

void boot_cleared_warn(void)
{
    if (found.is_theirs && found.size > 1)
        gw_warn(
            "this process was started as one of %d ranks of mpiexec, but runs as a job of its own, of one rank: it has the rights of user "
            "%d (set-user-ID), with which it cannot join a job of user %d, and its environment was cleared (env -i). Start the program "
            "without these rights, or all of the job as that user; GODWIT_SINGLETON=1 says that it is on purpose",
            found.size, (int)geteuid(), (int)getuid());
    if (found.is_theirs) return;
    char name[BOOT_PROCESS_NAME], shown[4 * BOOT_PROCESS_NAME];
    pid_t child = getpid(), launcher = boot_launcher_above(&child, name);
    if (!launcher && found.size > 1)
        gw_warn(
            "this process was started as one of %d ranks of mpiexec, but runs as a job of its own, of one rank: its environment was "
            "cleared on the way (env -i, a wrapper), and it is in another pid namespace. Let the variables GODWIT_* through; "
            "GODWIT_SINGLETON=1 says that it is on purpose",
            found.size);
    if (!launcher) return;
    for (pid_t p = getppid(), above; p != launcher && p > 0; p = above)
        if (is_mpi_program(p) || (above = boot_parent_of(p)) < 0) return;
    int size = found.launcher == launcher ? found.size : child != getpid() ? size_said_to(child) : 0;
    if (size == 1 || (size == 0 && !has_several(launcher, name))) return;
    gw_warn(
        "this process was started below %s (process %d), but runs as a job of its own, of one rank: its environment was cleared on the "
        "way (env -i, sudo, a wrapper). Let the variables GODWIT_*, PMI_* and PMIX_* through; GODWIT_SINGLETON=1 says that it "
        "is on purpose",
        gw_plain(shown, sizeof shown, name, GW_PLAIN_WORD), (int)launcher);
}
