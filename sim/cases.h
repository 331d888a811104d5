/* cases.h -- finds collectives and algorithms by name, and prices calls with the arguments that the library would use.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_CASES_H
#define GW_SIM_CASES_H

#include "engine.h"

/* One line of a figure: an algorithm of src/coll, and how it is driven.  Text: NAME[:once][:messages][:network][:apart][:CHUNK], CHUNK in
 * bytes; with `network` the network reduces (`levels` of barrier, bcast and allreduce, up to offload_most bytes); with `messages` no stage uses memory that a node shares; with `apart`
 * blocks with lengths per rank have gaps between them.  `flat` is linear:once (what MPIs did before trees: the root posts everything and everybody sends), `tree` is binomial. */
struct sim_variant {
    char text[48];
    const struct plan_algorithm *alg;
    bool at_once, messages, network, apart;
    int64_t param; /* parameter of the algorithm: bytes of a piece, radix and so on */
};

int cases_init(void);
void cases_end(void);

/* `coll` is an MPI collective's name in small letters without MPI_; a leading i is the non-blocking form, a closing v has block lengths per
 * rank, all alike here.  False: error_out says which name is near. */
bool cases_knows(const char *coll, char *error_out, int error_cap);
/* False: error_out says what is wrong, with the collective or the algorithm. */
bool cases_find(const char *coll, const char *text, struct sim_variant *out, char *error_out, int error_cap);
void cases_list(void); /* prints all to stdout */

struct sim_call {
    const char *coll; /* as in cases_find() */
    struct sim_variant variant;
    int ranks;
    int64_t bytes; /* of a block or an operand, as MPI counts */
    bool whole;    /* all ranks are simulated: engine.h */
    struct gw_progress *progress;
};
/* Prices one call.  *fits_out: the algorithm can do this case at all. */
bool cases_price(const struct machine *m, const struct sim_call *call, bool *fits_out, struct engine_result *out, char *error_out,
                 int error_cap);

/* From now on `table` leaves barriers and small allreduces to cards or switches that reduce (MPICH_USE_DMAPP_COLL). */
void cases_use_cards(bool use);
/* The algorithm that the tables in tune/ name for ranks on the nodes of a machine.  False: there is none, or no such collective. */
bool cases_tuned(const struct machine *m, const char *coll, int ranks, int64_t bytes, struct sim_variant *out);

#endif
