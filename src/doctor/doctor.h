/* doctor.h -- `mpiexec doctor`: reports what on this machine helps or hinders MPI jobs, and what to do about it.
 *
 * A check is a function from a `struct machine` to an answer.  It reads files below m->root; results of system calls are in the struct
 * (doctor_machine_look()), so unit tests can describe machines.  Checks change nothing, and take a few seconds at most.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_DOCTOR_DOCTOR_H
#define GW_DOCTOR_DOCTOR_H

#include "base/base.h"
#include "job/job.h"
#include "job/words.h"

/* PROBLEM: jobs fail, or run as something else.  NOTE: jobs run, but slower than they could, or with less than the machine has. */
enum finding { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };
struct answer {
    enum finding is;
    char value[640]; /* one line */
    char todo[320];  /* what the user can do; "" if there is nothing to do */
};
void doctor_answer_add(struct answer *a, const char *fmt, ...) GW_PRINTF(2, 3); /* appends to the value */
/* Raises the finding to `is` and sets the advice; does nothing if it is as high already. */
void doctor_answer_raise(struct answer *a, enum finding is, const char *fmt, ...) GW_PRINTF(3, 4);

enum { NOT_TRIED = -1 };
struct machine {
    const char *root;           /* prefix of every path that is read: "", or the folder of a test */
    const char *program;        /* the program to examine; NULL: none was given */
    const char *wdir;           /* folder in which the program will start; NULL: the present one */
    const struct words *set[2]; /* variables that its environment has beside ours, as all programs and it alone; NULL: none */
    int ranks;                  /* number of ranks to run; by default one for each core */
    /* environment */
    const char *path, *library_path, *preload, *tmpdir, *home;
    char **env;
    const char *own_bin; /* the folder of this mpiexec */
    const char *host;
    unsigned uid;
    bool is_known; /* the user has an entry in passwd; not looked up if HOME is set */
    /* answers of the kernel: bytes, counts, or errno (0: it works) */
    int memfd_error, cma_error;
    uint64_t shm_total, shm_free;                                 /* of /dev/shm; total 0: there is none */
    uint64_t memlock, files, processes, file_size, address_space; /* limits; UINT64_MAX: none */
    int64_t memory;                                               /* bytes of memory that are left; -1: unknown */
    const char *memory_limit;                                     /* what limits it */
    bool sees_all;                 /* /proc has all processes of this machine; else there may be others, which share /dev/shm */
    int cpus_allowed;              /* hardware threads that this process may use */
    int resolve_ms, resolve_error; /* look-up of this host's name; -1: not within the time */
    const char *addresses;         /* "eth0 10.0.0.1, lo 127.0.0.1" */
    const char *network;           /* the network that jobs on several nodes would use; NULL: not asked for */
    bool has_network;              /* false: `network` says what is missing */
};
enum {                      /* after which failures a check is printed */
       AFTER_EXEC = 1,      /* a program could not be executed, or ended before MPI_Init */
       AFTER_MEMORY = 2,    /* no shared memory */
       AFTER_PROCESSES = 4, /* no processes or descriptors */
       WHEN_ASKED = 8,
};
/* fills in *m from this machine; the caller has set program, wdir and ranks, and zeroed the rest */
void doctor_machine_look(struct machine *m, unsigned when);
void doctor_machine_free(struct machine *m);

typedef void check_fn(const struct machine *m, struct answer *a);
check_fn doctor_check_godwit, doctor_check_library, doctor_check_settings, doctor_check_tuning, doctor_check_program,
    doctor_check_path, doctor_check_loader_path, doctor_check_pmix, doctor_check_batch;
check_fn doctor_check_memfd, doctor_check_dev_shm, doctor_check_memory, doctor_check_cma, doctor_check_memlock,
    doctor_check_huge_pages, doctor_check_stale, doctor_check_tmp, doctor_check_home;
check_fn doctor_check_cores, doctor_check_quota, doctor_check_numa, doctor_check_clock, doctor_check_governor, doctor_check_load,
    doctor_check_container, doctor_check_virtual;
check_fn doctor_check_files, doctor_check_processes, doctor_check_limits, doctor_check_security;
check_fn doctor_check_other_hosts;
check_fn doctor_check_interfaces, doctor_check_network, doctor_check_host, doctor_check_rdma, doctor_check_slingshot,
    doctor_check_nvidia, doctor_check_amd;

/* doctor_root.c: files below m->root.  Paths are printf text. */
bool doctor_root_read(const struct machine *m, char *text_out, size_t cap, const char *fmt, ...)
    GW_PRINTF(4, 5); /* the beginning of the file, without the last newline; false: it cannot be read */
bool doctor_root_there(const struct machine *m, const char *fmt, ...) GW_PRINTF(2, 3);
int64_t doctor_root_number(const struct machine *m, const char *fmt, ...) GW_PRINTF(2, 3); /* -1: no file, or no number in it */
void doctor_root_list(const struct machine *m, const char *folder,
                      struct words *names_out); /* sorted; without those that begin with a dot */
int doctor_list_count(const char *list);        /* "0-3,8" -> 5 */
/* Calls `fn` for the control group of this process and each above it that is mounted, because the limits of all apply.  controller: its
 * name in v1, or "" for v2. */
void doctor_cgroup_each(const struct machine *m, const char *controller,
                        void (*fn)(const struct machine *m, const char *folder, void *arg), void *arg);
const char *doctor_bytes_text(uint64_t bytes, char out[32]); /* "1.5 GiB" */
/* Judges the libraries of a program by the output of the dynamic loader ("NAME => PATH (0x...)", "NAME => not found"). */
void doctor_program_judge(const struct machine *m, const char *loader_text, struct answer *a);

/* `mpiexec doctor ...`; argv[0] is "doctor".  Returns the exit status. */
int doctor_main(int argc, char **argv);
/* The AFTER_... of a job that ended with `status`; 0: none, because its ranks had started to work. */
unsigned doctor_kind(const struct job *j, int status);
/* After a failure: prints the checks that are problems on stderr. */
void doctor_after(unsigned when, const struct job *j);
/* The first name of a list as GODWIT_NET_IFACE has it that no interface of this host has; then `there` lists those that there are.  false: all are
 * there, or interfaces cannot be read. */
bool doctor_no_interface(const char *list, char *name_out, char *there, size_t cap);
enum { DOCTOR_INTERFACE = 64 }; /* room for name_out */
/* The command of mpiexec whose name is similar to this one, of a program that does not exist; NULL: none. */
const char *doctor_meant(const char *word);
#endif
