/* cookie_test.c -- the table by which a peer names an operation of ours: what is taken back is found no more, also when its place is used again.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

#include "../../test/unit.h"

static void cookies(void)
{
    enum { N = 1000 };
    static int what[N];
    struct proto_cookies n = {0};
    uint64_t name[N], first;
    CHECK(proto_cookie_find(&n, 0) == NULL && proto_cookie_find(&n, (uint64_t)1 << 32) == NULL);
    for (int i = 0; i < N; i++) name[i] = proto_cookie_give(&n, &what[i]);
    for (int i = 0; i < N; i++) CHECK(name[i] != 0 && proto_cookie_find(&n, name[i]) == &what[i]);
    first = name[5];
    for (int i = 0; i < N; i += 2) proto_cookie_revoke(&n, name[i + 1]);
    for (int i = 0; i < N; i++) CHECK(proto_cookie_find(&n, name[i]) == (i % 2 ? NULL : &what[i]));
    for (int i = 1; i < N; i += 2) name[i] = proto_cookie_give(&n, &what[i]);
    for (int i = 0; i < N; i++) CHECK(proto_cookie_find(&n, name[i]) == &what[i]);
    CHECK(proto_cookie_find(&n, first) == NULL);
    proto_cookies_finish(&n);
}

int main(void)
{
    cookies();
    return unit_end();
}
