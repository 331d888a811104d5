/* machine.h -- the machine that the simulator prices collectives for, read from a text file.
 *
 * A file has lines `word [name] key=value ...`; `#` begins a comment.  Times are microseconds, times a byte nanoseconds.
 *
 *   machine NAME
 *   node ranks=N                    ranks of a node; rank r lies on node r / N
 *   level NAME ranks=N o= O= R= L= g= G= eager=     the innermost first; two ranks meet in the first level of which they share a
 *                                   group of N neighbouring ranks; the last has no ranks= and joins all
 *   nic n=K g= G= other=1 L= link=  K adapters a node, which its ranks share; what does not stay on its node passes one at both ends.  With
 *                                   other=1 each rank takes that of the next module, over a link between modules of the node (xGMI),
 *                                   at both ends: L later each, and it flows at `link` at best; as many share each as before
 *                                   queue=  in the low-memory mode (cray.h), where a node's ranks share a queue for each other node, what that takes
 *                                   for a message
 *   gpu ranks=K links= link= engine= same= host= pcie=   each rank has a GPU, K neighbouring ranks share a module: ns a byte of a link between
 *                                   GPUs, of which `links` join those of a module and one those of others; of a copy engine, of which
 *                                   a copy takes one; of a copy inside a GPU; of the link to the host; of that to a card
 *   engine NAME upto= o= L= g= G= n= mailbox=1      the smallest first: how a card takes a message that leaves its node: the first engine whose
 *                                   `upto` (bytes; none: any) holds it; with mailbox=1 also what fits the receiver's mailbox (cray.h), eager,
 *                                   whatever `upto` says.  o: more for the core that commands it; L: until it begins; it is
 *                                   busy for max(g, n*G); n=K: the node shares K of it (0: each rank has one)
 *   offload radix= hop= reduce= most=   the network reduces up to `most` bytes: in a tree of switches or cards, `reduce` in each
 *   atomics o= L=                   cards raise counters in the memory of other nodes: o: for the core that commands it; L: for the card there,
 *                                   until that is in memory.  o 0: they do not
 *   fabric groups= switches= nodes= hop= G= buffer= packet= window= detour=
 *                                   a dragonfly (fabric.h); each hop between switches costs a message `hop` more than L
 *   class NAME min= max= priority= drop=   of traffic (fabric.h)
 *   like FILE                       first all lines of another machine, FILE.machine beside this one; its levels, engines and classes, and
 *                                   what has no name, are then changed in the keys that are named
 *   match search= entry= extra=     pairing a message with a receive, and looking at one entry of a queue on the way (0: hashed);
 *                                   taking in a message that nobody has asked for yet, beyond what one costs that is expected
 *   incast after=N cost=            each message that comes in where N wait already for a receive costs so much more
 *   core copy= copy_byte= reduce= reduce_byte= publish= flag= look= pull= pull_byte= step=
 *                                   local work; flags in shared memory: raised, seen by another core, looked at; a kernel read of
 *                                   another process's memory; each round that is begun
 *
 * LogGPS: a message of n bytes keeps the sender's core for o + n*O and its port for max(g, n*G), reaches the receiver L + n*G later,
 * and keeps the receiver's core for o + n*O.  One of more than `eager` bytes announces itself first, for o; when its receive is
 * there, it is fetched: L later it begins to flow, and it costs no core but the receiver's, n*R.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_MACHINE_H
#define GW_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_LEVELS = 4, MACHINE_ENGINES = 4, MACHINE_CLASSES = 8, MACHINE_NAME = 32 };
struct machine_level {
    char name[MACHINE_NAME];
    int64_t ranks; /* of a group; 0: all ranks */
    double o, O, R, L, g, G, eager;
};
struct machine_engine {
    char name[MACHINE_NAME];
    double upto, o, L, g, G, n, mailbox;
};
struct machine_gpu { /* links 0: the ranks have no GPUs */
    double ranks, links, link, engine, same, host, pcie;
};
struct machine_fabric { /* groups 0: the machine has no fabric */
    double groups, switches, nodes, hop, G, buffer, packet, window, detour;
};
struct machine_class { /* shares of a link, 0 to 1; drop: packets before a link from which on another is lost, 0: none is */
    char name[MACHINE_NAME];
    double min, max, priority, drop;
};
struct machine {
    char name[MACHINE_NAME];
    int64_t node_ranks;
    int n_levels;
    struct machine_level levels[MACHINE_LEVELS];
    double nics, nic_g, nic_G, nic_other, nic_L, nic_link, nic_queue;
    struct machine_gpu gpu;
    int n_engines, n_classes;
    struct machine_engine engines[MACHINE_ENGINES];
    struct machine_class classes[MACHINE_CLASSES];
    struct machine_fabric fabric;
    double offload_radix, offload_hop, offload_reduce, offload_most; /* radix 0: the network does not reduce */
    double atomics_o, atomics_L;                                     /* o 0: no card does */
    double match_search, match_entry, match_extra;
    double incast_after, incast_cost;
    double copy, copy_byte, reduce, reduce_byte, publish, flag, look, pull, pull_byte, step;
};

/* ns a byte of a copy between the GPUs of two ranks of a node: inside one, by its cores; else by a copy engine over their links. */
static inline double machine_gpu_copy(const struct machine *m, int64_t a, int64_t b)
{
    if (a == b) return m->gpu.same;
    double links = a / (int64_t)m->gpu.ranks == b / (int64_t)m->gpu.ranks ? m->gpu.links : 1, flow = m->gpu.link / links;
    return flow > m->gpu.engine ? flow : m->gpu.engine;
}

/* Read a description from a file, or from a text.  False: error_out says what is wrong in which line. */
bool machine_read(const char *path, struct machine *m_out, char *error_out, int error_cap);
bool machine_parse(const char *text, struct machine *m_out, char *error_out, int error_cap);

/* The innermost level that two ranks share. */
static inline const struct machine_level *machine_between(const struct machine *m, int64_t a, int64_t b)
{
    const struct machine_level *l = m->levels;
    while (l->ranks && a / l->ranks != b / l->ranks) l++;
    return l;
}

#endif
