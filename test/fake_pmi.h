/* fake_pmi.h -- a server of PMI-1 for a test of one process, which is rank 0 of 2 on two hosts, and the other rank never comes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_FAKE_PMI_H
#define GW_TEST_FAKE_PMI_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The environment of the rank, whose connection to the server is fd. */
static void fake_pmi_rank(int fd)
{
    char text[16];
    snprintf(text, sizeof text, "%d", fd);
    setenv("PMI_FD", text, 1);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
}

/* Answers a line that the rank has sent, but for a barrier; map: the node of each rank, "(vector,...)". */
static void fake_pmi_answer(FILE *to, const char *line, const char *map)
{
    static const char *const answers[][2] = {{"cmd=init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"},
                                             {"cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"},
                                             {"cmd=get_appnum", "cmd=appnum appnum=0"},
                                             {"cmd=get_universe_size", "cmd=universe_size size=2"},
                                             {"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1"},
                                             {"cmd=put", "cmd=put_result rc=0 msg=success"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(answers); i++)
        if (strncmp(line, answers[i][0], strlen(answers[i][0])) == 0) fprintf(to, "%s\n", answers[i][1]);
    if (strncmp(line, "cmd=get ", 8) == 0) fprintf(to, "cmd=get_result rc=0 msg=success value=%s\n", map);
    fflush(to);
}

#endif
