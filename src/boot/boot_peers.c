/* boot_peers.c -- hosts to which the launcher's processes above this one are connected, by what /proc says of them.
 *
 * A launcher such as Hydra names no hosts to its ranks.  But its process on this host holds a connection to the one that the user called,
 * and that one, where it runs here, connections to all hosts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Only processes of these names are asked: what else is above (a shell of an editor, a notebook) talks to hosts that are none of the job.  Debian's
 * mpirun.openmpi, mpiexec.hydra and so on are known by what stands before the dot. */
static bool is_launcher(const char *name)
{
    static const char *const names[] = {"hydra_pmi_proxy", "mpiexec", "mpirun", "orterun", "orted", "prted", "prterun", "prte"};
    size_t n = strncmp(name, "mpi", 3) == 0 ? strcspn(name, ".") : strlen(name);
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++)
        if (strncmp(name, names[i], n) == 0 && !names[i][n]) return true;
    return false;
}

/* The parent of a process, and its name; 0: it has none in this pid namespace; -1: unknown. */
static pid_t parent_of(pid_t pid, char name_out[BOOT_PROCESS_NAME])
{
    char path[64], line[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL, *begin = strchr(line, '(');
    fclose(f);
    if (!end || !begin || sscanf(end + 1, " %*c %d", &parent) != 1) return -1;
    snprintf(name_out, BOOT_PROCESS_NAME, "%.*s", (int)(end - begin - 1), begin + 1);
    return parent;
}

pid_t boot_parent_of(pid_t pid)
{
    char name[BOOT_PROCESS_NAME];
    return parent_of(pid, name);
}

pid_t boot_launcher_above(pid_t *child_out, char name_out[BOOT_PROCESS_NAME])
{
    enum { UP_MOST = 16 };
    pid_t child = getpid(), pid = getppid(), above;
    for (int up = 0; up < UP_MOST && pid > 0 && (above = parent_of(pid, name_out)) >= 0; up++, child = pid, pid = above) {
        if (!is_launcher(name_out) && strcmp(name_out, "slurmstepd") != 0) continue;
        *child_out = child;
        return pid;
    }
    return 0;
}

/* Is it a remote shell that has failed, and that nobody has waited for yet?  By the last number of its line, which the kernel shows to the same
 * user. */
static bool is_failed_shell(pid_t pid, int *status_out)
{
    char path[64], line[1024] = "", name[BOOT_PROCESS_NAME] = "", state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    bool is_read = f && fgets(line, sizeof line, f);
    if (f) fclose(f);
    const char *last = strrchr(line, ' ');
    if (!is_read || !last || sscanf(line, "%*d (%63[a-z]) %c", name, &state) != 2) return false;
    int status = atoi(last);
    *status_out = status >> 8 & 0xff;
    return state == 'Z' && status && (strcmp(name, "ssh") == 0 || strcmp(name, "rsh") == 0);
}

bool boot_launcher_lost_way(struct boot_lost_way *out)
{
    char path[64];
    int child;
    pid_t below = getpid(), pid = boot_launcher_above(&below, out->launcher), above;
    for (int up = 0; up < 2 && pid > 0; up++) { /* a launcher's own process on this host, and the one that the user has called */
        bool is_lost = false;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
        FILE *f = is_launcher(out->launcher) ? fopen(path, "re") : NULL;
        while (f && !is_lost && fscanf(f, "%d", &child) == 1) is_lost = is_failed_shell(child, &out->status);
        if (f) fclose(f);
        out->pid = pid;
        if (is_lost) return true;
        above = boot_parent_of(pid);
        pid = above > 0 && parent_of(above, out->launcher) >= 0 ? above : 0;
    }
    return false;
}

/* The remote address of a line of /proc/net/tcp or tcp6 for an established connection to another host, and its socket's number. */
static bool peer_of_line(const char *line, struct sockaddr_storage *at_out, unsigned long *inode_out)
{
    enum { ESTABLISHED = 1 };
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[33];
    unsigned word[4], state, port;
    struct sockaddr_storage at = {0};
    struct sockaddr_in *four = (void *)&at;
    struct sockaddr_in6 *six = (void *)&at;
    if (sscanf(line, " %*d: %*[0-9A-F]:%*x %32[0-9A-F]:%x %x %*s %*s %*s %*u %*d %lu", text, &port, &state, inode_out) != 4)
        return false;
    int n = sscanf(text, "%8x%8x%8x%8x", &word[0], &word[1], &word[2], &word[3]);
    if (state != ESTABLISHED || (n != 1 && n != 4) || strlen(text) != (size_t)n * 8) return false;
    if (n == 4 && memcmp(word, mapped, sizeof mapped) == 0) {
        word[0] = word[3];
        n = 1;
    }
    if (n == 1) {
        four->sin_family = AF_INET;
        memcpy(&four->sin_addr, word, 4); /* the kernel prints words of the network as numbers of this machine */
    } else {
        six->sin6_family = AF_INET6;
        memcpy(&six->sin6_addr, word, 16);
    }
    bool is_here = n == 1 ? (ntohl(four->sin_addr.s_addr) >> 24) == 127
                          : IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
    if (is_here) return false;
    *at_out = at;
    return true;
}

/* ---- of one process ---- */
struct sockets {
    unsigned long inode[512];
    int n;
};

static void sockets_of(pid_t pid, struct sockets *out)
{
    char path[64], to[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    out->n = 0;
    for (struct dirent *e; d && (e = readdir(d)) && out->n < (int)GW_ARRAY_LEN(out->inode);) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        if (sscanf(to, "socket:[%lu]", &out->inode[out->n]) == 1) out->n++;
    }
    if (d) closedir(d);
}

static bool has(const struct sockets *s, unsigned long inode)
{
    for (int i = 0; i < s->n; i++)
        if (s->inode[i] == inode) return true;
    return false;
}

static int peers_of(const struct sockets *s, const char *table, struct sockaddr_storage *at, int n, int most)
{
    char line[512];
    unsigned long inode;
    FILE *f = s->n ? fopen(table, "re") : NULL;
    while (f && n < most && fgets(line, sizeof line, f)) {
        if (!peer_of_line(line, &at[n], &inode) || !has(s, inode)) continue;
        int k = 0;
        while (k < n && memcmp(&at[k], &at[n], sizeof *at) != 0) k++;
        n += k == n;
    }
    if (f) fclose(f);
    return n;
}

int boot_launcher_peers(struct sockaddr_storage *at_out, int most)
{
    enum { UP_MOST = 16 };
    char name[BOOT_PROCESS_NAME];
    int n = 0;
    pid_t pid = getppid(), above;
    struct sockets *s = gw_xmalloc(sizeof *s);
    for (int up = 0; up < UP_MOST && pid > 0 && (above = parent_of(pid, name)) >= 0; up++, pid = above) {
        if (!is_launcher(name)) continue;
        sockets_of(pid, s);
        n = peers_of(s, "/proc/self/net/tcp", at_out, n, most);
        n = peers_of(s, "/proc/self/net/tcp6", at_out, n, most);
    }
    free(s);
    return n;
}
