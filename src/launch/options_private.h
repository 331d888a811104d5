/* options_private.h -- private to launch: the table of options, and how their values are read.
 *
 *   options.c (the command line, one option after the other) -> options_table.c (what there is) -> options_value.c, options_place.c,
 *   options_words.c, options_mca.c, options_reorder.c (what stands behind an option), options_file.c (command lines in files)
 *
 * Functions that read a value return -1 to go on, else the exit status, after explaining.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_LAUNCH_OPTIONS_PRIVATE_H
#define GW_LAUNCH_OPTIONS_PRIVATE_H

#include "launch/launch.h"
#include "base/base.h"

/* ---- options_table.c ---- */
enum option {
#define X(id, names, argument, section, where, help) O_##id,
#include "launch/options.def"
    O_TAKEN,
    O_NOTED,
    O_REFUSED
};
enum option_section { SECTION_PROGRAM, SECTION_JOB, SECTION_HOSTS, SECTION_PLACE, SECTION_OUTPUT, SECTION_TAKEN, SECTION_REFUSED };
enum option_where { ANYWHERE, HERE };
enum { OPTIONAL = -1 };
struct option_row {
    enum option is;
    const char *names, *argument;
    enum option_section section;
    enum option_where where;
    const char *help; /* of TAKEN, NOTED and REFUSED: why */
};
extern const struct option_row launch_option_rows[];
extern const int launch_option_row_count;

int launch_option_words(const struct option_row *row); /* words behind it, or OPTIONAL */
/* The row of a name, with one dash or two, `n` characters of it, as this program is called; NULL: none. */
const struct option_row *launch_option_find(const char *name, size_t n);
bool launch_is_aprun(void); /* is this program called so? */
/* Called as aprun, for a name of Slurm's that is none of aprun's: what to use in its place; else NULL. */
const char *launch_option_not_aprun(const char *name);
const char *launch_option_of_aprun(const char *name, size_t n); /* what aprun has by that name; NULL: nothing else */
/* The row of an option; *value_out: where its value begins in the same word (--name=value, -n2), or NULL.  NULL: unknown. */
const struct option_row *launch_option_row_of(char *word, char **value_out);
/* The name that is spelled most like an unknown one; NULL: none is near. */
const char *launch_option_nearest(const char *name, char *out, size_t cap);
void launch_option_help(FILE *to);

/* ---- options_value.c ---- */
int launch_usage_error(const char *fmt, ...) GW_PRINTF(1, 2);                                   /* EXIT_USAGE */
long launch_parse_number(const char *option, const char *text, long low, long high);            /* -1 after explaining */
int launch_parse_choice(const char *option, const char *text, const char *const *words, int n); /* its place; -1 after explaining */
void launch_add_pair(struct words *w, const char *name, const char *value);
int launch_set_stdin(struct launch_options *o, const char *name, const char *text);
int launch_set_timeout(struct launch_options *o, const char *name, const char *text);
int launch_set_cpu_time(struct launch_options *o, const char *name, const char *text);
int launch_set_profile(struct launch_options *o, const char *file);
int launch_set_record(struct launch_options *o, bool repeats, const char *folder); /* repeats: --replay */
int launch_writes_check(
    const struct launch_options
        *o); /* when all are known: can the files be made that --profile, --record name, and is --replay's there? */
int launch_set_x(struct launch_app *a, const char *name, const char *text);
int launch_set_export(struct launch_app *a, struct launch_options *o, const char *text);
int launch_set_arch(const char *text);
int launch_set_usize(struct launch_options *o, const char *text);
int launch_set_soft(struct launch_app *a); /* when -n is known */
int launch_set_output(struct launch_options *o, const char *name, int stream,
                      const char *text); /* Slurm's and PRRTE's --output; 1: --error */
int launch_set_output_filename(struct launch_options *o, const char *name, const char *text);
int launch_set_pattern(struct launch_options *o, const char *name, const char **slot, const char *text); /* Hydra's */

/* ---- options_place.c ---- */
int launch_set_bind(struct launch_options *o, const char *name, const char *text);
int launch_set_cpu_bind(struct launch_options *o, const char *text);
int launch_set_map(struct launch_options *o, const char *name, const char *text);
int launch_set_ppr(struct launch_options *o, const char *name, const char *text);
int launch_set_rank_by(struct launch_options *o, const char *text);
int launch_set_rankfile(struct launch_options *o, const char *name, const char *file);
int launch_set_numa(struct launch_options *o, const char *name, const char *text); /* a list of NUMA nodes */
int launch_set_cpu_set(struct launch_options *o, const char *name, const char *text);
int launch_set_membind(struct launch_options *o, const char *text);
/* Words of aprun, PALS and Slurm for the same. */
int launch_set_mem_bind(struct launch_options *o, const char *text);
int launch_set_cc(struct launch_options *o, const char *name, const char *text);
int launch_set_distribution(struct launch_options *o, const char *name, const char *text);

/* When all options are known: cores for each rank, in whatever order they were said; where nobody is bound that is noted. */
void launch_depth_settle(struct launch_options *o);
void launch_no_oversubscribe(struct launch_options *o, const char *said, bool is_wanted);
int launch_set_user(struct launch_options *o, const char *said, const char *list); /* CPUs rank by rank; `said`: in what words */

/* ---- options_words.c: what one launcher has, and its words for it ---- */
int launch_set_hostfile(struct launch_options *o, const char *name, const char *file);
int launch_set_hosts(struct launch_options *o, const char *name, const char *text);
int launch_set_nodes(struct launch_options *o, const char *name, const char *text); /* Slurm's number of them */
/* When hosts are known.  have: nodes that this machine acts as; 0: an engine starts the ranks. */
int launch_nodes_settle(struct launch_options *o, int have);
int launch_set_slurm_cpus(struct launch_options *o, const char *text); /* map_cpu:LIST, mask_cpu:LIST */
int launch_set_display(struct launch_options *o, const char *name, const char *text);
int launch_set_runtime(struct launch_options *o, const char *name, const char *text);
/* TAKEN, NOTED.  text: its value, NULL where it has none. */
int launch_without_effect(struct launch_options *o, const struct option_row *row, const char *name, const char *text);
void launch_without_effect_say(const struct launch_options *o);

/* ---- options_mca.c ---- */
int launch_set_mca(struct launch_options *o, const char *option, char **v); /* a name and a value */
void launch_mca_note(const struct launch_options *o);

/* ---- options_file.c ---- */
/* The words of a file as a shell has them: quotes, backslashes; ":" between lines that hold any.  NULL, or why not, until the
 * next call. */
const char *launch_options_file_read(const char *path, struct words *out);
/* ---- options_reorder.c ---- */
/* Once programs and ranks are known: what --reorder says becomes settings of the ranks. */
int launch_reorder_choose(struct launch_options *o);

#endif
