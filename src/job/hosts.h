/* hosts.h -- lists of hosts, as given by commands, files and batch systems.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_HOSTS_H
#define GW_JOB_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct host {
    char *name;
    int slots;
}; /* slots 0: not given */
struct hosts {
    struct host *at;
    int n;
    char *bad;           /* the first word that cannot be, for error messages; NULL: none */
    const char *bad_why; /* "is no name of a host", or of slots, which are from 1 to MAX_RANKS */
};

void hosts_add(struct hosts *h, const char *list);                           /* "n1,n2:4" */
const char *hosts_read(struct hosts *h, const char *path, bool may_be_pipe); /* NULL, or why not, in words */
bool hosts_is_name(const char *name, size_t n);                              /* is it a valid host name?  Lists contain no others */
void hosts_expand(struct hosts *h, const char *list);                        /* Slurm's "n[1-3,07],m4" */
bool hosts_is_local(const char *name);
const char *hosts_foreign(const struct hosts *h); /* the first that is not this machine, or NULL */
bool hosts_are_here(const char *list, char *foreign_out,
                    size_t cap); /* are all this machine?  If not, foreign_out gets the first */
/* known.c: the first host that is another machine and of which nobody here knows where it is: it has no address, and ssh has no other name or
 * way for it (~/.ssh/config).  NULL: there is none.  Hosts by relative names ("+n1") are passed over. */
const char *hosts_unknown(const struct hosts *h, const char **why_out);
int hosts_slots(const struct hosts *h, int ppn); /* total slots; hosts without a number count as one */
bool hosts_say_slots(const struct hosts *h);     /* is the number given for each host? */
void hosts_place(const struct hosts *h, int n_ranks, int ppn, int *counts_out);
void hosts_first(struct hosts *h, int most); /* keeps so many */
void hosts_free(struct hosts *h);

#endif
