/* order.h -- what mpiexec orders of an agent: the first frame of the stream between them.
 *
 * The whole job is in it, with all hosts, not only the part of the agent that reads it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_AGENT_ORDER_H
#define GW_AGENT_ORDER_H

#include "job/job.h"

struct agent_order {
    struct launch_options *o;
    int host, size, universe; /* the agent's place in `hosts`; ranks of the job; its MPI_UNIVERSE_SIZE */
    uint64_t uid;             /* of the job; never on a command line */
    const char *folder;       /* to start in */
    const char *home;         /* the host of mpiexec; its address, where the agent's shell was told it, is better */
    struct words hosts;       /* "n1:2": those with ranks, in the order of these */
    struct words env;
};
/* The caller frees it.  `len_out` bytes. */
char *agent_order_pack(struct agent_order *a, size_t *len_out);
/* Texts of the order, and of the options that it fills, point into the data.  False: it is none. */
bool agent_order_unpack(struct agent_order *a, const char *data, size_t len);
void agent_order_free(struct agent_order *a);

int agent_order_first(const struct agent_order *a,
                      int host); /* the first rank of a host; its number of ranks is that of the next less this */
char *agent_order_mapping(const struct agent_order *a); /* PMI_process_mapping; the caller frees it */
/* Frees the words of the programs that agent_order_unpack() has filled in: elsewhere they are main()'s, so who ends the options does not. */
void agent_order_words_free(struct launch_options *o);
/* In what agent_order_unpack() has filled: leaves in the options only the programs that have ranks on that host, with the number of these. */
void agent_order_cut(const struct agent_order *a, struct launch_options *o);
/* Does a variable belong to the host, the session or the launcher that a process was started by, so that each host keeps its own? */
bool agent_env_is_own(const char *pair);

#endif
