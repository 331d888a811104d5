/* pmi_private.h -- what the servers of PMI-1 and PMI-2 share: connections, keys, and one barrier of all ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_PMI_PRIVATE_H
#define GW_PMI_PMI_PRIVATE_H

#include "job/job.h"

enum { PMI_LINE_MOST = 4096, PMI_NAME_MOST = 256, PMI_KEY_MOST = 64, PMI_VALUE_MOST = 1024 }; /* bytes, with the end */

enum { PMI_OF_NODE = '\1' }; /* what keys of a node begin with (pmi_two.c): no key of a client does by accident */

/* ---- pmi_server.c ---- */
const char *pmi_space(void);                          /* the name of the key space, and of the job */
const char *pmi_key_get(const char *key);             /* NULL: it is not there */
void pmi_key_put(const char *key, const char *value); /* of a rank of this host */
void pmi_send(int rank, const char *text, size_t n);  /* closes the connection where there is no room */
void pmi_barrier(struct job *j, int rank);            /* the last one of all ranks has each answered in its own protocol */
/* A rank ends the job: noted in its slot; it is ended. */
void pmi_aborted(struct job *j, int rank, int code, const char *text);
void pmi_refuse_spawn(int rank);
/* ---- pmi_pair.c ---- */
int pmi_pair_make(int ends[2]); /* -1: there is no TCP here */
int pmi_pair_connect(int far);  /* connects such a far end, again: the near end of the new connection; -1: it cannot be */
/* ---- pmi_two.c: messages behind the first line ---- */
enum { PMI_TWO_LENGTH = 6 };                                     /* characters before each message */
int pmi_two_bytes(const char *length);                           /* of the message behind them; negative: they are no number */
bool pmi_two_message(struct job *j, int rank, const char *text); /* false: it is none of PMI-2 */
void pmi_two_fenced(int rank);
void pmi_two_stop(void);
/* ---- pmi_topology.c ---- */
const char *pmi_topology_path(void); /* a file that hwloc reads, made at the first call; NULL: there is no hwloc here */
void pmi_topology_drop(void);

#endif
