/* boot_private.h -- the ways in, and what the files of boot share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_BOOT_PRIVATE_H
#define GW_BOOT_BOOT_PRIVATE_H

#include "boot/boot.h"
#include "boot/segment.h"

struct sockaddr_storage;

/* A way to find the others.  `join` fills gw_boot (rank, size, local ranks, appnum, universe, jobid) and answers GW_OK, or
 * GW_EUNSUPPORTED with the reason in gw_fail_text() and nothing left open; GW_EOTHER, the same, and no other way may be tried.  The rest is called only after that. */
struct boot_backend {
    bool (*offered)(void); /* by the environment */
    int (*join)(void);
    int (*put)(const char *key, const char *value);
    int (*commit)(void); /* NULL: only a fence makes others see it */
    int (*fence)(void);
    int (*get)(int rank, const char *key, char *value_out, size_t cap);
    void (*leave)(void);
    void (*abort)(int code, const char *text);
    /* For each rank of the job a number that is the same for ranks of one host: by one rank a node, if there are several. */
    int (*hosts)(int32_t *host_out);
    /* Not NULL: begins to bring everybody's keys here, without waiting; it comes about once all ranks have called it. */
    void (*collect)(void);
    bool (*is_lost)(void);     /* NULL: that cannot be known */
    bool (*fences_once)(void); /* boot_fences_once(); NULL: no */
    /* The hosts of the job as boot_hosts_expand() reads them, known without asking; the caller's.  NULL: the launcher does not say. */
    char *(*host_list)(void);
};
bool boot_slurm_is_part(void);                      /* this is a step of Slurm's that may lack nodes of its allocation */
const struct boot_backend *boot_backend_used(void); /* NULL: none, or it has been left */
bool boot_socket_is_lost(int fd);                   /* whoever is at its other end has closed it */
void boot_launcher_look(void); /* ends this rank where the launcher is gone; boot_look() does so once the segment is mapped */
/* ---- waits for the launcher (boot_wait.c) ----
 * What a lost host owes never comes, and most launchers wait for it for ever.  So each wait for an answer is cut into slices of
 * BOOT_WAIT_MS, and after each of them boot_wait_step() ends this job if a host of it is gone.  since_ns: when the wait began. */
enum { BOOT_WAIT_MS = 100 };
void boot_wait_step(uint64_t since_ns);
double boot_host_patience(void); /* seconds that a host is given to answer, if it has answered before */
/* Hosts to which the launcher's processes above this one hold TCP connections: the addresses, at most `most`; how many (boot_peers.c). */
int boot_launcher_peers(struct sockaddr_storage *at_out, int most);
/* The nearest process above this one that is a launcher's, by its name, and the process below that which it has started, this one's ancestor or
 * this one itself; 0: there is none, or /proc does not say. */
enum { BOOT_PROCESS_NAME = 64 };
pid_t boot_launcher_above(pid_t *child_out, char name_out[BOOT_PROCESS_NAME]);
/* A launcher above this process whose remote shell (ssh) for another host has failed, which it has not noticed. */
struct boot_lost_way {
    char launcher[BOOT_PROCESS_NAME];
    pid_t pid;
    int status; /* the shell's exit status */
};
bool boot_launcher_lost_way(struct boot_lost_way *out);
pid_t boot_parent_of(pid_t pid); /* 0: it has none in this pid namespace; -1: unknown */
/* Held while the launcher is asked, and when a fence begins: a line of PMI-1 or PMI-2 carries one question at a time. */
extern struct gw_lock boot_asking;
/* ---- a process whose environment was cleared (boot_cleared.c) ---- */
/* What GODWIT_BOOT would say, if mpiexec has started this very process as a rank, and no other launcher's variables are there; else NULL. */
const char *boot_cleared_text(void);
/* Of a process that is about to run alone: one line on standard error where it should rather have been one of several. */
void boot_cleared_warn(void);
bool boot_backend_is_direct(void);                   /* whatever the settings say */
void boot_backend_use(const struct boot_backend *w); /* for tests: as if it had been joined */
extern const struct boot_backend boot_backend_pmix, boot_backend_pmi1, boot_backend_pmi2, boot_backend_godwit;

/* gw_boot.local_to_world and nlocal from a list of world ranks; takes over the malloc'ed array. */
void boot_set_locals(int *ranks, int n);
/* ---- the node map (boot_map.c) ---- */
/* Hosts by their names: each gets a number, from 0. */
struct boot_names {
    struct boot_name_seen *table; /* free() it */
    uint64_t cap;
    int count;
};
struct boot_names boot_names_begin(int most);
int boot_names_number(struct boot_names *n, const char *name);
/* By hydra's PMI_process_mapping, the node of each rank; false if the text is none. */
bool boot_mapping_read(const char *mapping, int size, int32_t *node_out);
int boot_hosts(int32_t *host_out); /* asks the way in: see struct boot_backend */
/* Rank order, before the segment is mapped: the process of each rank, malloc'ed; NULL: each has its number. */
extern int32_t *boot_processes;
const int32_t *boot_map_processes(void); /* the same in the segment */
void boot_order_show(void);
/* The number behind "key=" in a comma-separated list such as GODWIT_BOOT; fallback if it has no such key. */
int boot_list_int(const char *list, const char *key, int fallback);
extern int boot_crash_watcher; /* the pid of who wants to look at this process if it crashes; 0: nobody */
extern int boot_host_nlocal;   /* ranks of this host, whatever faked nodes they are in */
const char *boot_vnodes(void); /* GODWIT_VNODES, or what mpiexec says */
/* ---- mpiexec's segment, as the board of faked nodes (boot_board.c) ---- */
int boot_board_open(int fd, const struct boot_head *h);
void boot_board_close(void);
struct boot_head *boot_board_head(void); /* NULL: there is none */
int boot_board_put(const char *key, const char *value);
int boot_board_commit(void);
int boot_board_fence(void);
int boot_board_get(int rank, const char *key, char *value_out, size_t cap);
/* The ranks of my node by hydra's PMI_process_mapping; NULL if the text is none.  malloc'ed, ascending. */
int *boot_mapping_locals(const char *mapping, int size, int rank, int *n_out);
/* ---- PMI-1 and PMI-2 (boot_pmi.c); mapping: of the server, "": it has none ---- */
bool boot_pmi_offered(void);                          /* a socket PMI_FD is there, with PMI_RANK and PMI_SIZE */
int boot_pmi_write(int fd, const char *at, size_t n); /* all of it: GW_OK or GW_EUNSUPPORTED */
void boot_pmi_await(int fd);                          /* until there is something to read, by slices (boot_wait_step()) */
int boot_pmi_escape(const char *value, char *out, size_t cap);
void boot_pmi_unescape(char *text);
int boot_pmi_locals(const char *mapping, const struct boot_backend *way);
int boot_pmi_hosts(const char *mapping, const struct boot_backend *way, int32_t *host_out);
bool boot_pmi_is_closed(void); /* PMI_FD is set, and its descriptor was closed on the way here */
/* A launcher started several processes, by its variables: which variable says so, how many; NULL if none. */
const char *boot_env_several(void);
bool boot_env_speaks(void); /* this process prints what all of a node's would print */
int boot_env_int(const char *name, int fallback);
void boot_segment_close(void);
int boot_segment_fetch(const struct boot_port *port); /* the descriptor that a port hands out (boot_fd_send()); -1: none */
/* ---- the way to mpiexec's segment (boot_enter.c) ---- */
/* A descriptor of the segment of GODWIT_BOOT=text, with a checked copy of its head: the inherited one, or one from mpiexec (*is_new_out: the
 * caller closes it).  -1, with the reason in gw_fail_text(). */
int boot_enter(const char *text, struct boot_head *head_out, bool *is_new_out);
/* Of node's part, what this rank asks the pool for; 0: nothing. */
uint64_t boot_pool_bytes(uint64_t node_bytes);
/* On local rank 0: ends the process if these bytes of the segment were not available when it was mapped. */
void boot_memory_check(uint64_t bytes);
uint64_t boot_mapped_bytes(void); /* of the segment */
/* Maps the pool's part of another world's segment, mapped at `base` with `room` bytes, where it has one; h: a checked copy of its
 * head.  NULL, or why that is impossible. */
const char *boot_pool_follow(const struct boot_head *h, char *base, uint64_t room);
void boot_pool_close(void);
int boot_named_listen(const char *name,
                      int backlog);       /* abstract unix sockets, as in boot_port.c; backlog 0: the name alone, to be seen */
int boot_named_connect(const char *name); /* EACCES, EKEYREJECTED: as boot_port_connect() */
int boot_port_listen(uint64_t port, int backlog);
int boot_far_listen(struct sockaddr_storage *at, int backlog); /* TCP; the port goes to `at` */
const struct boot_head *boot_head_mapped(void);                /* NULL: not yet */

#endif
