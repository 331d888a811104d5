/* main.c -- the command line of the simulator; `sim --help` says it all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/settings.h"
#include "cases.h"
#include "congest.h"
#include "cray.h"
#include "svg.h"

static const char usage[] =
    "sim --machine FILE --coll NAME --alg A[,B...] --ranks LIST --bytes LIST [--svg OUT.svg] [--whole] [--detail] [-q]\n"
    "sim --list\n"
    "sim --machine FILE --congestion\n"
    "sim --machine FILE --ranks LIST --mailboxes\n"
    "sim --machine FILE --gpus\n"
    "\n"
    "Prices a collective of Godwit's on a described machine, in microseconds until the last rank is through.\n"
    "  FILE   a machine description (sim/machine.h), or the name of one in sim/machines\n"
    "  NAME   gather, igatherv, allreduce, shmem_fcollect, ...    A  an algorithm, see --list; A:once posts everything "
    "before\n"
    "         it waits (flat is linear:once); A:65536 sets its piece; `table` is what the library's rules and tables "
    "choose;\n"
    "         levels:network leaves what nodes say to each other to the network (barrier, bcast, allreduce); A:apart: blocks\n"
    "         with lengths per rank do not lie one behind the other\n"
    "  LIST   8   or  64,128,256   or  64..65536 (doubling)   or  64..65536*4;  8K, 1M, 1G are 8192, 1048576, 2^30\n"
    "--congestion: the latency of some nodes while others send more than links can take, with and without classes and\n"
    "congestion management, on a machine with a fabric (dragonfly).\n"
    "--mailboxes: what they take of a node's memory, connected with all, with two, and in the low-memory mode.\n"
    "--gpus: how fast copies are between the GPUs of a node, to the host and to a card.\n"
    "Of the documents' variables these act on machines that have what they set: MPICH_GNI_RDMA_THRESHOLD, MPICH_USE_DMAPP_COLL\n"
    "(by `table`), MPICH_GNI_VC_MSG_PROTOCOL=MSGQ, MPICH_GNI_MBOXES_PER_BLOCK, MPICH_GNI_MAX_VSHORT_MSG_SIZE.\n"
    "--whole runs every rank even where those of a node could stand for all; --detail adds messages, bytes and "
    "queues.\n"
    "A long run says on standard error how far it is; -q: it does not.\n";

enum { MOST_POINTS = 64, MOST_ALGS = 8 };
struct list {
    int n;
    int64_t at[MOST_POINTS];
};
struct options {
    const char *machine, *coll, *algs, *svg;
    struct list ranks, bytes;
    bool whole, detail, congestion, quiet, mailboxes, gpus;
    struct cray cray;
};
struct figure { /* what was asked for, by algorithm and point */
    int n_algs, n_points;
    struct sim_variant algs[MOST_ALGS];
    bool tuned[MOST_ALGS];
    struct gw_progress progress;
    double x[MOST_POINTS], us[MOST_ALGS][MOST_POINTS]; /* us 0: the algorithm cannot do this */
};

static int die(const char *what, const char *word)
{
    fprintf(stderr, "sim: %s%s%s\n", what, word ? ": " : "", word ? word : "");
    return 2;
}

static const char *number(const char *s, int64_t *out)
{
    char *end;
    long long v = strtoll(s, &end, 10), unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    if (end == s || v < 0 || v > INT64_MAX >> 31) return NULL;
    *out = v * unit;
    return end + (unit > 1);
}

static bool read_list(const char *s, struct list *l)
{
    l->n = 0;
    for (;;) {
        int64_t v, last, times = 2;
        if (!(s = number(s, &v))) return false;
        last = v;
        if (!strncmp(s, "..", 2) && !(s = number(s + 2, &last))) return false;
        if (*s == '*' && !(s = number(s + 1, &times))) return false;
        if (times < 2 || (v == 0 && last > 0)) return false;
        for (; v <= last; v *= times) {
            if (l->n == MOST_POINTS) return false;
            l->at[l->n++] = v;
            if (v == 0 || v > last / times) break;
        }
        if (!*s) return l->n > 0;
        if (*s++ != ',') return false;
    }
}

static bool read_algs(const struct options *o, struct figure *f, char *error, int cap)
{
    char words[256], *save, *word;
    if (!cases_knows(o->coll, error, cap)) return false;
    snprintf(words, sizeof words, "%s", o->algs);
    for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (f->n_algs == MOST_ALGS) return snprintf(error, (size_t)cap, "more than %d algorithms", MOST_ALGS), false;
        int i = f->n_algs++;
        f->tuned[i] = !strcmp(word, "table");
        snprintf(f->algs[i].text, sizeof f->algs[i].text, "%s", word);
        if (!f->tuned[i] && !cases_find(o->coll, word, &f->algs[i], error, cap)) return false;
    }
    return true;
}

static void detail(const struct machine *m, const struct sim_variant *v, const struct engine_result *r)
{
    printf("#   %-12s %lld messages, %lld bytes; %lld ranks run; mean %.2f us; longest queues: %lld receives, %lld "
           "messages\n",
           v->text, (long long)r->messages, (long long)r->bytes, (long long)r->ranks, r->mean_us, (long long)r->most_posted,
           (long long)r->most_unexpected);
    for (int k = 0; k < m->n_engines; k++)
        printf("#     %-10s %lld messages, at most %lld at once on a node\n", m->engines[k].name, (long long)r->engine_messages[k],
               (long long)r->engine_busy[k]);
}

static bool point(const struct machine *m, const struct options *o, struct figure *f, int ranks, int64_t bytes, int i, char *error,
                  int cap)
{
    struct engine_result r = {0};
    struct sim_variant v = f->algs[i];
    bool fits;
    if (f->tuned[i] && !cases_tuned(m, o->coll, ranks, bytes, &v))
        return snprintf(error, (size_t)cap, "no row in tune/coll.tbl or nodes.tbl"), false;
    struct sim_call call = {o->coll, v, ranks, bytes, o->whole, &f->progress};
    bool is_priced = cases_price(m, &call, &fits, &r, error, cap);
    gw_progress_clear(&f->progress); /* the row that stdout keeps until it is whole comes in its place */
    if (!is_priced) return false;
    f->us[i][f->n_points] = fits ? r.us : 0;
    fits ? printf(" %14.2f", r.us) : printf(" %14s", "-");
    if (f->tuned[i]) printf(" (%s)", v.text);
    if (o->detail && fits) printf("\n"), detail(m, &v, &r);
    return true;
}

static bool fill(const struct machine *m, const struct options *o, struct figure *f, char *error, int cap)
{
    bool by_ranks = o->ranks.n >= o->bytes.n;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a row that is whole is seen at once, also in a file */
    printf("# %s on %s, microseconds\n%10s %10s", o->coll, m->name, "ranks", "bytes");
    for (int i = 0; i < f->n_algs; i++) printf(" %14s", f->algs[i].text);
    printf("\n");
    for (int r = 0; r < o->ranks.n; r++)
        for (int b = 0; b < o->bytes.n; b++, f->n_points++) {
            if (f->n_points == MOST_POINTS) return snprintf(error, (size_t)cap, "more than %d points", MOST_POINTS), false;
            f->x[f->n_points] = (double)(by_ranks ? o->ranks.at[r] : gw_max64(o->bytes.at[b], 1));
            printf("%10lld %10lld", (long long)o->ranks.at[r], (long long)o->bytes.at[b]);
            for (int i = 0; i < f->n_algs; i++)
                if (!point(m, o, f, (int)o->ranks.at[r], o->bytes.at[b], i, error, cap)) return printf("\n"), false;
            printf("\n");
        }
    return true;
}

static int draw(const struct machine *m, const struct options *o, const struct figure *f)
{
    static double x[MOST_ALGS][MOST_POINTS], y[MOST_ALGS][MOST_POINTS];
    struct svg_curve curves[MOST_ALGS];
    char title[160];
    bool by_ranks = o->ranks.n >= o->bytes.n;
    if (o->ranks.n > 1 && o->bytes.n > 1)
        return die("--svg draws over ranks or over bytes, so one of the lists has one number", NULL);
    if (by_ranks)
        snprintf(title, sizeof title, "%s of %lld bytes on %s", o->coll, (long long)o->bytes.at[0], m->name);
    else
        snprintf(title, sizeof title, "%s on %lld ranks of %s", o->coll, (long long)o->ranks.at[0], m->name);
    for (int i = 0; i < f->n_algs; i++) {
        int n = 0;
        for (int k = 0; k < f->n_points; k++)
            if (f->us[i][k] > 0) x[i][n] = f->x[k], y[i][n++] = f->us[i][k];
        curves[i] = (struct svg_curve){f->algs[i].text, n, x[i], y[i]};
    }
    struct svg_chart c = {title, by_ranks ? "ranks" : "bytes", "microseconds", f->n_algs, curves};
    return svg_write(o->svg, &c) ? 0 : die(o->svg, strerror(errno));
}

static int options(int argc, char **argv, struct options *o)
{
    enum { MACHINE = 256, COLL, ALG, RANKS, BYTES, SVG, WHOLE, DETAIL, LIST, CONGESTION, MAILBOXES, GPUS, HELP };
    static const struct option names[] = {
        {"machine", 1, NULL, MACHINE},     {"coll", 1, NULL, COLL}, {"alg", 1, NULL, ALG},     {"ranks", 1, NULL, RANKS},
        {"bytes", 1, NULL, BYTES},         {"svg", 1, NULL, SVG},   {"whole", 0, NULL, WHOLE}, {"detail", 0, NULL, DETAIL},
        {"list", 0, NULL, LIST},           {"help", 0, NULL, HELP}, {"quiet", 0, NULL, 'q'},   {"congestion", 0, NULL, CONGESTION},
        {"mailboxes", 0, NULL, MAILBOXES}, {"gpus", 0, NULL, GPUS}, {NULL, 0, NULL, 0}};
    for (int k; (k = getopt_long(argc, argv, "q", names, NULL)) != -1;) {
        bool ok = true;
        switch (k) {
        case MACHINE: o->machine = optarg; break;
        case COLL: o->coll = optarg; break;
        case ALG: o->algs = optarg; break;
        case RANKS: ok = read_list(optarg, &o->ranks); break;
        case BYTES: ok = read_list(optarg, &o->bytes); break;
        case SVG: o->svg = optarg; break;
        case WHOLE: o->whole = true; break;
        case 'q': o->quiet = true; break;
        case DETAIL: o->detail = true; break;
        case CONGESTION: o->congestion = true; break;
        case MAILBOXES: o->mailboxes = true; break;
        case GPUS: o->gpus = true; break;
        case LIST: cases_list(); return 1;
        case HELP: fputs(usage, stdout); return 1;
        default: return die("sim --help says what can be asked", NULL);
        }
        if (!ok) return die("not a list of at most 64 numbers", optarg);
    }
    for (int i = 0; i < o->ranks.n; i++)
        if (o->ranks.at[i] < 1 || o->ranks.at[i] > 1 << 24) return die("--ranks must lie between 1 and 16777216", NULL);
    for (int i = 0; i < o->bytes.n; i++)
        if (o->bytes.at[i] > 1LL << 36) return die("--bytes must be 64G at most", NULL);
    if (o->machine && optind == argc && (o->congestion || o->gpus || (o->mailboxes && o->ranks.n))) return 0;
    if (optind < argc || !o->machine || !o->coll || !o->algs || !o->ranks.n || !o->bytes.n) {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}

static bool find_machine(const char *name, struct machine *m, char *error, int cap)
{
    char path[512];
    if (strpbrk(name, "/.")) return machine_read(name, m, error, cap);
    snprintf(path, sizeof path, "%s/%s.machine", SIM_MACHINES, name);
    return machine_read(path, m, error, cap);
}

static void print_mailboxes(const struct options *o, const struct machine *m)
{
    printf("# mailboxes on %s, bytes\n%10s %10s %10s %10s %14s %14s %14s\n", m->name, "ranks", "each", "a block", "blocks",
           "node, all", "node, ring", "node, low");
    for (int i = 0; i < o->ranks.n; i++) {
        struct cray_mailboxes b = cray_mailboxes(&o->cray, m, o->ranks.at[i]);
        printf("%10lld %10lld %10lld %10lld %14lld %14lld %14lld\n", (long long)o->ranks.at[i], (long long)b.bytes,
               (long long)b.per_block, (long long)b.blocks_of_all, (long long)b.all, (long long)b.ring, (long long)b.low);
    }
}

static int print_gpus(const struct machine *m)
{
    if (!m->gpu.links) return die("its ranks have no GPUs", m->name);
    printf("# copies on %s, GB/s\n", m->name);
    printf("inside a GPU %.0f\nto the other of its module %.0f\n", 1 / machine_gpu_copy(m, 0, 0), 1 / machine_gpu_copy(m, 0, 1));
    printf("to one of another module %.0f\n", 1 / machine_gpu_copy(m, 0, (int64_t)m->gpu.ranks));
    printf("to the host %.0f\nto a card %.0f\n", 1 / m->gpu.host, 1 / m->gpu.pcie);
    return 0;
}

int main(int argc, char **argv)
{
    static struct figure f;
    struct options o = {0};
    struct machine m;
    char error[512];
    if (!cray_read(&o.cray, error, sizeof error)) return die(error, NULL);
    if (cases_init() != GW_OK) return die("the types cannot be made", NULL);
    if (gw_settings_complaints(error, sizeof error)) fprintf(stderr, "sim: %s\n", error);
    int rc = options(argc, argv, &o);
    cases_use_cards(o.cray.dmapp_coll);
    gw_progress_begin(&f.progress, o.quiet);
    if (!rc && (!find_machine(o.machine, &m, error, sizeof error) || !cray_apply(&o.cray, &m, error, sizeof error))) {
        rc = die(error, NULL);
    } else if (!rc && o.congestion) {
        if (!congest_print(&m, &f.progress, error, sizeof error)) rc = die(error, NULL);
    } else if (!rc && o.mailboxes) {
        print_mailboxes(&o, &m);
    } else if (!rc && o.gpus) {
        rc = print_gpus(&m);
    } else if (!rc) {
        bool ok = read_algs(&o, &f, error, sizeof error) && fill(&m, &o, &f, error, sizeof error);
        if (!ok)
            rc = die(error, NULL);
        else if (o.svg)
            rc = draw(&m, &o, &f);
    }
    gw_progress_end(&f.progress);
    cases_end();
    return rc == 1 ? 0 : rc;
}
