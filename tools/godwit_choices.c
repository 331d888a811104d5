/* godwit_choices.c -- `godwit-choices`: what the library would choose for a job, before there is one: how messages travel by their size,
 * and which algorithm serves each collective.
 *
 * It asks the library's own functions, with the settings of the environment, as the simulator does; it is no room, and stands beside the
 * house.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/processor.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "coll/coll_private.h"
#include "proto/proto_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
    "usage: godwit-choices -n RANKS [-N RANKS_PER_NODE | --vnodes NODES] [-b BYTES] [--json] [COLLECTIVE...]\n"
    "  Prints what would be chosen for such a job under the settings of the environment: how messages go by size,\n"
    "  and for each collective on all ranks the algorithm, from how many bytes on, and which table or rule says so.\n"
    "  Bytes are those of the operand, of a block (gather, scatter, allgather, alltoall), of all parts (reduce_scatter).\n"
    "  -N  ranks a node (all of them); --vnodes as mpiexec spreads ranks over so many; -b only for that size; -np is -n\n"
    "  --json  the same for programs: PREFIX/share/godwit/schema/choices.json says what stands there\n";

struct job {
    int ranks, per_node;
    const char *vnodes; /* in place of per_node, as in GODWIT_VNODES; "": none */
    struct plan_nodes nodes;
    struct gw_op *op;
};

/* What the library makes of a call before it chooses; commutative, of whole words. */
static struct plan_args arguments(const struct job *j, int kind, int64_t bytes)
{
    bool words = kind >= COLL_REDUCE && bytes % 8 == 0;
    struct plan_args a = {.size = j->ranks, .n = 1, .op = j->op};
    int64_t block = kind == COLL_REDUCE_SCATTER ? (bytes + j->ranks - 1) / j->ranks : bytes;
    a.st = a.rt = words ? gw_type_int64 : gw_type_byte;
    a.scount = a.rcount = words ? block / 8 : block;
    a.nodes = (struct plan_nodes *)(uintptr_t)&j->nodes;
    coll_temporaries(&a);
    return a;
}

/* Is a barrier done by the network's atomic operations, where it has them? */
static bool by_cards(const struct job *j, const char **why_out)
{
    struct plan_args a = arguments(j, COLL_BARRIER, 0);
    a.has_counters = j->nodes.n > 1;
    return j->nodes.n > 1 && coll_decide_apart(COLL_BARRIER, 0, &a, false, why_out) == &coll_alg_barrier_atomics;
}

static const struct plan_algorithm *choose(const struct job *j, int kind, int64_t bytes, const char **why_out)
{
    struct plan_args a = arguments(j, kind, bytes);
    if (j->nodes.n == 1) return coll_decide_node((enum coll_kind)kind, bytes, &a, why_out);
    if (kind == COLL_BARRIER && by_cards(j, why_out) && strcmp(*why_out, "GODWIT_COLL") == 0) return &coll_alg_barrier_atomics;
    const struct plan_algorithm *alg = coll_decide_apart((enum coll_kind)kind, bytes, &a, false, why_out);
    if (alg != &coll_alg_alltoall_ruled) return alg;
    *why_out = "agreed"; /* by the ranks: all send blocks to all that are so long at most */
    return coll_pick_agreed(bytes, &a);
}

/* ---- output ---- */
static const char *size_text(int64_t n, char *to, size_t cap)
{
    static const char units[] = "\0KMG";
    int k = 0;
    while (n && n % 1024 == 0 && k < 3) n /= 1024, k++;
    snprintf(to, cap, k ? "%lld%c" : "%lld", (long long)n, units[k]);
    return to;
}

/* The first size above `low` at which something else is chosen, which it is at `high`. */
static int64_t border(const struct job *j, int kind, int64_t low, int64_t high)
{
    const char *why, *was;
    const struct plan_algorithm *alg = choose(j, kind, low, &was);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (choose(j, kind, middle, &why) == alg && why == was)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* What a `ruled` algorithm comes to for blocks of so many bytes on average, which the root alone knows; the documented words. */
static const char *ruled_as(const struct job *j, int kind, int64_t bytes)
{
    bool gather = kind == COLL_GATHERV;
    return bytes <= coll_vector_short(gather, j->ranks) ? "tree" : gather ? "permission" : "one after the other";
}

static bool is_ruled(const struct plan_algorithm *alg) { return alg == &coll_alg_gather_ruled || alg == &coll_alg_scatter_ruled; }

static void print_ruled(const struct job *j, int kind)
{
    bool gather = kind == COLL_GATHERV;
    char text[32];
    printf("%-15s tree up to %s a rank on average (MPICH_%s_SHORT_MSG), above %s, %lld at a time (MPICH_%s_SYNC_FREQ)\n",
           coll_kind_names[kind], size_text(coll_vector_short(gather, j->ranks), text, sizeof text),
           gather ? "GATHERV" : "SCATTERV", ruled_as(j, kind, INT64_MAX),
           (long long)(gather ? gw_set.gatherv_sync_freq : gw_set.scatterv_sync_freq), gather ? "GATHERV" : "SCATTERV");
}

static bool has_sizes(int kind) { return kind != COLL_BARRIER && kind != COLL_GATHERV && kind != COLL_SCATTERV; }

/* A vector collective that is done alike whatever its counts are; from how many ranks on the documents' rule takes over. */
static int ruled_from(const struct job *j, int kind) /* 0: it never does */
{
    const char *why;
    struct plan_args a = arguments(j, kind, 0);
    a.size = (int32_t)gw_min64(kind == COLL_GATHERV ? gw_set.gatherv_min_comm_size : gw_set.scatterv_min_comm_size, INT32_MAX);
    return j->nodes.n > 1 && is_ruled(coll_decide_apart((enum coll_kind)kind, 0, &a, false, &why)) ? a.size : 0;
}

static void print_any_size(const struct job *j, int kind)
{
    int from = ruled_from(j, kind);
    printf(" at any size");
    if (from)
        printf("; from %d ranks on tree or %s (MPICH_%s_MIN_COMM_SIZE)", from, ruled_as(j, kind, INT64_MAX),
               kind == COLL_GATHERV ? "GATHERV" : "SCATTERV");
}

/* The next size above *low_in_out, which it becomes, from which on something else is chosen; false: there is none up to 1 GiB. */
static bool next_choice(const struct job *j, int kind, int64_t *low_in_out)
{
    const int64_t most = has_sizes(kind) ? (int64_t)1 << 30 : 0;
    const char *why, *was;
    const struct plan_algorithm *alg = choose(j, kind, *low_in_out, &was);
    for (int64_t low = *low_in_out, high = 2; low < most; high *= 2) { /* from one power of two to the next */
        if (high <= low) continue;
        if (choose(j, kind, high, &why) != alg || why != was) return *low_in_out = border(j, kind, low, high), true;
        low = high;
    }
    return false;
}

/* The barrier by a card's counters, beside the one that is chosen; NULL: there is none, else who says so. */
static const char *by_cards_too(const struct job *j, int kind, const struct plan_algorithm *alg)
{
    const char *why;
    return kind == COLL_BARRIER && alg != &coll_alg_barrier_atomics && by_cards(j, &why) ? why : NULL;
}

static void print_kind(const struct job *j, int kind)
{
    const char *was;
    char text[32];
    int64_t at = has_sizes(kind) ? 1 : 0;
    const struct plan_algorithm *alg = choose(j, kind, at, &was);
    if (is_ruled(alg)) {
        print_ruled(j, kind);
        return;
    }
    printf("%-15s %s (%s)", coll_kind_names[kind], alg->name, was);
    const char *card = by_cards_too(j, kind, alg);
    if (card) printf("; atomics (%s) where a card raises counters in other nodes' memory", card);
    if (kind == COLL_GATHERV || kind == COLL_SCATTERV) print_any_size(j, kind);
    while (next_choice(j, kind, &at)) {
        alg = choose(j, kind, at, &was);
        printf("; from %s %s (%s)", size_text(at, text, sizeof text), alg->name, was);
    }
    putchar('\n');
}

static void print_messages(const struct job *j)
{
    char a[32], b[32], c[32];
    int64_t inside = gw_set.net_short_max >= 0 ? gw_set.net_short_max : proto_far_short_default(j->ranks);
    printf(
        "messages to the same node: at once up to %s; copied straight where that is quicker from %s, and always from %s, where the kernel "
        "allows it\n",
        size_text(gw_set.eager_max, a, sizeof a), size_text(gw_set.cma_min, b, sizeof b), size_text(gw_set.cma_sure, c, sizeof c));
    if (j->nodes.n == 1) return;
    printf("messages to other nodes: inline (E0) up to %s, or what the wire can; at once (E1) up to %s by a card, %s by TCP",
           size_text(inside, a, sizeof a), size_text(proto_far_eager(false), b, sizeof b),
           size_text(proto_far_eager(true), c, sizeof c));
    if (gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_DISABLED)
        printf("; longer ones in pieces\n");
    else
        printf("; read by the receiver (R0) up to %s, longer ones written in chunks of %s (R1)%s\n",
               size_text(gw_set.net_get_max, a, sizeof a), size_text(gw_set.net_chunk, b, sizeof b),
               gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED ? "" : ", by a card");
}

/* ---- the command line ---- */
/* Every collective that has algorithms of its own. */
static void print_kinds(FILE *to)
{
    fprintf(to, "  Collectives:");
    for (int kind = 0; kind < COLL_KINDS; kind++) fprintf(to, "%s %s", kind ? "," : "", coll_kind_names[kind]);
    fprintf(to, "\n");
}

static int print_usage(FILE *to)
{
    fputs(usage, to);
    print_kinds(to);
    return ferror(to) ? 1 : 0;
}

static int refuse(const char *what, const char *word)
{
    gw_print(stderr, "godwit-choices: %s: %s; godwit-choices without arguments tells what there is\n", word, what);
    return 2;
}

/* What getopt() does not know: a letter, or in its place the second dash of this word. */
static int refuse_option(const char *word)
{
    char letter[] = {'-', (char)optopt, 0};
    return refuse("is no option, or lacks what belongs to it", optopt == '-' ? word : letter);
}

static bool number(const char *text, int64_t most, int64_t *out)
{
    return gw_number_read(text, true, out) && *out >= 1 && *out <= most; /* "auto" is -1 */
}

/* The node that begins at rank `first` ends before this one. */
static int node_end(const struct job *j, int first)
{
    int at, count;
    if (!*j->vnodes) return (int)gw_min64((int64_t)first + j->per_node, j->ranks);
    boot_vnodes_block(j->vnodes, j->ranks, first, &at, &count);
    return first + count;
}

static int make_nodes(struct job *j)
{
    struct plan_nodes *n = &j->nodes;
    n->ordered = true;
    n->fewest = j->ranks;
    n->first = malloc(sizeof *n->first * ((size_t)j->ranks + 1));
    for (int at = 0, end; n->first && at < j->ranks; at = end) {
        end = node_end(j, at);
        n->first[n->n++] = at;
        n->first[n->n] = end;
        n->most = (int)gw_max64(n->most, end - at);
        n->fewest = (int)gw_min64(n->fewest, end - at);
    }
    return n->first ? 0 : -1;
}

/* What a file of godwit-tune says is in the choices; one that mpiexec would take by itself only where all ranks run on its host. */
static void print_tuned(const struct job *j)
{
    char text[2048], *path = NULL;
    if (gw_tuned_text(text, sizeof text))
        gw_print(stdout, "tuning file: %s\n", text);
    else if (j->nodes.n > 1 && !secure_getenv("GODWIT_TUNE") && (path = gw_file_tuned()) && access(path, R_OK) == 0)
        gw_print(stdout, "tuning file: %s is for jobs whose ranks all run on this host; GODWIT_TUNE=%s shows what it does there\n",
                 path, path);
    free(path);
}

static void print_processor(const struct job *j)
{
    int rows;
    struct gw_processor here;
    char text[GW_PROCESSOR_TEXT], model[256] = "";
    const struct gw_processor *p = coll_select_processor(&rows);
    bool is_here = gw_processor_here(&here) && memcmp(&here, p, sizeof here) == 0;
    if (!p->vendor[0]) {
        printf("processor: %s: the general rows count\n", here.vendor[0] ? "none (GODWIT_PROCESSOR)" : "not known");
        return;
    }
    if (is_here) gw_processor_model_name(model, sizeof model);
    printf("processor: %s (%s): ", gw_processor_text(p, true, text, sizeof text),
           !is_here     ? "GODWIT_PROCESSOR"
               : *model ? model
                        : "this machine's");
    if (!rows)
        printf("no row of tune/processors.tbl names it, the general rows count\n");
    else
        printf("%d row%s of tune/processors.tbl for it come%s before the general ones%s\n", rows, rows == 1 ? "" : "s",
               rows == 1 ? "s" : "", j->nodes.n > 1 ? ", in communicators on one node" : "");
}

static bool is_wanted(int kind, char **words, int n_words)
{
    bool is = n_words == 0;
    for (int w = 0; w < n_words; w++) is |= coll_kind_named(words[w], strlen(words[w])) == kind;
    return is;
}

static void print_all(struct job *j, int64_t bytes, char **words, int n_words)
{
    const char *why;
    if (bytes <= 0) {
        printf("%d ranks, %s%d a node, %d node%s\n", j->ranks, j->nodes.fewest < j->nodes.most ? "up to " : "", j->nodes.most,
               j->nodes.n, j->nodes.n == 1 ? "" : "s");
        print_processor(j);
        print_tuned(j);
        if (!n_words) print_messages(j);
    }
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        bool wanted = is_wanted(kind, words, n_words);
        const struct plan_algorithm *alg = wanted && bytes > 0 ? choose(j, kind, has_sizes(kind) ? bytes : 0, &why) : NULL;
        if (alg)
            printf("%s %lld %s\n", coll_kind_names[kind], (long long)bytes, is_ruled(alg) ? ruled_as(j, kind, bytes) : alg->name);
        else if (wanted)
            print_kind(j, kind);
    }
}

/* ---- --json ---- */
static void choice_json(struct gw_json *to, int64_t from, const char *algorithm, const char *by)
{
    gw_json_row(to, NULL);
    gw_json_int(to, "from_bytes", from);
    gw_json_text(to, "algorithm", algorithm);
    gw_json_text(to, "by", by);
    gw_json_close(to);
}

/* Gatherv and scatterv between nodes, where the documents' rule holds: bytes are those of a rank on average. */
static void ruled_json(struct gw_json *to, const struct job *j, int kind, int64_t bytes)
{
    bool gather = kind == COLL_GATHERV;
    int64_t most = coll_vector_short(gather, j->ranks);
    const char *by = gather ? "MPICH_GATHERV_SHORT_MSG" : "MPICH_SCATTERV_SHORT_MSG";
    if (bytes > 0) {
        choice_json(to, bytes, ruled_as(j, kind, bytes), by);
        return;
    }
    choice_json(to, 0, "tree", by);
    choice_json(to, most + 1, ruled_as(j, kind, INT64_MAX), by);
}

static void choices_json(struct gw_json *to, const struct job *j, int kind, int64_t bytes)
{
    const char *by;
    int64_t at = !has_sizes(kind) ? 0 : bytes > 0 ? bytes : 1;
    const struct plan_algorithm *alg = choose(j, kind, at, &by);
    gw_json_array(to, "choices");
    if (is_ruled(alg)) {
        ruled_json(to, j, kind, bytes);
    } else {
        choice_json(to, at > 1 || bytes > 0 ? at : 0, alg->name, by);
        while (bytes <= 0 && next_choice(j, kind, &at)) {
            alg = choose(j, kind, at, &by);
            choice_json(to, at, alg->name, by);
        }
    }
    gw_json_close(to);
}

static void kind_json(struct gw_json *to, const struct job *j, int kind, int64_t bytes)
{
    const char *by;
    const struct plan_algorithm *alg = choose(j, kind, has_sizes(kind) ? 1 : 0, &by);
    bool is_vector = kind == COLL_GATHERV || kind == COLL_SCATTERV;
    int ruled = is_vector && !is_ruled(alg) ? ruled_from(j, kind) : 0;
    gw_json_object(to, NULL);
    gw_json_text(to, "collective", coll_kind_names[kind]);
    choices_json(to, j, kind, bytes);
    gw_json_text(to, "atomics_by", by_cards_too(j, kind, alg));
    if (ruled)
        gw_json_int(to, "ruled_from_ranks", ruled);
    else
        gw_json_text(to, "ruled_from_ranks", NULL);
    gw_json_close(to);
}

static void messages_json(struct gw_json *to, const struct job *j)
{
    static const char *const words[] = {[GW_SET_NET_RENDEZVOUS_AUTO] = "auto",
                                        [GW_SET_NET_RENDEZVOUS_DISABLED] = "disabled",
                                        [GW_SET_NET_RENDEZVOUS_ENABLED] = "enabled"};
    gw_json_object(to, "messages");
    gw_json_object(to, "same_node");
    gw_json_int(to, "eager_max_bytes", gw_set.eager_max);
    gw_json_int(to, "direct_copy_min_bytes", gw_set.cma_min);
    gw_json_int(to, "direct_copy_always_bytes", gw_set.cma_sure);
    gw_json_close(to);
    if (j->nodes.n > 1) {
        gw_json_object(to, "other_nodes");
        gw_json_int(to, "inline_max_bytes", gw_set.net_short_max >= 0 ? gw_set.net_short_max : proto_far_short_default(j->ranks));
        gw_json_int(to, "eager_max_bytes_card", proto_far_eager(false));
        gw_json_int(to, "eager_max_bytes_tcp", proto_far_eager(true));
        gw_json_text(to, "rendezvous", words[gw_set.net_rendezvous]);
        gw_json_int(to, "get_max_bytes", gw_set.net_get_max);
        gw_json_int(to, "chunk_bytes", gw_set.net_chunk);
        gw_json_close(to);
    } else {
        gw_json_text(to, "other_nodes", NULL);
    }
    gw_json_close(to);
}

static void processor_json(struct gw_json *to)
{
    int rows;
    char text[GW_PROCESSOR_TEXT];
    const struct gw_processor *p = coll_select_processor(&rows);
    gw_json_object(to, "processor");
    gw_json_text(to, "name", p->vendor[0] ? gw_processor_text(p, true, text, sizeof text) : NULL);
    gw_json_int(to, "rows", rows);
    gw_json_close(to);
}

static bool print_json(const struct job *j, int64_t bytes, char **words, int n_words)
{
    struct gw_json to;
    char text[2048];
    gw_json_begin(&to, stdout);
    gw_json_text(&to, "schema", "godwit-choices-1");
    gw_json_text(&to, "godwit", GODWIT_VERSION);
    gw_json_int(&to, "ranks", j->ranks);
    gw_json_int(&to, "nodes", j->nodes.n);
    gw_json_int(&to, "fewest_ranks_per_node", j->nodes.fewest);
    gw_json_int(&to, "most_ranks_per_node", j->nodes.most);
    if (bytes > 0)
        gw_json_int(&to, "bytes", bytes);
    else
        gw_json_text(&to, "bytes", NULL);
    processor_json(&to);
    gw_json_text(&to, "tuning", gw_tuned_text(text, sizeof text) ? text : NULL);
    messages_json(&to, j);
    gw_json_array(&to, "collectives");
    for (int kind = 0; kind < COLL_KINDS; kind++)
        if (is_wanted(kind, words, n_words)) kind_json(&to, j, kind, bytes);
    gw_json_close(&to);
    return gw_json_end(&to);
}

/* Before anything is printed. */
static int words_check(char **words, int n_words)
{
    for (int w = 0; w < n_words; w++) {
        if (coll_kind_named(words[w], strlen(words[w])) < COLL_KINDS) continue;
        const char *near = gw_nearest(words[w], coll_kind_names, COLL_KINDS);
        gw_print(stderr, "godwit-choices: %s: is no collective with algorithms of its own%s%s%s\n", words[w],
                 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        print_kinds(stderr);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 << 20 };
    static struct job j;
    int64_t v, bytes = 0;
    int letter;
    bool is_json = false, is_written = true;
    opterr = 0;
    if (argc == 1) return print_usage(stderr), 2;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_usage(stdout);
    if (strcmp(argv[1], "--version") == 0) return puts("godwit-choices (Godwit) " GODWIT_VERSION) < 0;
    for (int i = 1; i < argc; i++) { /* as mpiexec takes them */
        if (strcmp(argv[i], "-np") == 0 || strcmp(argv[i], "--np") == 0) argv[i] = "-n";
        if (strcmp(argv[i], "--json") == 0) argv[i] = "-j";
        if (strcmp(argv[i], "-vnodes") == 0 || strcmp(argv[i], "--vnodes") == 0) argv[i] = "-V";
    }
    while ((letter = getopt(argc, argv, "n:N:b:V:j")) != -1) {
        if (letter == '?') return refuse_option(argv[optind]);
        if (letter == 'j') {
            is_json = true;
            continue;
        }
        if (letter == 'V') {
            if (boot_vnodes_check(optarg) != GW_OK) return refuse(gw_fail_text(), "--vnodes");
            j.vnodes = optarg;
            continue;
        }
        if (!number(optarg, letter == 'b' ? (int64_t)1 << 40 : MOST, &v)) return refuse("is no number of ranks or bytes", optarg);
        if (letter == 'n') j.ranks = (int)v;
        if (letter == 'N') j.per_node = (int)v;
        if (letter == 'b') bytes = v;
    }
    if (words_check(argv + optind, argc - optind)) return 2;
    if (!j.ranks) return refuse("say how many ranks there are", "-n N is not there");
    if (j.per_node && j.vnodes) return refuse("-N and --vnodes both say how ranks lie on nodes", j.vnodes);
    const char *by_env = getenv("GODWIT_VNODES");
    if (!j.vnodes) j.vnodes = by_env && !j.per_node && boot_vnodes_check(by_env) == GW_OK ? by_env : "";
    if (!j.per_node) j.per_node = j.ranks;
    if (node_end(&j, 0) >= j.ranks) gw_tuned_take();
    gw_settings_load();
    gw_log_identity(0, 1);
    if (type_init() != GW_OK || op_init() != GW_OK || op_create((void (*)(void))make_nodes, 1, false, &j.op) != GW_OK ||
        make_nodes(&j) < 0)
        return fprintf(stderr, "godwit-choices: no memory\n"), 1;
    if (coll_select_init() != GW_OK || coll_select_tuned() != GW_OK)
        return gw_print(stderr, "godwit-choices: %s\n", gw_fail_text()), 2;
    if (is_json)
        is_written = print_json(&j, bytes, argv + optind, argc - optind);
    else
        print_all(&j, bytes, argv + optind, argc - optind);
    free(j.nodes.first);
    op_free(&j.op);
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    gw_settings_free();
    return fflush(stdout) == 0 && is_written ? 0 : 1;
}
