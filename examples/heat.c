/* heat.c -- heat flow on a square plate: the first MPI program to run with Godwit.
 *
 * Solves dT/dt = laplace(T) on an N x N grid (explicit Euler), rows and columns shared out over a 2-D grid of ranks that
 * exchange one-cell halos each step.  Shows progress and a small picture, writes heat.png, and checks that the
 * result equals, bit by bit, what one rank alone computes.
 *
 *     mpicc heat.c -o heat -lm && mpiexec -n 4 ./heat [N] [steps]
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One rank's part of the plate: rows x cols cells and a frame of halo cells around them. */
struct block {
    int rows, cols, row0, col0; /* own cells and where they lie in the whole plate */
    double *now, *next;         /* (rows+2) x (cols+2), row by row */
};

static int share(int n, int parts, int i) { return n / parts + (i < n % parts); }
static int start(int n, int parts, int i) { return i * (n / parts) + (i < n % parts ? i : n % parts); }
static double *cell(double *t, const struct block *b, int r, int c) { return &t[(size_t)(r + 1) * (b->cols + 2) + c + 1]; }

static struct block block_new(int n, int prows, int pcols, int pr, int pc)
{
    struct block b = {share(n, prows, pr), share(n, pcols, pc), start(n, prows, pr), start(n, pcols, pc), NULL, NULL};
    size_t cells = (size_t)(b.rows + 2) * (b.cols + 2);
    b.now = calloc(cells, sizeof *b.now);
    b.next = calloc(cells, sizeof *b.next);
    if (!b.now || !b.next) MPI_Abort(MPI_COMM_WORLD, 1);
    /* A hot disc and a hot bar on a cold plate. */
    for (int r = 0; r < b.rows; r++)
        for (int c = 0; c < b.cols; c++) {
            double y = (b.row0 + r + 0.5) / n, x = (b.col0 + c + 0.5) / n;
            double d = hypot(x - 0.32, y - 0.36);
            *cell(b.now, &b, r, c) = d < 0.16 ? 100 : (x > 0.6 && x < 0.85 && y > 0.55 && y < 0.72) ? 70 : 0;
        }
    return b;
}

static void block_step(struct block *b)
{
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->cols; c++) {
            const double *t = cell(b->now, b, r, c);
            int down = b->cols + 2;
            *cell(b->next, b, r, c) = t[0] + 0.2 * (t[-1] + t[1] + t[-down] + t[down] - 4 * t[0]);
        }
    double *t = b->now;
    b->now = b->next;
    b->next = t;
}

/* Swaps the four edges with the neighbours; the edge of the plate has none (MPI_PROC_NULL) and stays cold. */
static void halo_swap(struct block *b, int up, int down, int left, int right, MPI_Datatype column)
{
    MPI_Request q[8];
    MPI_Irecv(cell(b->now, b, -1, 0), b->cols, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(cell(b->now, b, b->rows, 0), b->cols, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[1]);
    MPI_Irecv(cell(b->now, b, 0, -1), 1, column, left, 2, MPI_COMM_WORLD, &q[2]);
    MPI_Irecv(cell(b->now, b, 0, b->cols), 1, column, right, 3, MPI_COMM_WORLD, &q[3]);
    MPI_Isend(cell(b->now, b, b->rows - 1, 0), b->cols, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &q[4]);
    MPI_Isend(cell(b->now, b, 0, 0), b->cols, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[5]);
    MPI_Isend(cell(b->now, b, 0, b->cols - 1), 1, column, right, 2, MPI_COMM_WORLD, &q[6]);
    MPI_Isend(cell(b->now, b, 0, 0), 1, column, left, 3, MPI_COMM_WORLD, &q[7]);
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
}

/* The whole plate on rank 0: each rank sends its block, rank 0 receives it in place as a subarray. */
static double *plate_collect(struct block *b, int n, int prows, int pcols)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int full[2] = {b->rows + 2, b->cols + 2}, own[2] = {b->rows, b->cols}, at[2] = {1, 1};
    MPI_Datatype inner;
    MPI_Type_create_subarray(2, full, own, at, MPI_ORDER_C, MPI_DOUBLE, &inner);
    MPI_Type_commit(&inner);
    MPI_Request q;
    MPI_Isend(b->now, 1, inner, 0, 9, MPI_COMM_WORLD, &q);
    double *plate = rank ? NULL : malloc(sizeof *plate * n * n);
    for (int i = 0; !rank && i < ranks; i++) {
        int whole[2] = {n, n}, part[2] = {share(n, prows, i / pcols), share(n, pcols, i % pcols)};
        int from[2] = {start(n, prows, i / pcols), start(n, pcols, i % pcols)};
        MPI_Datatype window;
        MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &window);
        MPI_Type_commit(&window);
        MPI_Recv(plate, 1, window, i, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&window);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Type_free(&inner);
    return plate;
}

/* ---- the picture: black - red - yellow - white ---------------------------------------------------------------- */
static void heat_colour(double t, uint8_t rgb[3])
{
    double v = t / 100;
    for (int i = 0; i < 3; i++) {
        double x = 3 * v - i;
        rgb[i] = (uint8_t)(255 * (x < 0 ? 0 : x > 1 ? 1 : x));
    }
}

static void picture_print(const double *plate, int n)
{
    enum { WIDE = 56, HIGH = 24 };
    static const char shades[] = " .:-=+*#%@";
    int colour = isatty(1);
    for (int y = 0; y < HIGH; y++) {
        for (int x = 0; x < WIDE; x++) {
            double t = plate[(size_t)(y * n / HIGH) * n + x * n / WIDE];
            uint8_t rgb[3];
            heat_colour(t, rgb);
            if (colour)
                printf("\033[48;2;%d;%d;%dm ", rgb[0], rgb[1], rgb[2]);
            else
                putchar(shades[(int)(t / 100.001 * 10)]);
        }
        puts(colour ? "\033[0m" : "");
    }
}

static uint32_t crc32_of(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void png_chunk(FILE *f, const char *kind, const uint8_t *data, uint32_t len)
{
    uint8_t head[8], tail[4];
    put32(head, len);
    memcpy(head + 4, kind, 4);
    put32(tail, crc32_of(crc32_of(0, head + 4, 4), data, len));
    fwrite(head, 1, 8, f);
    if (len) fwrite(data, 1, len, f);
    fwrite(tail, 1, 4, f);
}

/* An RGB PNG with stored (uncompressed) blocks, one a row: no library needed. */
static int png_write(const char *path, const double *plate, int n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return -1;
    uint8_t ihdr[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0};
    put32(ihdr, (uint32_t)n);
    put32(ihdr + 4, (uint32_t)n);
    uint32_t row = 1 + 3 * (uint32_t)n, a = 1, b = 0; /* a, b: Adler-32 */
    uint8_t *z = malloc(2 + (size_t)n * (5 + row) + 4), *p = z;
    *p++ = 0x78, *p++ = 0x01;
    for (int y = 0; y < n; y++) {
        *p++ = y == n - 1;
        *p++ = (uint8_t)row, *p++ = (uint8_t)(row >> 8), *p++ = (uint8_t)~row, *p++ = (uint8_t)(~row >> 8);
        uint8_t *line = p;
        *p++ = 0;
        for (int x = 0; x < n; x++, p += 3) heat_colour(plate[(size_t)y * n + x], p);
        for (; line < p; line++) a = (a + *line) % 65521, b = (b + a) % 65521;
    }
    put32(p, b << 16 | a);
    fwrite("\211PNG\r\n\032\n", 1, 8, f);
    png_chunk(f, "IHDR", ihdr, 13);
    png_chunk(f, "IDAT", z, (uint32_t)(p + 4 - z));
    png_chunk(f, "IEND", NULL, 0);
    free(z);
    return fclose(f);
}

/* The same plate computed by this rank alone: same operations in the same order, so equal to the last bit. */
static long differences(const double *plate, int n, int steps)
{
    struct block b = block_new(n, 1, 1, 0, 0);
    for (int s = 0; s < steps; s++) block_step(&b);
    long bad = 0;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) bad += *cell(b.now, &b, r, c) != plate[(size_t)r * n + c];
    free(b.now);
    free(b.next);
    return bad;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, bad = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = argc > 1 ? atoi(argv[1]) : 240, steps = argc > 2 ? atoi(argv[2]) : 1500;
    int prows = (int)sqrt(ranks);
    while (ranks % prows) prows--;
    int pcols = ranks / prows, pr = rank / pcols, pc = rank % pcols;
    if (n < prows || n < pcols || n > 20000) {
        if (!rank) {
            fprintf(stderr, "heat: the grid size must be between %d and 20000, not %d\n", pcols, n);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* waits for the end: an abort here might come before rank 0 has printed */
    }
    struct block b = block_new(n, prows, pcols, pr, pc);
    MPI_Datatype column;
    MPI_Type_vector(b.rows, 1, b.cols + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    int up = pr ? rank - pcols : MPI_PROC_NULL, down = pr < prows - 1 ? rank + pcols : MPI_PROC_NULL;
    int left = pc ? rank - 1 : MPI_PROC_NULL, right = pc < pcols - 1 ? rank + 1 : MPI_PROC_NULL;

    if (!rank) printf("heat: %d x %d cells on %d x %d ranks, %d steps\n", n, n, prows, pcols, steps);
    double t0 = MPI_Wtime();
    for (int s = 0; s < steps; s++) {
        halo_swap(&b, up, down, left, right, column);
        block_step(&b);
        if (steps >= 5 && (s + 1) % (steps / 5) == 0) {
            double mine = 0, total;
            for (int r = 0; r < b.rows; r++)
                for (int c = 0; c < b.cols; c++) mine += *cell(b.now, &b, r, c);
            MPI_Reduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
            if (!rank) printf("  step %5d   mean temperature %7.4f   %.2f s\n", s + 1, total / n / n, MPI_Wtime() - t0);
        }
    }
    double *plate = plate_collect(&b, n, prows, pcols);
    if (!rank) {
        picture_print(plate, n);
        int saved = png_write("heat.png", plate, n);
        long diff = differences(plate, n, steps);
        bad = diff != 0;
        printf("%s; %s\n", saved ? "heat.png could not be written" : "wrote heat.png",
               bad ? "WRONG: the result differs from the one-rank run" : "the result equals the one-rank run in every cell");
        if (bad) printf("%ld of %ld cells differ\n", diff, (long)n * n);
    }
    MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(plate);
    free(b.now);
    free(b.next);
    MPI_Type_free(&column);
    MPI_Finalize();
    return bad;
}
