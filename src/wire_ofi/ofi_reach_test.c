/* ofi_reach_test.c -- connections in the kernel's tables.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "../../test/unit.h"

/* Lines as a little-endian machine prints them. */
static const char four[] = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
                           "   0: 0100007F:9B41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n"
                           "   1: 01004E0A:C3A2 02004E0A:B0F1 01 00000000:00000000 00:00000000 00000000     0        0 2\n"
                           "  12: 01004E0A:C3A4 03004E0A:B0F1 02 00000001:00000000 01:00000064 00000002     0        0 3\n";
static const char six[] = "  sl  local_address                         remote_address                        st\n"
                          "   0: 000000FD000000000000000001000000:A001 000000FD000000000000000002000000:B001 01 0:0\n"
                          "   1: 0000000000000000FFFF000001004E0A:A001 0000000000000000FFFF000004004E0A:B001 01 0:0\n";

static bool connected(const char *table, const char *address)
{
    struct sockaddr_in a4 = {.sin_family = AF_INET};
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6};
    if (strchr(address, ':')) {
        CHECK_EQ(inet_pton(AF_INET6, address, &a6.sin6_addr), 1);
        return ofi_reach_is_connected(table, (struct sockaddr *)&a6);
    }
    CHECK_EQ(inet_pton(AF_INET, address, &a4.sin_addr), 1);
    return ofi_reach_is_connected(table, (struct sockaddr *)&a4);
}

int main(void)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    CHECK(connected(four, "10.78.0.2"));
    CHECK(!connected(four, "10.78.0.3")); /* it tries */
    CHECK(!connected(four, "10.78.0.1")); /* ourselves */
    CHECK(!connected(four, "0.0.0.0"));   /* who listens */
    CHECK(connected(six, "fd00::2"));
    CHECK(!connected(six, "fd00::1"));
    CHECK(connected(six, "10.78.0.4")); /* by a socket for both */
    CHECK(!connected(six, "10.78.0.2"));
#endif
    CHECK(!connected("", "10.78.0.2"));
    CHECK(!connected("only a head", "10.78.0.2"));
    return unit_end();
}
