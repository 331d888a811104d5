/* net.c -- two ranks on two hosts (or on one, with GODWIT_WIRES=ofi): MPI beside a plain TCP connection between the same two processes.
 *
 *   net [SECONDS a figure, default 0.5]
 *
 * Prints half the round trip of small messages, the time of large ones and the bandwidth of streams, ours divided by TCP's: the two are
 * measured by turns, so that what else the machine does falls on both.  TCP spins on its socket ("spin") or sleeps in it ("block").
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURNS = 7, LARGEST = 16 << 20, WINDOW = 16 };
static int rank, sock;
static char *buf;
static double seconds = 0.5;

static void die(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The first address that others could reach; that of loopback where there is no other. */
static struct sockaddr_in my_address(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct ifaddrs *all;
    if (getifaddrs(&all)) die("getifaddrs");
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK)) {
            a.sin_addr = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
            break;
        }
    freeifaddrs(all);
    return a;
}

static void tcp_connect(void)
{
    struct sockaddr_in a = my_address();
    socklen_t len = sizeof a;
    int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) die("socket");
    if (rank == 1) {
        if (bind(s, (struct sockaddr *)&a, len) || listen(s, 1) || getsockname(s, (struct sockaddr *)&a, &len)) die("listen");
        MPI_Send(&a, sizeof a, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        sock = accept(s, NULL, NULL);
        close(s);
    } else {
        MPI_Recv(&a, sizeof a, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (connect(s, (struct sockaddr *)&a, len)) die("connect");
        sock = s;
    }
    setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* ---- the two ways ---- */
static int flags;
static void tcp_send(const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = send(sock, p, n, MSG_NOSIGNAL);
        if (k < 0) die("send");
        p += k, n -= (size_t)k;
    }
}
static void tcp_recv(char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = recv(sock, p, n, flags);
        if (k == 0) die("the other side is gone");
        if (k > 0) p += k, n -= (size_t)k;
    }
}
static void mpi_send(const char *p, size_t n) { MPI_Send(p, (int)n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); }
static void mpi_recv(char *p, size_t n) { MPI_Recv(p, (int)n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

typedef void (*send_fn)(const char *, size_t);
typedef void (*recv_fn)(char *, size_t);

/* Seconds for n half round trips of `bytes`. */
static double pingpong(send_fn snd, recv_fn rcv, int n, size_t bytes)
{
    double t = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        if (rank == 0) snd(buf, bytes), rcv(buf, bytes);
        if (rank == 1) rcv(buf, bytes), snd(buf, bytes);
    }
    return (MPI_Wtime() - t) / 2;
}
/* Seconds for n messages one way and an answer. */
static double tcp_stream(int n, size_t bytes)
{
    double t = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        if (rank == 0) tcp_send(buf, bytes);
        if (rank == 1) tcp_recv(buf, bytes);
    }
    if (rank == 0) tcp_recv(buf, 1);
    if (rank == 1) tcp_send(buf, 1);
    return MPI_Wtime() - t;
}
static double mpi_stream(int n, size_t bytes)
{
    MPI_Request r[WINDOW];
    double t = MPI_Wtime();
    for (int at = 0, k; at < n; at += k) {
        k = n - at < WINDOW ? n - at : WINDOW;
        for (int i = 0; i < k; i++) {
            if (rank == 0) MPI_Isend(buf, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r[i]);
            if (rank == 1) MPI_Irecv(buf, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r[i]);
        }
        MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
    }
    if (rank == 0) mpi_recv(buf, 1);
    if (rank == 1) mpi_send(buf, 1);
    return MPI_Wtime() - t;
}

static int compare(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }
static double median(double *v)
{
    qsort(v, TURNS, sizeof *v, compare);
    return v[TURNS / 2];
}

/* How many fit into the time of a turn; rank 0's figure for both. */
static int rounds(double one)
{
    int n = (int)(seconds / TURNS / one);
    n = n < 4 ? 4 : n;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

static void latency(size_t bytes)
{
    double spin[TURNS], block[TURNS], mpi[TURNS];
    int n = rounds(pingpong(mpi_send, mpi_recv, 20, bytes) / 20);
    for (int i = 0; i < TURNS; i++) {
        flags = MSG_DONTWAIT;
        spin[i] = pingpong(tcp_send, tcp_recv, n, bytes) / n;
        flags = 0;
        block[i] = pingpong(tcp_send, tcp_recv, n, bytes) / n;
        mpi[i] = pingpong(mpi_send, mpi_recv, n, bytes) / n;
    }
    double s = median(spin), b = median(block), m = median(mpi);
    if (rank == 0)
        printf("latency %9zu B   TCP spin %9.2f us, block %9.2f us   MPI %9.2f us   %5.2f and %5.2f times\n", bytes, s * 1e6,
               b * 1e6, m * 1e6, m / s, m / b);
}

static void bandwidth(size_t bytes)
{
    double tcp[TURNS], mpi[TURNS];
    int n = rounds(tcp_stream(4, bytes) / 4);
    mpi_stream(4, bytes);
    flags = 0;
    for (int i = 0; i < TURNS; i++) {
        tcp[i] = tcp_stream(n, bytes) / n;
        mpi[i] = mpi_stream(n, bytes) / n;
    }
    double t = (double)bytes / median(tcp), m = (double)bytes / median(mpi);
    if (rank == 0) printf("stream  %9zu B   TCP %8.0f MB/s   MPI %8.0f MB/s   %5.2f times\n", bytes, t / 1e6, m / 1e6, m / t);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        if (rank == 0) fprintf(stderr, "net: two ranks, please\n");
        MPI_Finalize();
        return 1;
    }
    if (argc > 1) seconds = atof(argv[1]);
    buf = malloc(LARGEST);
    if (!buf) die("malloc");
    memset(buf, 1, LARGEST);
    tcp_connect();
    for (size_t bytes = 8; bytes <= 1 << 20; bytes *= bytes < 64 ? 8 : 4) latency(bytes);
    for (size_t bytes = 64 << 10; bytes <= LARGEST; bytes *= 4) bandwidth(bytes);
    close(sock);
    free(buf);
    MPI_Finalize();
    return 0;
}
