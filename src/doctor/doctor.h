/* doctor.h -- `mpiexec doctor`: what of this machine helps or hinders MPI jobs, and what to do about it.
 *
 * A check is a function from a `struct machine` to an answer.  It reads files below m->root; results of system calls are in the struct
 * (doctor_machine_look).  So unit tests can describe machines.  Checks change nothing, and take a few seconds at most.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_DOCTOR_DOCTOR_H
#define GW_DOCTOR_DOCTOR_H

#include "base/base.h"
#include "job/job.h"
#include "job/words.h"

/* PROBLEM: jobs fail, or start as something else.  NOTE: they run, but slower, or with less than the machine has. */
enum finding { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };
struct answer {
    enum finding is;
    char value[640]; /* one line */
    char todo[320];  /* what to do; "" where is == FINDING_OK */
};
void doctor_answer_add(struct answer *a, const char *fmt, ...) GW_PRINTF(2, 3); /* to the value */
/* Raises the finding (it never falls) and says what to do; the first that raises it to a level says so. */
void doctor_answer_raise(struct answer *a, enum finding is, const char *fmt, ...) GW_PRINTF(3, 4);

enum { NOT_TRIED = -1 };
struct machine {
    const char *root;           /* stands before every path that is read: "", or an invented tree */
    const char *program;        /* NULL: none was given */
    const char *wdir;           /* where the program will start, NULL: here */
    const struct words *set[2]; /* what its environment has besides ours; NULL: nothing */
    int ranks;                  /* that are to run; as many as cores where nobody said */
    /* environment */
    const char *path, *library_path, *preload, *tmpdir, *home;
    char **env;
    const char *own_bin; /* the folder of this mpiexec */
    const char *host;
    unsigned uid;
    bool is_known; /* the user has an entry in passwd; not asked where HOME is set */
    /* answers of the kernel: bytes, counts, or errno (0: it works) */
    int memfd_error, cma_error;
    uint64_t shm_total, shm_free;                                 /* of /dev/shm; total 0: there is none */
    uint64_t memlock, files, processes, file_size, address_space; /* limits; UINT64_MAX: none */
    int64_t memory;                                               /* that can still be taken; -1: unknown */
    const char *memory_limit;                                     /* what limits it */
    int cpus_allowed;                                             /* hardware threads that we may use */
    int resolve_ms, resolve_error;                                /* of our own name; -1: not within the time */
    const char *addresses;                                        /* "eth0 10.0.0.1, lo 127.0.0.1" */
    const char *network;                                          /* what jobs on several nodes would use; NULL: not asked */
    bool has_network;                                             /* else `network` says what is missing */
};
enum {                      /* when a check is worth its line, beside when it is asked for */
       AFTER_EXEC = 1,      /* a program could not be executed, or ended before MPI_Init */
       AFTER_MEMORY = 2,    /* no shared memory */
       AFTER_PROCESSES = 4, /* no processes or descriptors */
       WHEN_ASKED = 8,
};
void doctor_machine_look(struct machine *m, unsigned when); /* at the real one; `m` is zeroed but for program, wdir and ranks */
void doctor_machine_free(struct machine *m);

typedef void check_fn(const struct machine *m, struct answer *a);
check_fn doctor_check_godwit, doctor_check_library, doctor_check_settings, doctor_check_program, doctor_check_path,
    doctor_check_loader_path, doctor_check_pmix, doctor_check_batch;
check_fn doctor_check_memfd, doctor_check_dev_shm, doctor_check_memory, doctor_check_cma, doctor_check_memlock,
    doctor_check_huge_pages, doctor_check_stale, doctor_check_tmp, doctor_check_home;
check_fn doctor_check_cores, doctor_check_quota, doctor_check_numa, doctor_check_clock, doctor_check_governor, doctor_check_load,
    doctor_check_container, doctor_check_virtual;
check_fn doctor_check_files, doctor_check_processes, doctor_check_limits, doctor_check_security;
check_fn doctor_check_interfaces, doctor_check_network, doctor_check_host, doctor_check_rdma, doctor_check_slingshot,
    doctor_check_nvidia, doctor_check_amd;

/* doctor_root.c: files below m->root.  Paths are printf text. */
bool doctor_root_read(const struct machine *m, char *text_out, size_t cap, const char *fmt, ...)
    GW_PRINTF(4, 5); /* no last newline */
bool doctor_root_there(const struct machine *m, const char *fmt, ...) GW_PRINTF(2, 3);
int64_t doctor_root_number(const struct machine *m, const char *fmt, ...) GW_PRINTF(2, 3); /* -1: no file, or no number in it */
void doctor_root_list(const struct machine *m, const char *folder,
                      struct words *names_out); /* sorted; without those that begin with a dot */
int doctor_list_count(const char *list);        /* "0-3,8" -> 5 */
/* Calls `fn` for our control group and each above it, as far as they are mounted: limits anywhere on the way hold.  `controller`:
 * that of v1, or "" for v2. */
void doctor_cgroup_each(const struct machine *m, const char *controller,
                        void (*fn)(const struct machine *m, const char *folder, void *arg), void *arg);
const char *doctor_bytes_text(uint64_t bytes, char out[32]); /* "1.5 GiB" */
/* What the dynamic loader would say of the libraries of a program ("NAME => PATH (0x...)", "NAME => not found"). */
void doctor_program_judge(const struct machine *m, const char *loader_text, struct answer *a);

/* `mpiexec doctor ...`, argv[0] is "doctor"; the exit status. */
int doctor_main(int argc, char **argv);
/* Which AFTER_... a job that ended with `status` is worth; 0: none, it had begun. */
unsigned doctor_kind(const struct job *j, int status);
/* After a failure: prints the checks that are problems on stderr. */
void doctor_after(unsigned when, const struct job *j);
/* A program that is not there, but whose name is nearly a command of mpiexec: that command, else NULL. */
const char *doctor_meant(const char *word);
#endif
