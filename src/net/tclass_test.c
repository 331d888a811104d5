/* tclass_test.c -- words of traffic classes, and what becomes of wrong ones.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/tclass.h"

#include <stdio.h>
#include <stdlib.h>
#include <rdma/fabric.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "base/settings.h"

/* What a call with a word and a policy prints on stderr. */
static char printed[1024];
static int parse(const char *word, enum tclass_errors errors, uint32_t *out)
{
    int pipes[2], err = dup(2);
    CHECK_EQ(pipe(pipes), 0);
    dup2(pipes[1], 2);
    close(pipes[1]);
    int rc = net_tclass_parse(word, errors, out);
    fflush(stderr);
    dup2(err, 2);
    close(err);
    ssize_t got = read(pipes[0], printed, sizeof printed - 1);
    printed[got > 0 ? got : 0] = 0;
    close(pipes[0]);
    return rc;
}

int main(void)
{
    static const struct {
        const char *word;
        uint32_t want;
    } rows[] = {{"TC_BEST_EFFORT", FI_TC_BEST_EFFORT},
                {"TC_DEDICATED_ACCESS", FI_TC_DEDICATED_ACCESS},
                {"TC_BULK_DATA", FI_TC_BULK_DATA},
                {"TC_LOW_LATENCY", FI_TC_LOW_LATENCY},
                {"low-latency", FI_TC_LOW_LATENCY},
                {"Scavenger", FI_TC_SCAVENGER},
                {"", FI_TC_UNSPEC}};
    uint32_t got;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        CHECK_EQ(parse(rows[i].word, TCLASS_ERROR, &got), GW_OK);
        CHECK_EQ(got, rows[i].want);
        CHECK_STR(printed, "");
    }
    CHECK_EQ(parse(NULL, TCLASS_ERROR, &got), GW_OK);
    CHECK_EQ(parse("TC_LOW_LATENCIES", TCLASS_SILENT, &got), GW_OK);
    CHECK_EQ(got, FI_TC_UNSPEC);
    CHECK_STR(printed, "");
    CHECK_EQ(parse("TC_LOW_LATENCIES", TCLASS_WARN, &got), GW_OK);
    CHECK_EQ(got, FI_TC_UNSPEC);
    CHECK(strstr(printed,
                 "GODWIT_OFI_TCLASS=TC_LOW_LATENCIES is no traffic class (did you mean TC_LOW_LATENCY?); "
                 "there are TC_BEST_EFFORT"));
    CHECK(strstr(printed, "going on without"));
    CHECK_EQ(parse("fast", TCLASS_ERROR, &got), GW_EARG);
    CHECK_STR(printed, "");
    CHECK(strstr(gw_fail_text(), "=fast is no traffic class; there are"));
    CHECK_STR(net_tclass_name(FI_TC_BULK_DATA), "TC_BULK_DATA");
    CHECK_EQ(net_tclass_refused(FI_TC_BULK_DATA, "tcp", TCLASS_SILENT), GW_OK);
    CHECK_EQ(net_tclass_refused(FI_TC_BULK_DATA, "tcp", TCLASS_ERROR), GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "GODWIT_OFI_TCLASS: libfabric's tcp does not offer the traffic class TC_BULK_DATA"));
    /* It is named as the user has named it. */
    setenv("MPICH_OFI_DEFAULT_TCLASS", "TC_BULK_DATA", 1);
    gw_settings_load();
    CHECK_EQ(net_tclass_refused(FI_TC_BULK_DATA, "tcp", TCLASS_ERROR), GW_EUNSUPPORTED);
    CHECK(strncmp(gw_fail_text(), "MPICH_OFI_DEFAULT_TCLASS: ", 26) == 0 && !strstr(gw_fail_text(), "GODWIT_"));
    CHECK_EQ(parse("fast", TCLASS_ERROR, &got), GW_EARG);
    CHECK(strncmp(gw_fail_text(), "MPICH_OFI_DEFAULT_TCLASS=fast is no", 35) == 0);
    return unit_end();
}
