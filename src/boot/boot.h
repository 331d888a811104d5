/* boot.h -- who am I and who are the others: the inherited memfd of our own mpiexec, PMIx, PMI-1, PMI-2, or nobody.
 *
 * boot_init() tries, in this order: our mpiexec (GODWIT_BOOT and its open descriptor), the PMI-1 wire protocol (PMI_RANK,
 * PMI_SIZE and the open socket PMI_FD), PMI-2 on the same socket, PMIx (PMIX_NAMESPACE; libpmix by dlopen), then a singleton.  Open descriptors come
 * first because variables are inherited through a launcher inside a launcher, descriptors are not.  If the environment
 * says that a launcher started several of us but none of these works, it ends the process with one sentence.
 * GODWIT_SINGLETON=1 makes the process a singleton whatever there is.  No DNS, no network interface, no libfabric.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_BOOT_H
#define GW_BOOT_BOOT_H

#include "obj/obj.h"

struct sockaddr_storage;

/* Our mpiexec sets GODWIT_BOOT="fd=N,local=K" and, where they are not 0, ",app=A,universe=U": the descriptor N, inherited,
 * is the segment; this process is local rank K of application A.  One process joins per local rank, once.
 *
 * The head of the segment that mpiexec makes before it forks (a memfd inherited as an open descriptor) and that
 * otherwise rank 0 of the node makes.  The launcher reads `rank[]` after a death to say what the rank was doing.
 * Ranks per node are counted in `nlocal`; slot i belongs to local rank i. */
#define BOOT_MAGIC         0x31544957444f47ull /* "GODWIT1" */
#define GODWIT_SHM_VERSION 15u                 /* raise with every change of what lies in the segment */
enum boot_phase { BOOT_NEW, BOOT_INIT, BOOT_RUNNING, BOOT_FINALIZED, BOOT_ABORTED };

/* ---- where is a rank? ---------------------------------------------------------------------------------------------
 * Each rank says in its slot which collectives it entered, and, once a wait has become long, what it waits for.  Our mpiexec reads
 * this for its verdict on a job that hangs (verdict/verdict.h).  Nothing is written on the fast paths but one line a collective. */
enum { BOOT_PENDING = 6, BOOT_COLLS = 16, BOOT_COMM_NAME = 28, BOOT_WORLD_UNKNOWN = -2 };
enum boot_state {               /* of struct boot_where */
                  BOOT_BUSY,    /* in no wait, or in a short one: computing, or communicating */
                  BOOT_MOVING,  /* in a wait that was long, but something has happened since it was described */
                  BOOT_BLOCKED, /* in a wait in which nothing has happened since `told_ns` */
                  BOOT_POLLING, /* a moment before `told_ns` it tested or probed in vain, many times */
};
enum boot_about { BOOT_SEND, BOOT_RECV, BOOT_PROBE, BOOT_MEMBER /* of a collective */, BOOT_OUTSIDE /* not up to another rank */ };
struct boot_pending { /* something waited for; or a message that came unexpected */
    int64_t bytes;
    int32_t world;             /* rank in the job; GW_ANY_SOURCE, BOOT_WORLD_UNKNOWN */
    int32_t peer, tag;         /* in the communicator; may be GW_ANY_SOURCE, GW_ANY_TAG */
    uint32_t ctx;              /* context id of the communicator: equal on all its members */
    uint8_t about;             /* enum boot_about */
    uint8_t stream;            /* 0: a message of the user's, else of a collective or of making a communicator */
    uint8_t is_moving;         /* both sides have met: its data are under way */
    uint8_t no_room;           /* a small send, which waits only because neither end had room for the message */
    char comm[BOOT_COMM_NAME]; /* its name, perhaps cut; "": it has none */
};
/* One collective that a rank has entered: [0] context id << 34 | number on the communicator << 12 | call, [1] what it says (below), [2] bytes,
 * and above them the mark of the communicator: a context id that is free on its members is given to others, while a rank may still be in it. */
struct boot_coll {
    _Atomic uint64_t word[3];
};
enum { BOOT_COLL_MARK = 48 }; /* shift */
static inline int64_t boot_coll_bytes(const uint64_t word[3]) { return (int64_t)(word[2] & (((uint64_t)1 << BOOT_COLL_MARK) - 1)); }
static inline uint64_t boot_coll_mark(const uint64_t word[3]) { return word[2] >> BOOT_COLL_MARK << BOOT_COLL_MARK; }
/* What a collective says, where all members must say the same: its root in the low half (negative: it has none), above it the operation (0:
 * none), the kind (0: not known, so nothing is compared) and what the bytes are. */
enum { BOOT_SAYS_OP = 32, BOOT_SAYS_KIND = 48, BOOT_SAYS_FLAGS = 56 }; /* shifts; 16, 8 and 8 bits */
enum {
    BOOT_SAYS_OWN = 1,      /* the bytes are of this member alone */
    BOOT_SAYS_REQUEST = 2,  /* non-blocking; */
    BOOT_SAYS_PREPARED = 4, /* persistent */
    BOOT_SAYS_TOLD = 8,     /* others called something else, and this rank has said so */
};
static inline uint64_t boot_coll_pack(uint32_t ctx, uint64_t number, uint32_t call)
{
    return (uint64_t)ctx << 34 | (number & 0x3fffff) << 12 | (call & 0xfff);
}
/* Two calls of one collective, as they were noted: in what they differ, if they must not.  None where one says nothing of it. */
enum boot_difference { BOOT_SAME, BOOT_OTHER_CALL, BOOT_OTHER_ROOT, BOOT_OTHER_BYTES, BOOT_OTHER_OP };
static inline enum boot_difference boot_coll_differ(uint64_t a, int64_t a_bytes, uint64_t b, int64_t b_bytes)
{
    enum { FORM = BOOT_SAYS_REQUEST | BOOT_SAYS_PREPARED };
    uint64_t a_kind = a >> BOOT_SAYS_KIND & 0xff, b_kind = b >> BOOT_SAYS_KIND & 0xff;
    uint64_t a_op = a >> BOOT_SAYS_OP & 0xffff, b_op = b >> BOOT_SAYS_OP & 0xffff;
    int32_t a_root = (int32_t)(uint32_t)a, b_root = (int32_t)(uint32_t)b;
    if (!a_kind || !b_kind) return BOOT_SAME;
    if (a_kind != b_kind || (a ^ b) >> BOOT_SAYS_FLAGS & FORM) return BOOT_OTHER_CALL;
    if (a_root >= 0 && b_root >= 0 && a_root != b_root) return BOOT_OTHER_ROOT;
    if (a_bytes != b_bytes && !((a | b) >> BOOT_SAYS_FLAGS & BOOT_SAYS_OWN)) return BOOT_OTHER_BYTES;
    return a_op && b_op && a_op != b_op ? BOOT_OTHER_OP : BOOT_SAME; /* who only looks on, or has no data, says none */
}

struct boot_where {
    _Atomic uint32_t version; /* odd while the fields below `state` are being written */
    _Atomic uint32_t state;   /* enum boot_state */
    uint64_t since_ns;        /* about when the wait began, and when this was written; CLOCK_MONOTONIC */
    uint64_t told_ns;
    uint32_t call;      /* GW_FN_* */
    int32_t n_pending;  /* what is waited for; the first BOOT_PENDING of them are listed */
    uint8_t is_any;     /* one of them is enough */
    uint8_t has_coll;   /* in a collective: coll.peer is its root, GW_ANY_SOURCE: it has none */
    uint32_t coll_call; /* that collective's call, where `call` only waits for it */
    uint64_t coll_number;
    int64_t n_unexpected; /* messages held; the BOOT_PENDING that are most like what is waited for are listed */
    int64_t held_bytes;   /* in messages that came and were not received; of what lane the wait is on */
    int64_t kept_bytes;   /* in copies of messages for which their receivers had no room */
    int64_t room_bytes;   /* each may be so many (GODWIT_UNEXPECTED_MAX); 0: none of the three is known */
    struct boot_pending coll, pending[BOOT_PENDING], unexpected[BOOT_PENDING];
};

/* Another world with which a rank is connected (MPI 4.1 section 11.10.4): while its communicators or groups have members there.
 * Our mpiexec reads it: connected jobs fail together, others do not. */
enum { BOOT_TIES = 32 };
struct boot_tie {
    _Atomic uint64_t uid;
    _Atomic int32_t pid, fd;
}; /* where its home is; uid 0: none, and the last to be written */

/* Who shows it is let in: 128 random bits, never in the name of a socket nor on a command line (boot_gate.c). */
struct boot_secret {
    uint64_t word[2];
};
struct boot_port {
    uint64_t name;
    struct boot_secret secret;
}; /* a listener, and what it asks for; name 0: none */

/* A thread of a rank has got a signal by which programs crash, and waits with it until mpiexec has looked at the process (boot_crash.c,
 * verdict/crash.c). */
enum boot_crash_state { BOOT_NO_CRASH, BOOT_CRASH_NOTED, BOOT_CRASHED, BOOT_CRASH_SEEN };
struct boot_crash {
    _Atomic uint32_t state; /* futex word; CRASHED, and the fields below hold: by the rank.  SEEN: by mpiexec */
    int32_t signal, code;   /* code: si_code, above 0 where the kernel found a fault */
    uint64_t address;       /* that was at fault, if code says so */
};

enum { BOOT_CALL_NAME = 40 }; /* room for the name of an MPI call; arrays, as the loader would have to fill in pointers */

struct boot_rank { /* of one local rank, written by that rank only; its own cache lines */
    _Atomic int32_t pid;
    _Atomic uint32_t phase; /* enum boot_phase */
    _Atomic(uint32_t) call; /* index of the MPI call last entered (GW_FN_*), 0 = none; see boot_call_names */
    _Atomic int32_t abort_code;
    char what[112];            /* last words: text of a fatal error, for the launcher; 0-terminated */
    _Atomic uint32_t n_colls;  /* entered so far, the newest is colls[(n_colls - 1) % BOOT_COLLS] */
    uint32_t is_threaded;      /* several threads may be in MPI at once: a wait does not mean that the rank rests */
    uint32_t is_checking;      /* GODWIT_CHECK */
    int32_t app;               /* number of its application in the command, from 0: written by our mpiexec before the rank starts */
    _Atomic uint32_t in_world; /* it has called MPI_Init: sessions alone do not meet those who spawned us */
    _Atomic uint32_t ties_more; /* worlds for which ties[] had no room */
    struct boot_crash crash;
    struct boot_tie ties[BOOT_TIES];
    struct boot_coll colls[BOOT_COLLS];
    struct boot_where where;
} GW_ALIGNED(128);
struct boot_head {
    uint64_t magic;
    uint32_t version;                 /* of this layout and of everything behind it: GODWIT_SHM_VERSION, must be equal */
    int32_t nlocal, size, first_rank; /* ranks on this node, in the job, world rank of local rank 0 */
    uint64_t bytes;                   /* of the whole file */
    uint64_t ranks_offset;            /* struct boot_rank[nlocal] */
    uint64_t shm_offset;              /* from here on the file belongs to node/ (zeroed) */
    int32_t launcher_pid;
    int32_t cores; /* cores that the ranks of this node share */
    char jobid[32];
    char host[64];
    uint64_t nonce;              /* so that nobody maps another file by mistake; 0 under our mpiexec */
    struct boot_port control;    /* of mpiexec, where ranks ask for more processes */
    struct boot_port parent;     /* where those who spawned us wait for us */
    _Atomic uint32_t attached;   /* ranks that mapped it (futex word); not used under our mpiexec */
    uint64_t uid;                /* of this world: random, no two have the same */
    int32_t home_pid, home_fd;   /* who holds the file open as long as the world lives: other worlds open it there; fd -1: nobody */
    _Atomic uint64_t area_bytes; /* of each rank, in the part of node/ */
    char vnodes[64];             /* of mpiexec's segment: how its ranks are split into faked nodes; "": they are not */
    int32_t node, nnodes;    /* where it is the segment of one node of several; the node of each rank of the job: int32_t[size] */
    uint64_t map_offset;     /* and behind it, where ranks were reordered, the process of each rank; 0 (mpiexec's): none */
    _Atomic uint32_t met[2]; /* ranks of the node that have come to the end of MPI_Init, and to MPI_Finalize */
} GW_ALIGNED(64);
/* Faked nodes (GODWIT_VNODES, `mpiexec --vnodes`): the ranks of a host act as if they were on several.  Each faked node has a segment
 * of its own, as under PMIx; mpiexec's holds the slots of all ranks, and behind them the board through which they exchange keys. */
/* Where the ranks and the part of node/ begin in a segment for `nlocal` ranks; the launcher uses the same. */
#define BOOT_RANKS_OFFSET ((sizeof(struct boot_head) + 127) & ~(uint64_t)127)
static inline uint64_t boot_shm_offset(int nlocal)
{
    return (BOOT_RANKS_OFFSET + (uint64_t)nlocal * sizeof(struct boot_rank) + 4095) & ~(uint64_t)4095;
}

enum boot_how { BOOT_SINGLETON, BOOT_GODWIT, BOOT_PMIX, BOOT_PMI1, BOOT_PMI2 };
struct boot_info {
    enum boot_how how;
    int rank, size;            /* in the job */
    int local_rank, nlocal;    /* on this node */
    const int *local_to_world; /* [nlocal], ascending */
    int node, nnodes;          /* this node and how many the job has: numbered in the order of their lowest ranks; nnodes is 0 where
                                * there are several and the segment is not mapped yet, which says how many */
    int appnum, universe_size; /* universe 0: unknown */
    bool bound;                /* we were bound to fewer cores than the ranks of the node share; known once the segment is mapped */
    char jobid[64], host[64];
    int shm_fd;              /* memfd inherited (BOOT_GODWIT), else -1 */
    struct boot_port parent; /* of those who spawned us; none: nobody did */
    bool parent_is_far;      /* an engine started us: they may be on another host (boot_parent_connect) */
};
extern struct boot_info gw_boot;
/* MPI_UNIVERSE_SIZE on one machine, where nobody says it: a rank a core; and where each core has one already, as many again, for they can
 * be started all the same, and programs start as many as are missing to it. */
static inline int boot_universe(int ranks, int cores) { return ranks < cores ? cores : ranks + cores; }
int boot_local_rank(int world_rank); /* its place on this node, or -1: it is elsewhere */
int boot_node_of(int world_rank);    /* the number of its node; once the segment is mapped */
/* What GODWIT_VNODES says: the k-th of the n ranks of a host is in which block, and which of them are (first, count)? */
int boot_vnodes_check(const char *text); /* GW_OK, or an error */
int boot_vnodes_block(const char *text, int n, int k, int *first_out, int *count_out);
int boot_apps(void);             /* applications that our mpiexec started, side by side; 0: not known here */
int boot_app_of(int world_rank); /* where they are known */

/* ---- rank order (boot_order.c): which process of the launcher gets which rank ----
 * The settings rank_order (MPICH_RANK_REORDER_METHOD), rank_order_file and rank_order_display.  All but boot sees only the new ranks.
 * Under our mpiexec a process keeps its number and the faked nodes are dealt out instead. */
enum boot_order { BOOT_ORDER_ROUND, BOOT_ORDER_SMP, BOOT_ORDER_FOLD, BOOT_ORDER_FILE };
/* node: of each process, numbered from 0.  rank_out: of each process.  list: where the method is the file, what it says. */
void boot_order_place(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out);
int boot_order_parse(const char *path, const char *text, int size, int32_t *list_out); /* path: for what is said; GW_OK, GW_EARG */
int boot_order_read(const char *path, int size, int32_t *list_out);
/* node: of each process, becomes that of each rank; path: NULL or "" is MPICH_RANK_ORDER in this folder. */
int boot_order_apply(int method, const char *path, int32_t *node, int size, int32_t *rank_out);
/* Turns the hosts of all processes into (faked) nodes, numbered in the order of their lowest ranks; how many. */
int boot_map_nodes(const char *vnodes, int32_t *node, int size);

int boot_init(void); /* once; GW_OK or it explains and ends the process */
/* This process uses MPI no more, for the time being: boot_return() when it does again. */
void boot_rest(void);
void boot_return(void);
/* Rests, and tells the launcher that this process may end now; it may still return, though not to ask or tell anything. */
void boot_leave(void);
void boot_finalize(void); /* leaves, if that has not been done, and unmaps the segment */
/* Key-value exchange, all ranks; values of at most 1 KiB of text.  Works for PMIx and PMI; a no-op group of one for
 * singletons; under our own mpiexec only where the job has several nodes (GODWIT_VNODES), else it is not needed and put/get answer
 * GW_EUNSUPPORTED. */
int boot_put(const char *key, const char *value);
int boot_fence(void); /* all ranks; what was put before by anybody can be got after */
/* The same while the caller goes on: `over`, in another thread, says that it may be over, and once it is it has to be ended.  Meanwhile
 * the launcher is asked and told nothing else: PMI has one connection, and would take the answer for another's.  GW_ENOMEM: there may be no other thread. */
int boot_fence_begin(void (*over)(void));
bool boot_fence_is_going(void); /* begun and not ended */
bool boot_fence_is_over(void);
int boot_fence_end(void);
/* What was put can be got by others from now on.  All ranks call it: without waiting for each other where boot_is_direct(), else they
 * fence.  boot_commit() is the former alone. */
int boot_share(void);
int boot_commit(void);
/* boot_get() asks the node of that rank, which answers once the rank has committed the key: no fence is needed before.  It may block
 * for that long; the other rank need not call anything more.  GODWIT_ASYNC_MODEX=false: never. */
bool boot_is_direct(void);
int boot_get(int rank, const char *key, char *value_out, size_t cap);
/* Must the ranks of a job of several nodes meet before the first message, or after the last one?  Each wire between nodes says when it
 * is opened; as long as none has, both.  The settings async_init and async_finalize may ask for more. */
enum { BOOT_BEFORE_FIRST = 1, BOOT_AFTER_LAST = 2 };
void boot_needs(unsigned when);
bool boot_must_meet(unsigned when); /* one of them */
/* Are all ranks connected at start, instead of on the first message?  By the settings add_procs_cutoff, dynamic_conn and startup_connect. */
bool boot_connects_all(void);
/* ---- are the others still there? (boot_alive.c) ----
 * Launchers see processes end; most do not see a host that loses power or its cable, and the ranks elsewhere wait for it.  So a host is
 * asked again and again for a connection to a port where nobody listens: a refusal is an answer.  Who never answered (a firewall may
 * be silent) is never called silent.  One thread at a time. */
struct sockaddr;
struct boot_ask {
    uint64_t at[16]; /* struct sockaddr */
    unsigned len;
    int fd;    /* of a question under way, -1: there is none */
    bool ever; /* it has answered once */
    uint64_t asked_ns, heard_ns, stepped_ns;
};
void boot_ask_begin(struct boot_ask *a, const struct sockaddr *at, unsigned len); /* its port does not matter */
/* Asks, `pause` seconds after the last time, and looks for answers, without waiting: to be called often.  The seconds for which the host
 * has been silent; time in which this was not called is none of them. */
double boot_ask_step(struct boot_ask *a, double pause);
void boot_ask_end(struct boot_ask *a);
/* For waits that have become long, in which it looks once a second: ends this process where its launcher is gone, or where another rank
 * of the node has aborted the job and the launcher does nothing. */
void boot_look(void);

/* ---- jobs on other hosts that fail together with this one (boot_tied.c) ---- */
enum { BOOT_TIED_NAME = 144 };
void boot_tied_name(char out[BOOT_TIED_NAME]); /* this job, in words for others */
/* From now on the end of `fd`, a socket to the process that `name` names, of the world uid, is the end of this job.  Takes the socket. */
void boot_tied_add(int fd, uint64_t uid, const char name[BOOT_TIED_NAME]);
bool boot_tied_at(int i, uint64_t *uid_out); /* the worlds that are tied so, from 0; false: there are no more */
void boot_tied_part(uint64_t uid);           /* no more with that one, which is told; 0: with all */
/* In all waits, and in progress: ends this job where another has ended. */
extern _Atomic int boot_tied_n;
void boot_tied_look(void);
static inline void boot_tied_step(void)
{
    if (unlikely(atomic_load_explicit(&boot_tied_n, memory_order_relaxed))) boot_tied_look();
}

/* Before boot_init(), from what the launcher's variables say: ranks of the job, 1 where there is no launcher, 0: they do not say. */
int boot_env_size(void);

void boot_abort(int code, const char *text) __attribute__((noreturn)); /* tells the launcher, ends this process */

/* Maps the node's segment: `bytes` as computed by boot_segment_bytes for this nlocal by every rank alike.
 * Under our mpiexec it maps the inherited file; otherwise local rank 0 makes a memfd and the others open it through
 * /proc/PID/fd/N (checked by a nonce), all agreed through put/fence/get.  The memory is zero and reserved (a real check,
 * never SIGBUS): if the machine cannot give it, but for seldom_bytes, one sentence says sizes and limits.  Closes every descriptor. */
struct boot_head *boot_map_segment(uint64_t node_bytes, uint64_t seldom_bytes);
/* ---- other worlds (boot_world.c) ----------------------------------------------------------------------------------
 * Each job has its own segment; whoever has met another job maps that one too. */
/* How a segment of a world is found on this machine; with faked nodes it has several, with the same uid. */
struct boot_home {
    uint64_t uid;
    int32_t pid, fd;
};
struct boot_home boot_own_home(void);          /* fd -1: others cannot come to us */
struct boot_home boot_home_of(int world_rank); /* the same of the node of another rank of our world */
bool boot_is_on_one_host(void);                /* all ranks of this world, whatever faked nodes they are on */
uint64_t boot_host_id(void);                   /* equal for processes that can meet by memory: machine and namespaces */
/* A descriptor of the segment there, or an error.  It is memory of our user that cannot shrink, and the head is a copy of which each
 * offset and number has been compared with its size; what lies in the segment itself may change while it is looked at. */
int boot_other_look(const struct boot_home *home, struct boot_head *head_out, uint64_t *bytes_out);
int boot_other_map(const struct boot_home *home, struct boot_head *head_out, char **base_out, uint64_t *bytes_out);
void boot_other_unmap(char *base, uint64_t bytes);
/* The same of a descriptor; what is wrong with it, NULL: nothing. */
const char *boot_head_read(int fd, struct boot_head *head_out, uint64_t *bytes_out);
const char *boot_file_fault(int fd, uint64_t least,
                            uint64_t *bytes_out); /* any memory: ours, sealed or unlinked, of so many bytes at least */
int boot_file_open(int pid, int fd,
                   const char **why_out); /* descriptor `fd` of that process, if it is a file of our user; -1: *why_out */
/* Memory to share (boot_file.c): a memfd, or where the kernel refuses that an unlinked file in /dev/shm, or $TMPDIR if that has the room
 * which /dev/shm lacks.  Empty, closed on exec; -1: errno, that of memfd_create. */
int boot_file_make(const char *name, uint64_t room);
int boot_file_size(int fd, uint64_t bytes);           /* grows it, and reserves the memory of a file; 0, or -1 and errno */
int boot_file_seal(int fd, bool may_grow);            /* against shrinking, what can be sealed; 0, or -1 and errno */
bool boot_file_is_unsealed(int fd);                   /* it is such a file */
void boot_tie(const struct boot_home *home, bool on); /* tells the launcher; one thread at a time */

/* ---- who is let in (boot_gate.c, boot_port.c, doc/adr/0019) ----------------------------------------------------------
 * Ports are abstract unix sockets, named by a random number; nothing stays behind.  Their names are seen by everybody; only processes
 * of the same user (or of root) that send the port's secret first come through.  Descriptors are non-blocking and close on exec; -1:
 * errno says why. */
enum { BOOT_PORT_TEXT = 50, BOOT_GATE_HALF = 16 };
uint64_t boot_random(void);                    /* never 0; for numbers that protect nothing */
int boot_secret_make(struct boot_secret *out); /* GW_OK; GW_EOTHER where the kernel gives no random numbers */
bool boot_secret_equal(const struct boot_secret *a,
                       const struct boot_secret *b); /* in a time that does not tell where they differ */
int boot_port_make(struct boot_port *out);           /* the same */
void boot_port_text(const struct boot_port *p, char out[BOOT_PORT_TEXT]);
bool boot_port_parse(const char *text, struct boot_port *out);
bool boot_user_is_ours(uid_t uid); /* or root's */
bool boot_peer_is_ours(int s);     /* who is at the other end of a unix socket */
/* A listener and its connections that have not shown the secret yet: so many at most, each for a few seconds. */
struct boot_gate_half {
    int fd;
    uint32_t got;
    uint64_t until_ns;
    struct boot_secret said;
};
struct boot_gate {
    int fd; /* poll it: readable when boot_gate_accept() has something to do; -1: closed */
    int listener, timer, n;
    int far;             /* a listener for other hosts; -1: none */
    uint64_t n_refused;  /* connections that did not show the secret: wrong, too late, or too many */
    struct gw_lock lock; /* of accepting */
    struct boot_secret secret;
    struct boot_gate_half half[BOOT_GATE_HALF]; /* the oldest first */
};
int boot_gate_open(struct boot_gate *g, const struct boot_port *port); /* 0, -1 */
/* Lets processes of other hosts in, too, at an address of this one (struct sockaddr), which gets the port.  What they show is the secret
 * alone: nobody says of which user they are.  0, -1. */
int boot_gate_open_far(struct boot_gate *g, struct sockaddr_storage *at);
/* The same without a listener on this host's own sockets. */
int boot_gate_open_far_only(struct boot_gate *g, const struct boot_secret *secret, struct sockaddr_storage *at);
/* "192.0.2.2:4000", "[2001:db8::2]:4000" */
enum { BOOT_ADDRESS_TEXT = 56 };
void boot_address_text(const struct sockaddr_storage *at, char out[BOOT_ADDRESS_TEXT]);
bool boot_address_parse(const char *text, struct sockaddr_storage *out); /* only what the former writes */
/* "NAME:SECRET@192.0.2.2:4000", or without the address; far_out (may be NULL): ss_family 0, there was none */
bool boot_place_parse(const char *text, struct boot_port *port_out, struct sockaddr_storage *far_out);
int boot_far_connect(const struct sockaddr_storage *at); /* under way: writable when it is there, or has failed (SO_ERROR) */
/* Of who spawned this job by an engine: their port, with an address for other hosts behind it; a variable, so that it stands on no
 * command line. */
#define BOOT_PARENT "GODWIT_PARENT"
int boot_parent_connect(int patience_ms); /* shows the secret, on this host or another; -1: errno */
/* The next that has shown the secret; EAGAIN: nobody yet.  Never blocks; strangers are closed at once, however many there are. */
int boot_gate_accept(struct boot_gate *g);
void boot_gate_close(struct boot_gate *g);
/* Shows the secret, to a listener of our user only.  EAGAIN: too many wait there already, also after so long; EACCES: a stranger's. */
int boot_port_connect(const struct boot_port *port, int patience_ms);
/* As many of the bytes as go at once, at least one; 0: none now; -1: the other side is gone, or errno. */
int64_t boot_port_read(int fd, void *data, size_t bytes);
int64_t boot_port_write(int fd, const void *data, size_t bytes);
/* Service names (boot_name.c), seen by the processes of the same user in the same pid namespace; two descriptors hold one.  -1: errno,
 * EADDRINUSE: a process of this user has published it; what others do does not count. */
bool boot_name_fits(const char *port);
int boot_name_publish(const char *service, const char *port, int fds_out[2]);
bool boot_name_lookup(const char *service, char *port_out, size_t cap);
/* A connection to a launcher who starts what is asked for over it (spawned/spawned.c): our mpiexec, or one that is started now.
 * The request: words, each with its 0, then an empty one. */
int boot_spawner(int *fd_out, bool *is_alone_out); /* alone: the latter, it lives for us */
#define BOOT_SPAWN_JOINED 'J'                      /* the new world has been met */
#define BOOT_SPAWN_BYE    'B'                      /* the end of this connection is not our end */
struct boot_spawn_answer { /* from the launcher, then `text_bytes` of explanation: once for the start, then once if the job is over
                               * before it was met */
    int32_t app;           /* of which this is; -1: of none, all is well */
    int32_t room;          /* so many processes there may be room for; -1: that is not what was wrong */
    int32_t text_bytes;
    int32_t bad_value; /* an info key's value was wrong */
};

/* Signals by which programs crash are told to mpiexec, where that wants to know of them and they had no handler when the library was
 * loaded: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.  The thread waits until mpiexec has looked at it, and dies of the signal as it would
 * have.  Until boot_crash_end().  No handler is changed here: see boot_crash.c. */
void boot_crash_begin(void);
void boot_crash_end(void);

extern struct boot_rank
    *boot_slot; /* this rank's; never NULL: a private one before the segment is mapped and after boot_finalize */
struct boot_rank *boot_my_rank_slot(void);      /* the same */
struct boot_rank *boot_slot_of(int local_rank); /* of another rank of this node, while the segment is mapped */
/* Notes that this rank enters a collective, in the words above; `call` is the one entered last. */
static inline void boot_coll_note(uint32_t ctx, uint64_t number, uint64_t says, uint64_t bytes_and_mark)
{
    struct boot_rank *s = boot_slot;
    uint32_t n = atomic_load_explicit(&s->n_colls, memory_order_relaxed),
             call = atomic_load_explicit(&s->call, memory_order_relaxed);
    if (unlikely(s->is_threaded)) {
        n = atomic_fetch_add_explicit(&s->n_colls, 1, memory_order_relaxed);
        call = 0; /* perhaps another thread's */
    } else {
        atomic_store_explicit(&s->n_colls, n + 1, memory_order_relaxed);
    }
    struct boot_coll *c = &s->colls[n % BOOT_COLLS];
    /* Empty while it is written: who reads it looks at word[0] before and after. */
    atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&c->word[1], says, memory_order_relaxed);
    atomic_store_explicit(&c->word[2], bytes_and_mark, memory_order_relaxed);
    atomic_store_explicit(&c->word[0], boot_coll_pack(ctx, number, call), memory_order_release);
}
/* An entry as it was written; false: it is being written, or empty. */
static inline bool boot_coll_read(const struct boot_coll *c, uint64_t word_out[3])
{
    word_out[0] = atomic_load_explicit(&c->word[0], memory_order_acquire);
    word_out[1] = atomic_load_explicit(&c->word[1], memory_order_relaxed);
    word_out[2] = atomic_load_explicit(&c->word[2], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return word_out[0] && atomic_load_explicit(&c->word[0], memory_order_relaxed) == word_out[0];
}
/* For a context id that another communicator will get, whose collectives others would take these for. */
static inline void boot_coll_forget(uint32_t ctx)
{
    for (int i = 0; i < BOOT_COLLS; i++) {
        struct boot_coll *c = &boot_slot->colls[i];
        if (atomic_load_explicit(&c->word[0], memory_order_relaxed) >> 34 != ctx) continue;
        atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    }
}

#endif
