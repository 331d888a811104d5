/* pmix_facts.h -- what mpiexec's PMIx server says: of the job when it starts, and where it is asked.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_PMIX_FACTS_H
#define GW_PMI_PMIX_FACTS_H

#include <pmix.h>
#include <pmix_server.h>

#include "job/job.h"

/* A list that grows; pmix_facts_free() frees it.  libpmix's own helpers are not called, because older versions lack them. */
struct facts {
    pmix_info_t *at;
    size_t n, cap;
};
void pmix_fact_text(struct facts *f, const char *key, const char *text);
void pmix_fact_flag(struct facts *f, const char *key, bool on);
void pmix_fact_rank(struct facts *f, const char *key, int n);
void pmix_facts_free(pmix_info_t *at, size_t n);

struct pmix_names {
    const char *job, *server; /* namespaces */
    const char *folder;       /* of the sessions */
    const char *nodes;        /* PMIX_NODE_MAP, as libpmix has packed it */
    /* Which caches and cores these CPUs ("0,2-3") are, in hwloc's words; the caller's.  NULL: libpmix does not know. */
    char *(*locality)(const char *cpus);
};
/* Everything that is registered of the job, its node, its applications and its ranks (doc/launch.md has the table). */
void pmix_facts_of_job(struct facts *f, const struct job *j, const struct pmix_names *names);
/* The answer to one key of a query; nothing is added where there is none.  In libpmix's thread. */
void pmix_fact_asked(struct facts *f, const struct job *j, const char *job_name, const char *key);

#endif
