#!/bin/sh
# libfabric 1.17.0 (Debian 12: libfabric1 1.17.0-3), provider udp;ofi_rxd: a message that is sent by fi_sendmsg(FI_INJECT | FI_COMPLETION) gets
# its completion, but without its context (op_context is NULL), where fi_cq(3) says that it is the context of the operation; the same call
# without FI_INJECT, and with it on provider tcp;ofi_rxm, gives the context back.  So a program cannot tell which operation has completed.
#
# Behaviour: rxd_ep_sendmsg() hands injected messages to the function of fi_inject(), which has no context to keep.
# Output of this script: three lines, "tcp;ofi_rxm inject: context kept", "udp;ofi_rxd plain: context kept", "udp;ofi_rxd inject: context NULL".
# Exit status: 0 if it is still so, 1 if the behaviour has changed, 77 where the packages cannot be had.
# SPDX-FileCopyrightText: 2026 The authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
version=1.17.0-3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download "libfabric1=$version" "libfabric-dev=$version" >/dev/null 2>&1 || { echo "skipped: no packages of libfabric $version"; exit 77; }
for p in ./*.deb; do dpkg -x "$p" .; done
lib=$(dirname "$(find . -name 'libfabric.so.1' | head -n 1)")
cat >try.c <<'C'
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MUST(x) do { int rc = (int)(x); if (rc) { fprintf(stderr, "%s: %d\n", #x, rc); exit(2); } } while (0)

int main(int argc, char **argv)
{
    int injects = argc > 2 && strcmp(argv[2], "inject") == 0;
    struct fi_info *h = fi_allocinfo(), *i = NULL;
    h->ep_attr->type = FI_EP_RDM;
    h->caps = FI_MSG;
    h->fabric_attr->prov_name = strdup(argv[1]);
    h->domain_attr->name = strdup("lo");
    MUST(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, h, &i));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_ep *ep[2];
    struct fi_cq_attr ca = {.format = FI_CQ_FORMAT_MSG};
    struct fi_av_attr aa = {.type = FI_AV_TABLE, .count = 4};
    MUST(fi_fabric(i->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, i, &domain, NULL));
    MUST(fi_cq_open(domain, &ca, &cq, NULL));
    MUST(fi_av_open(domain, &aa, &av, NULL));
    char name[256], got[64] = "", text[64] = "hello";
    fi_addr_t to = 0;
    for (int k = 0; k < 2; k++) {
        MUST(fi_endpoint(domain, i, &ep[k], NULL));
        MUST(fi_ep_bind(ep[k], &cq->fid, FI_TRANSMIT | FI_RECV));
        MUST(fi_ep_bind(ep[k], &av->fid, 0));
        MUST(fi_enable(ep[k]));
    }
    size_t n = sizeof name;
    MUST(fi_getname(&ep[1]->fid, name, &n));
    if (fi_av_insert(av, name, 1, &to, 0, NULL) != 1) return 2;
    int mine, theirs;
    MUST(fi_recv(ep[1], got, sizeof got, NULL, FI_ADDR_UNSPEC, &theirs));
    struct iovec v = {text, 6};
    struct fi_msg m = {.msg_iov = &v, .iov_count = 1, .addr = to, .context = &mine};
    ssize_t rc;
    struct fi_cq_msg_entry e;
    while ((rc = fi_sendmsg(ep[0], &m, (injects ? FI_INJECT : 0) | FI_COMPLETION)) == -FI_EAGAIN) (void)!fi_cq_read(cq, &e, 0);
    MUST(rc);
    for (int seen = 0; seen < 2;) {
        if (fi_cq_read(cq, &e, 1) != 1) continue;
        seen++;
        if (e.flags & FI_SEND)
            printf("%s %s: context %s\n", argv[1], argv[2], e.op_context == &mine ? "kept" : e.op_context ? "another" : "NULL");
    }
    return strcmp(got, "hello") != 0;
}
C
cc -w -o try try.c -I"$folder/usr/include" -L"$lib" -l:libfabric.so.1
export LD_LIBRARY_PATH="$folder/${lib#./}" IPATH_NO_BACKTRACE=1
{
    timeout 20 ./try "tcp;ofi_rxm" inject
    timeout 20 ./try "udp;ofi_rxd" plain
    timeout 20 ./try "udp;ofi_rxd" inject
} | tee out
grep -qx "tcp;ofi_rxm inject: context kept" out && grep -qx "udp;ofi_rxd plain: context kept" out && grep -qx "udp;ofi_rxd inject: context NULL" out
