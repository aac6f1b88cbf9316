/*
 * A no-op libibverbs to measure the overhead of calls and to detect calls on destroyed objects.
 *
 * The library has one device, null0, with one InfiniBand port. The post of a signaled request, or of a receive with memory, completes it successfully.
 * A receive without memory, and all receives after it, wait until their queue pair enters the error state. No data is transferred.
 *
 * The structures are those of the stable ABI of libibverbs.so.1. Only the members in use are declared.
 *
 * Destroyed objects are never freed, but marked as dead. The process ends with a message if a caller uses a dead object, destroys an object
 * during another call on it, destroys an owner before the objects that it owns, or overruns a completion queue. Reading the memory of a dead
 * completion channel causes a fault, because its descriptor is read without a call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- The ABI ---- */

struct ibv_device {
    void *ops[2];
    int node_type;
    int transport_type;
    char name[64];
    char dev_name[64];
    char dev_path[256];
    char ibdev_path[256];
};

struct ibv_device_attr {
    char fw_ver[64];
    uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
    uint32_t vendor_id, vendor_part_id, hw_ver;
    int max_qp, max_qp_wr;
    unsigned int device_cap_flags;
    int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
    int max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom;
    int atomic_cap;
    int max_ee, max_rdd, max_mw, max_raw_ipv6_qp, max_raw_ethy_qp;
    int max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
    int max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge;
    uint16_t max_pkeys;
    uint8_t local_ca_ack_delay, phys_port_cnt;
};

/* The structure that the exported ibv_query_port fills, without the members that later versions have added. */
struct ibv_port_attr {
    int state, max_mtu, active_mtu, gid_tbl_len;
    uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
    uint16_t pkey_tbl_len, lid, sm_lid;
    uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state, link_layer, flags;
};

struct ibv_qp;
struct ibv_cq;
struct ibv_srq;
struct ibv_sge { uint64_t addr; uint32_t length, lkey; };

struct ibv_send_wr {
    uint64_t wr_id;
    struct ibv_send_wr *next;
    struct ibv_sge *sg_list;
    int num_sge, opcode;
    unsigned int send_flags;
    uint32_t imm_data;
    struct { uint64_t remote_addr; uint64_t rkey_and_more[3]; } wr;
    uint64_t rarely_used[7];
};

struct ibv_recv_wr {
    uint64_t wr_id;
    struct ibv_recv_wr *next;
    struct ibv_sge *sg_list;
    int num_sge;
};

struct ibv_wc {
    uint64_t wr_id;
    int status, opcode;
    uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp;
    unsigned int wc_flags;
    uint16_t pkey_index, slid;
    uint8_t sl, dlid_path_bits;
};

struct ibv_context_ops {
    void *before_poll[11];
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    int (*req_notify_cq)(struct ibv_cq *, int);
    void *before_shared_post[7];
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *before_post[4];
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *after_post[5];
};

struct ibv_context {
    struct ibv_device *device;
    struct ibv_context_ops ops;
    int cmd_fd, async_fd, num_comp_vectors;
    pthread_mutex_t mutex;
    void *abi_compat;
};

struct ibv_cq_init_attr_ex;
struct ibv_qp_init_attr_ex;

/* The members of struct verbs_context before its context. Arrays take the space of unused members. */
struct verbs_context_front {
    struct ibv_cq *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
    void *before_create_qp[7];
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
    void *after_create_qp[5];
    size_t sz;
};

struct ibv_pd { struct ibv_context *context; uint32_t handle; };
struct ibv_mr { struct ibv_context *context; struct ibv_pd *pd; void *addr; size_t length; uint32_t handle, lkey, rkey; };
struct ibv_comp_channel { struct ibv_context *context; int fd, refcnt; };

struct ibv_cq {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed, async_events_completed;
};

struct ibv_poll_cq_attr { uint32_t comp_mask; };

/* The members of an ibv_cq_ex that an ibv_cq does not have. Trailing unused members are omitted. */
struct ibv_cq_more {
    uint32_t comp_mask;
    int status;
    uint64_t wr_id;
    int (*start_poll)(struct ibv_cq *, struct ibv_poll_cq_attr *);
    int (*next_poll)(struct ibv_cq *);
    void (*end_poll)(struct ibv_cq *);
    int (*read_opcode)(struct ibv_cq *);
    uint32_t (*read_vendor_err)(struct ibv_cq *), (*read_byte_len)(struct ibv_cq *), (*read_imm_data)(struct ibv_cq *);
    uint32_t (*read_qp_num)(struct ibv_cq *), (*read_src_qp)(struct ibv_cq *);
    unsigned int (*read_wc_flags)(struct ibv_cq *);
    uint32_t (*read_slid)(struct ibv_cq *);
    uint8_t (*read_sl)(struct ibv_cq *), (*read_dlid_path_bits)(struct ibv_cq *);
    void *unused[5];
};

struct ibv_cq_init_attr_ex {
    uint32_t cqe;
    void *cq_context;
    struct ibv_comp_channel *channel;
    uint32_t comp_vector;
    uint64_t wc_flags;
    uint32_t comp_mask, flags;
    struct ibv_pd *parent_domain;
};

struct ibv_srq {
    struct ibv_context *context;
    void *srq_context;
    struct ibv_pd *pd;
    uint32_t handle;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};

struct ibv_srq_attr { uint32_t max_wr, max_sge, srq_limit; };
struct ibv_srq_init_attr { void *srq_context; struct ibv_srq_attr attr; };

struct ibv_qp_cap { uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data; };

struct ibv_qp_init_attr {
    void *qp_context;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp_cap cap;
    int qp_type, sq_sig_all;
};

/* Only the members in use, which are the first ones. */
struct ibv_qp_attr {
    int qp_state, cur_qp_state, path_mtu, path_mig_state;
    uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
    unsigned int qp_access_flags;
    struct ibv_qp_cap cap;
};

struct ibv_qp {
    struct ibv_context *context;
    void *qp_context;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    uint32_t handle, qp_num;
    int state, qp_type;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};

struct ibv_qp_init_attr_ex {
    void *qp_context;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp_cap cap;
    int qp_type, sq_sig_all;
    uint32_t comp_mask;
    struct ibv_pd *pd;
};

struct ibv_ah { struct ibv_context *context; struct ibv_pd *pd; uint32_t handle; };
struct ibv_data_buf { void *addr; size_t length; };

/* The members of an ibv_qp_ex that an ibv_qp does not have. Trailing unused members are omitted. */
struct ibv_qp_more {
    uint64_t comp_mask, wr_id;
    unsigned int wr_flags;
    void (*wr_atomic_cmp_swp)(struct ibv_qp *, uint32_t, uint64_t, uint64_t, uint64_t);
    void (*wr_atomic_fetch_add)(struct ibv_qp *, uint32_t, uint64_t, uint64_t);
    void *bind_and_invalidate[2];
    void (*wr_rdma_read)(struct ibv_qp *, uint32_t, uint64_t);
    void (*wr_rdma_write)(struct ibv_qp *, uint32_t, uint64_t);
    void (*wr_rdma_write_imm)(struct ibv_qp *, uint32_t, uint64_t, uint32_t);
    void (*wr_send)(struct ibv_qp *);
    void (*wr_send_imm)(struct ibv_qp *, uint32_t);
    void *send_inv_and_tso[2];
    void (*wr_set_ud_addr)(struct ibv_qp *, struct ibv_ah *, uint32_t, uint32_t);
    void *set_xrc_srqn;
    void (*wr_set_inline_data)(struct ibv_qp *, void *, size_t);
    void (*wr_set_inline_data_list)(struct ibv_qp *, size_t, const struct ibv_data_buf *);
    void (*wr_set_sge)(struct ibv_qp *, uint32_t, uint64_t, uint32_t);
    void (*wr_set_sge_list)(struct ibv_qp *, size_t, const struct ibv_sge *);
    void (*wr_start)(struct ibv_qp *);
    int (*wr_complete)(struct ibv_qp *);
    void (*wr_abort)(struct ibv_qp *);
    void *later[2];
};

_Static_assert(sizeof(struct ibv_send_wr) == 128, "ibv_send_wr");
_Static_assert(sizeof(struct ibv_wc) == 48, "ibv_wc");
_Static_assert(sizeof(struct ibv_context_ops) == 32 * sizeof(void *), "ibv_context_ops");
_Static_assert(sizeof(struct ibv_device_attr) == 232, "ibv_device_attr");

enum { SEND_SIGNALED = 1 << 1, SEND_INLINE = 1 << 3 };
enum { WC_SUCCESS = 0, WC_WR_FLUSH_ERR = 5, WC_RECV = 128 };
enum { QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE, QPS_ERR };
enum { QP_STATE = 1 };

/* ---- Lifetimes of objects ---- */

static _Noreturn void misuse(const char *object, const char *what)
{
    fprintf(stderr, "null verbs: %s %s\n", object, what);
    abort();
}

/* The lock and the lifetime state of an object in one word. */
enum { LIVE = 0x4556494c, HELD = 0x444c4548, DEAD = 0x44414544 };

struct life {
    const char *kind;
    _Atomic uint32_t word;
    _Atomic int dependents;
};

/* The number of pauses in a call that holds a lock. A longer call makes races more likely. */
static volatile unsigned delay_spins;

EXPORT void null_verbs_linger(unsigned spins)
{
    delay_spins = spins;
}

static inline void spin(unsigned spins)
{
    for (unsigned i = 0; i < spins; i++)
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("" ::: "memory");
#endif
}

static void mark_live(struct life *life, const char *kind)
{
    life->kind = kind;
    atomic_init(&life->dependents, 0);
    atomic_init(&life->word, LIVE);
}

static inline void acquire(struct life *life)
{
    for (unsigned tries = 0;; tries++) {
        uint32_t seen = LIVE;
        if (__builtin_expect(atomic_compare_exchange_strong_explicit(&life->word, &seen, HELD, memory_order_acquire, memory_order_relaxed), 1))
            break;
        if (seen != HELD)
            misuse(life->kind, "is used, but was destroyed");
        spin(1);
        if (tries > 1000)
            sched_yield();
    }
    if (__builtin_expect(delay_spins, 0))
        spin(delay_spins);
}

static inline void release(struct life *life)
{
    atomic_store_explicit(&life->word, LIVE, memory_order_release);
}

static void check(struct life *life)
{
    if (atomic_load(&life->word) == DEAD)
        misuse(life->kind, "is used, but was destroyed");
}

static void mark_dead(struct life *life)
{
    uint32_t seen = LIVE;
    if (!atomic_compare_exchange_strong(&life->word, &seen, DEAD))
        misuse(life->kind, seen == DEAD ? "is destroyed twice" : "is destroyed while a call uses it");
    if (atomic_load(&life->dependents) != 0)
        misuse(life->kind, "is destroyed before the objects that it owns");
}

static void add_dependent(struct life *owner)
{
    check(owner);
    atomic_fetch_add(&owner->dependents, 1);
}

static void remove_dependent(struct life *owner)
{
    check(owner);
    atomic_fetch_sub(&owner->dependents, 1);
}

static void poison(void *structure, size_t bytes)
{
    memset(structure, 0xdb, bytes);
}

struct completion { uint64_t wr_id; uint32_t qp_num; int status, opcode; uint32_t bytes; };

struct device { struct ibv_context ibv; struct life life; };
struct extended_device { struct verbs_context_front front; struct device device; };
struct handle { struct ibv_ah ibv; struct life life; struct domain *domain; };
struct domain { struct ibv_pd ibv; struct life life; struct device *device; };
struct region { struct ibv_mr ibv; struct life life; struct domain *domain; };
struct channel { struct ibv_comp_channel ibv; struct life life; struct device *device; int write_fd; };

struct queue {
    struct ibv_cq ibv;
    struct ibv_cq_more more; /* valid only for an extended completion queue */
    unsigned seen; /* the number of completions that the current poll of an extended queue has read */
    struct life life;
    struct device *device;
    struct channel *channel;
    struct completion *ring;
    unsigned first, count, capacity;
    int armed; /* the completions that cause an event: 0 none, 1 any, 2 failures */
    _Atomic unsigned unacknowledged;
};

struct pair;

struct shared {
    struct ibv_srq ibv;
    struct life life;
    struct domain *domain;
    struct pair *receiver; /* the newest queue pair, which completes each receive immediately; if NULL, receives are rejected */
    uint32_t max_sge;
};

/* A request that the current extended post contains. */
struct request { uint64_t wr_id; unsigned flags; int opcode; uint32_t bytes; };

struct pair {
    struct ibv_qp ibv;
    struct ibv_qp_more more; /* valid only for an extended queue pair */
    struct request *requests;
    unsigned request_count;
    struct life life;
    struct domain *domain;
    struct queue *sends, *receives;
    struct ibv_qp_cap cap;
    uint64_t *waiting; /* the IDs of a receive without memory and of all receives after it */
    unsigned waiting_count;
};

_Static_assert(offsetof(struct queue, more) == sizeof(struct ibv_cq), "ibv_cq_ex");
_Static_assert(offsetof(struct pair, more) == sizeof(struct ibv_qp), "ibv_qp_ex");
_Static_assert(offsetof(struct extended_device, device) == sizeof(struct verbs_context_front), "verbs_context");

/* The memory regions. The key of a region is its index in this array and is never reused. Unused pages of the array take no memory. */
enum { REGIONS = 1 << 22 };
static struct region regions[REGIONS];
static _Atomic uint32_t next_region = 1;
static _Atomic uint32_t next_pair = 1;

static inline struct region *region_of(const struct ibv_sge *piece)
{
    uint32_t key = piece->lkey;
    if (key == 0 || key >= atomic_load_explicit(&next_region, memory_order_relaxed))
        misuse("memory region", "is posted, but was never registered");
    struct region *region = &regions[key];
    if (atomic_load_explicit(&region->life.word, memory_order_acquire) == DEAD)
        misuse("memory region", "is posted, but was deregistered");
    if (piece->addr - (uint64_t)(uintptr_t)region->ibv.addr + piece->length > region->ibv.length)
        misuse("memory region", "is posted with a range that exceeds it");
    return region;
}

/* Verifies the scatter/gather elements of a request and returns their total length. A post verifies them at its start, as an adapter does, and again at its end. */
static inline uint32_t check_segments(const struct ibv_sge *pieces, int count, int read)
{
    uint32_t bytes = 0;
    for (int i = 0; i < count; i++) {
        region_of(&pieces[i]);
        if (read && pieces[i].length > 0)
            (void)*(volatile char *)(uintptr_t)pieces[i].addr;
        bytes += pieces[i].length;
    }
    return bytes;
}

/* ---- The data path ---- */

static void completed(struct queue *queue, struct completion completion)
{
    acquire(&queue->life);
    if (queue->count == queue->capacity)
        misuse("completion queue", "overruns");
    unsigned at = queue->first + queue->count++;
    queue->ring[at < queue->capacity ? at : at - queue->capacity] = completion;
    if (queue->armed == 1 || (queue->armed == 2 && completion.status != WC_SUCCESS)) {
        uint64_t event = (uint64_t)(uintptr_t)queue;
        queue->armed = 0;
        atomic_fetch_add(&queue->unacknowledged, 1);
        if (write(queue->channel->write_fd, &event, sizeof event) != sizeof event)
            atomic_fetch_sub(&queue->unacknowledged, 1); /* the pipe is full, so its reader is awake */
    }
    release(&queue->life);
}

static int post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
    static const int opcodes[] = {1, 1, 0, 0, 2, 3, 4};
    struct pair *pair = (struct pair *)ibv_qp;
    int error = 0;

    acquire(&pair->life);
    for (struct ibv_send_wr *wr = first; wr; wr = wr->next) {
        int state = pair->ibv.state;
        if ((state != QPS_RTS && state != QPS_ERR && state != QPS_SQE && state != QPS_SQD) || (unsigned)wr->opcode > 6
            || wr->num_sge < 0 || (unsigned)wr->num_sge > pair->cap.max_send_sge) {
            *bad = wr;
            error = EINVAL;
            break;
        }
        uint32_t bytes = check_segments(wr->sg_list, wr->num_sge, wr->send_flags & SEND_INLINE);
        int status = state == QPS_RTS || state == QPS_SQD ? WC_SUCCESS : WC_WR_FLUSH_ERR;
        if ((wr->send_flags & SEND_SIGNALED) || status != WC_SUCCESS)
            completed(pair->sends, (struct completion){wr->wr_id, pair->ibv.qp_num, status, opcodes[wr->opcode], bytes});
        check_segments(wr->sg_list, wr->num_sge, wr->send_flags & SEND_INLINE);
    }
    release(&pair->life);
    return error;
}

static int post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
    struct pair *pair = (struct pair *)ibv_qp;
    int error = 0;

    acquire(&pair->life);
    for (struct ibv_recv_wr *wr = first; wr; wr = wr->next) {
        if (pair->ibv.state == QPS_RESET || wr->num_sge < 0 || (unsigned)wr->num_sge > pair->cap.max_recv_sge) {
            *bad = wr;
            error = EINVAL;
            break;
        }
        int flushed = pair->ibv.state == QPS_ERR;
        uint32_t bytes = check_segments(wr->sg_list, wr->num_sge, 0);
        if (flushed || (wr->num_sge > 0 && pair->waiting_count == 0))
            completed(pair->receives, (struct completion){wr->wr_id, pair->ibv.qp_num, flushed ? WC_WR_FLUSH_ERR : WC_SUCCESS, WC_RECV, bytes});
        else if (pair->waiting_count == pair->cap.max_recv_wr)
            misuse("receive queue", "overruns");
        else
            pair->waiting[pair->waiting_count++] = wr->wr_id;
        check_segments(wr->sg_list, wr->num_sge, 0);
    }
    release(&pair->life);
    return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
    struct shared *shared = (struct shared *)srq;
    int error = 0;

    acquire(&shared->life);
    for (struct ibv_recv_wr *wr = first; wr; wr = wr->next) {
        struct pair *receiver = shared->receiver;
        if (!receiver || receiver->ibv.state == QPS_RESET || wr->num_sge < 0 || (uint32_t)wr->num_sge > shared->max_sge) {
            *bad = wr;
            error = EINVAL;
            break;
        }
        uint32_t bytes = check_segments(wr->sg_list, wr->num_sge, 0);
        completed(receiver->receives, (struct completion){wr->wr_id, receiver->ibv.qp_num, WC_SUCCESS, WC_RECV, bytes});
        check_segments(wr->sg_list, wr->num_sge, 0);
    }
    release(&shared->life);
    return error;
}

static int poll_cq(struct ibv_cq *ibv_cq, int capacity, struct ibv_wc *completions)
{
    struct queue *queue = (struct queue *)ibv_cq;

    acquire(&queue->life);
    int count = queue->count < (unsigned)capacity ? (int)queue->count : capacity;
    for (int i = 0; i < count; i++) {
        struct completion *from = &queue->ring[queue->first];
        struct ibv_wc *to = &completions[i];
        to->wr_id = from->wr_id;
        to->status = from->status;
        to->opcode = from->opcode;
        to->vendor_err = 0;
        to->byte_len = from->bytes;
        to->qp_num = from->qp_num;
        to->wc_flags = 0;
        if (++queue->first == queue->capacity)
            queue->first = 0;
    }
    queue->count -= count;
    release(&queue->life);
    return count;
}

static int req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    struct queue *queue = (struct queue *)ibv_cq;
    if (!queue->channel)
        return EINVAL;
    acquire(&queue->life);
    if (queue->armed != 1)
        queue->armed = solicited_only ? 2 : 1;
    release(&queue->life);
    if (__builtin_expect(delay_spins, 0))
        spin(delay_spins); /* lets an event arrive before this call returns */
    return 0;
}

/* ---- The extended data path: the first call of a post or a poll takes the lock for the calls that follow ---- */

static int start_poll(struct ibv_cq *cq, struct ibv_poll_cq_attr *attributes)
{
    struct queue *queue = (struct queue *)cq;
    if (attributes->comp_mask)
        return EINVAL;
    acquire(&queue->life);
    if (queue->count == 0) {
        release(&queue->life);
        return ENOENT;
    }
    queue->seen = 1;
    queue->more.wr_id = queue->ring[queue->first].wr_id;
    queue->more.status = queue->ring[queue->first].status;
    return 0;
}

static inline struct completion *current(struct ibv_cq *cq)
{
    struct queue *queue = (struct queue *)cq;
    unsigned at = queue->first + queue->seen - 1;
    return &queue->ring[at < queue->capacity ? at : at - queue->capacity];
}

static int next_poll(struct ibv_cq *cq)
{
    struct queue *queue = (struct queue *)cq;
    if (queue->seen == queue->count)
        return ENOENT;
    queue->seen++;
    queue->more.wr_id = current(cq)->wr_id;
    queue->more.status = current(cq)->status;
    return 0;
}

static void end_poll(struct ibv_cq *cq)
{
    struct queue *queue = (struct queue *)cq;
    queue->first += queue->seen;
    if (queue->first >= queue->capacity)
        queue->first -= queue->capacity;
    queue->count -= queue->seen;
    release(&queue->life);
}

static int read_opcode(struct ibv_cq *cq)
{
    return current(cq)->opcode;
}

static uint32_t read_byte_len(struct ibv_cq *cq)
{
    return current(cq)->bytes;
}

static uint32_t read_qp_num(struct ibv_cq *cq)
{
    return current(cq)->qp_num;
}

static uint32_t read_nothing(struct ibv_cq *cq)
{
    (void)cq;
    return 0;
}

static uint8_t read_no_byte(struct ibv_cq *cq)
{
    (void)cq;
    return 0;
}

static void wr_start(struct ibv_qp *qp)
{
    struct pair *pair = (struct pair *)qp;
    acquire(&pair->life);
    pair->request_count = 0;
}

static inline void add_request(struct ibv_qp *qp, int opcode)
{
    struct pair *pair = (struct pair *)qp;
    if (pair->request_count == pair->cap.max_send_wr)
        misuse("send queue", "overruns");
    pair->requests[pair->request_count++] = (struct request){pair->more.wr_id, pair->more.wr_flags, opcode, 0};
}

static void wr_send(struct ibv_qp *qp)
{
    add_request(qp, 0);
}

static void wr_send_imm(struct ibv_qp *qp, uint32_t immediate)
{
    (void)immediate;
    add_request(qp, 0);
}

static void wr_rdma_write(struct ibv_qp *qp, uint32_t key, uint64_t address)
{
    (void)key;
    (void)address;
    add_request(qp, 1);
}

static void wr_rdma_write_imm(struct ibv_qp *qp, uint32_t key, uint64_t address, uint32_t immediate)
{
    (void)immediate;
    wr_rdma_write(qp, key, address);
}

static void wr_rdma_read(struct ibv_qp *qp, uint32_t key, uint64_t address)
{
    (void)key;
    (void)address;
    add_request(qp, 2);
}

static void wr_atomic_cmp_swp(struct ibv_qp *qp, uint32_t key, uint64_t address, uint64_t compare, uint64_t swap)
{
    (void)key;
    (void)address;
    (void)compare;
    (void)swap;
    add_request(qp, 3);
}

static void wr_atomic_fetch_add(struct ibv_qp *qp, uint32_t key, uint64_t address, uint64_t delta)
{
    (void)key;
    (void)address;
    (void)delta;
    add_request(qp, 4);
}

static void wr_set_ud_addr(struct ibv_qp *qp, struct ibv_ah *handle, uint32_t number, uint32_t key)
{
    (void)qp;
    (void)number;
    (void)key;
    check(&((struct handle *)handle)->life);
}

static inline struct request *last_request(struct ibv_qp *qp)
{
    struct pair *pair = (struct pair *)qp;
    if (pair->request_count == 0)
        misuse("send queue", "receives a part of a request before any request was started");
    return &pair->requests[pair->request_count - 1];
}

static void wr_set_sge_list(struct ibv_qp *qp, size_t count, const struct ibv_sge *pieces)
{
    if (count > ((struct pair *)qp)->cap.max_send_sge)
        misuse("send queue", "receives a request with too many scatter/gather elements");
    last_request(qp)->bytes = check_segments(pieces, (int)count, 0);
}

static void wr_set_sge(struct ibv_qp *qp, uint32_t key, uint64_t address, uint32_t length)
{
    struct ibv_sge piece = {address, length, key};
    last_request(qp)->bytes = check_segments(&piece, 1, 0);
}

static void wr_set_inline_data_list(struct ibv_qp *qp, size_t count, const struct ibv_data_buf *buffers)
{
    uint32_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (buffers[i].length > 0)
            (void)*(volatile char *)buffers[i].addr;
        bytes += (uint32_t)buffers[i].length;
    }
    last_request(qp)->bytes = bytes;
}

static void wr_set_inline_data(struct ibv_qp *qp, void *address, size_t length)
{
    struct ibv_data_buf buffer = {address, length};
    wr_set_inline_data_list(qp, 1, &buffer);
}

static int wr_complete(struct ibv_qp *qp)
{
    struct pair *pair = (struct pair *)qp;
    int state = pair->ibv.state;
    int error = state != QPS_RTS && state != QPS_ERR && state != QPS_SQE && state != QPS_SQD ? EINVAL : 0;
    int status = state == QPS_RTS || state == QPS_SQD ? WC_SUCCESS : WC_WR_FLUSH_ERR;
    for (unsigned i = 0; i < pair->request_count && !error; i++) {
        struct request *request = &pair->requests[i];
        if ((request->flags & SEND_SIGNALED) || status != WC_SUCCESS)
            completed(pair->sends, (struct completion){request->wr_id, pair->ibv.qp_num, status, request->opcode, request->bytes});
    }
    release(&pair->life);
    return error;
}

static void wr_abort(struct ibv_qp *qp)
{
    release(&((struct pair *)qp)->life);
}

static struct ibv_cq *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes);
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes);

/* ---- Devices ---- */

static struct ibv_device null0 = {
    .node_type = 1, .name = "null0", .dev_name = "uverbs-null0",
    .dev_path = "/sys/class/infiniband_verbs/uverbs-null0", .ibdev_path = "/sys/class/infiniband/null0"};

EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(2, sizeof *list);
    list[0] = &null0;
    if (count)
        *count = 1;
    return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

EXPORT uint64_t ibv_get_device_guid(struct ibv_device *device)
{
    (void)device;
    return 0x0100000000000002;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ibv_device)
{
    struct extended_device *extended = calloc(1, sizeof *extended);
    struct device *device = &extended->device;
    extended->front.create_cq_ex = create_cq_ex;
    extended->front.create_qp_ex = create_qp_ex;
    extended->front.sz = sizeof extended->front + sizeof device->ibv;
    device->ibv.abi_compat = (void *)(intptr_t)-1;
    device->ibv.device = ibv_device;
    device->ibv.ops.poll_cq = poll_cq;
    device->ibv.ops.req_notify_cq = req_notify_cq;
    device->ibv.ops.post_send = post_send;
    device->ibv.ops.post_recv = post_recv;
    device->ibv.ops.post_srq_recv = post_srq_recv;
    device->ibv.cmd_fd = -1;
    device->ibv.async_fd = eventfd(0, EFD_CLOEXEC);
    device->ibv.num_comp_vectors = 1;
    mark_live(&device->life, "device");
    if (device->ibv.async_fd < 0) {
        free(extended);
        return NULL;
    }
    return &device->ibv;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
    struct device *device = (struct device *)context;
    mark_dead(&device->life);
    close(device->ibv.async_fd);
    poison(&device->ibv, sizeof device->ibv);
    return 0;
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
    check(&((struct device *)context)->life);
    *attributes = (struct ibv_device_attr){
        .fw_ver = "0", .node_guid = ibv_get_device_guid(&null0), .sys_image_guid = ibv_get_device_guid(&null0), .max_mr_size = UINT64_MAX,
        .page_size_cap = 4096, .max_qp = 1 << 24, .max_qp_wr = 1 << 16, .max_sge = 16, .max_sge_rd = 16, .max_cq = 1 << 24,
        .max_cqe = 1 << 22, .max_mr = REGIONS - 1, .max_pd = 1 << 24, .max_qp_rd_atom = 16, .max_res_rd_atom = 16,
        .max_qp_init_rd_atom = 16, .atomic_cap = 1, .max_srq = 1 << 24, .max_srq_wr = 1 << 16, .max_srq_sge = 16, .max_pkeys = 1, .phys_port_cnt = 1};
    return 0;
}

EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes)
{
    check(&((struct device *)context)->life);
    if (port != 1)
        return EINVAL;
    *attributes = (struct ibv_port_attr){
        .state = 4, .max_mtu = 5, .active_mtu = 5, .gid_tbl_len = 1, .max_msg_sz = 1U << 31, .pkey_tbl_len = 1, .lid = 1, .sm_lid = 1,
        .active_width = 2, .active_speed = 32, .phys_state = 5, .link_layer = 1};
    return 0;
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, uint8_t *gid)
{
    check(&((struct device *)context)->life);
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    memset(gid, 0, 16);
    gid[0] = 0xfe, gid[1] = 0x80, gid[15] = 1;
    return 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, uint16_t *key)
{
    check(&((struct device *)context)->life);
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *key = 0xffff;
    return 0;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, void *event)
{
    uint64_t count;
    (void)event;
    check(&((struct device *)context)->life);
    if (read(context->async_fd, &count, sizeof count) >= 0)
        errno = EAGAIN;
    return -1; /* there are no events */
}

EXPORT void ibv_ack_async_event(void *event)
{
    (void)event;
}

EXPORT int ibv_is_fork_initialized(void)
{
    return 2; /* fork support is not needed, because no memory is pinned */
}

/* ---- Memory ---- */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct domain *domain = calloc(1, sizeof *domain);
    domain->ibv.context = context;
    domain->device = (struct device *)context;
    mark_live(&domain->life, "protection domain");
    add_dependent(&domain->device->life);
    return &domain->ibv;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    struct domain *domain = (struct domain *)pd;
    mark_dead(&domain->life);
    remove_dependent(&domain->device->life);
    poison(&domain->ibv, sizeof domain->ibv);
    return 0;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    (void)access;
    uint32_t key = atomic_fetch_add(&next_region, 1);
    if (key >= REGIONS) {
        atomic_store(&next_region, REGIONS);
        errno = ENOMEM;
        return NULL;
    }
    struct region *region = &regions[key];
    region->domain = (struct domain *)pd;
    region->ibv = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length, .lkey = key, .rkey = key};
    mark_live(&region->life, "memory region");
    add_dependent(&region->domain->life);
    return &region->ibv;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    struct region *region = (struct region *)mr;
    mark_dead(&region->life);
    remove_dependent(&region->domain->life);
    poison(&region->ibv, sizeof region->ibv);
    return 0;
}

/* ---- Completions ---- */

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    /* The channel has separate pages, which become inaccessible when it is destroyed. */
    struct channel *channel = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (channel == MAP_FAILED) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    channel->ibv.context = context;
    channel->ibv.fd = ends[0];
    channel->write_fd = ends[1];
    channel->device = (struct device *)context;
    mark_live(&channel->life, "completion channel");
    add_dependent(&channel->device->life);
    return &channel->ibv;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv_channel)
{
    struct channel *channel = (struct channel *)ibv_channel;
    mark_dead(&channel->life);
    remove_dependent(&channel->device->life);
    close(channel->ibv.fd);
    close(channel->write_fd);
    if (mmap(channel, sizeof *channel, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        misuse("completion channel", "cannot be made inaccessible");
    return 0;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int capacity, void *user, struct ibv_comp_channel *channel, int vector)
{
    if (capacity < 1 || vector != 0) {
        errno = EINVAL;
        return NULL;
    }
    struct completion *ring = calloc(capacity, sizeof *ring);
    if (!ring) {
        errno = ENOMEM;
        return NULL;
    }
    struct queue *queue = calloc(1, sizeof *queue);
    queue->ibv.context = context;
    queue->ibv.channel = channel;
    queue->ibv.cq_context = user;
    queue->ibv.cqe = capacity;
    queue->device = (struct device *)context;
    queue->channel = (struct channel *)channel;
    queue->ring = ring;
    queue->capacity = capacity;
    mark_live(&queue->life, "completion queue");
    add_dependent(&queue->device->life);
    if (channel)
        add_dependent(&queue->channel->life);
    return &queue->ibv;
}

enum { WC_STANDARD_FLAGS = 0x7f, QP_INIT_ATTR_PD = 1, QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6 };

static struct ibv_cq *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes)
{
    if ((attributes->wc_flags & ~(uint64_t)WC_STANDARD_FLAGS) || attributes->comp_mask) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    struct ibv_cq *made = ibv_create_cq(context, (int)attributes->cqe, attributes->cq_context, attributes->channel, (int)attributes->comp_vector);
    if (made)
        ((struct queue *)made)->more = (struct ibv_cq_more){
            .start_poll = start_poll, .next_poll = next_poll, .end_poll = end_poll, .read_opcode = read_opcode, .read_vendor_err = read_nothing,
            .read_byte_len = read_byte_len, .read_imm_data = read_nothing, .read_qp_num = read_qp_num, .read_src_qp = read_nothing,
            .read_wc_flags = read_nothing, .read_slid = read_nothing, .read_sl = read_no_byte, .read_dlid_path_bits = read_no_byte};
    return made;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int capacity)
{
    struct queue *queue = (struct queue *)cq;
    acquire(&queue->life);
    if (capacity < 1 || (unsigned)capacity < queue->count) {
        release(&queue->life);
        return EINVAL;
    }
    struct completion *ring = calloc(capacity, sizeof *ring);
    if (!ring) {
        release(&queue->life);
        return ENOMEM;
    }
    for (unsigned i = 0; i < queue->count; i++)
        ring[i] = queue->ring[(queue->first + i) % queue->capacity];
    free(queue->ring);
    queue->ring = ring;
    queue->first = 0;
    queue->capacity = capacity;
    queue->ibv.cqe = capacity;
    release(&queue->life);
    return 0;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
    struct queue *queue = (struct queue *)cq;
    uint64_t event;
    mark_dead(&queue->life);
    /* Discards the events of the queue that no caller has read. */
    if (queue->channel) {
        fcntl(queue->channel->ibv.fd, F_SETFL, O_NONBLOCK);
        while (read(queue->channel->ibv.fd, &event, sizeof event) == sizeof event)
            atomic_fetch_sub(&queue->unacknowledged, 1);
        remove_dependent(&queue->channel->life);
    }
    if (atomic_load(&queue->unacknowledged) != 0)
        misuse("completion queue", "is destroyed with events that no caller acknowledged");
    remove_dependent(&queue->device->life);
    free(queue->ring);
    poison(&queue->ibv, sizeof queue->ibv);
    return 0;
}

/* A channel serves one queue, as in the SDK. */
EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq, void **user)
{
    struct channel *channel = (struct channel *)ibv_channel;
    uint64_t event;
    check(&channel->life);
    if (read(channel->ibv.fd, &event, sizeof event) != sizeof event)
        return -1;
    *cq = (struct ibv_cq *)(uintptr_t)event;
    *user = (*cq)->cq_context;
    return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    struct queue *queue = (struct queue *)cq;
    check(&queue->life);
    if (atomic_fetch_sub(&queue->unacknowledged, count) < count)
        misuse("completion queue", "has fewer unacknowledged events than were acknowledged");
}

/* ---- Shared receive queues ---- */

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes)
{
    struct shared *shared = calloc(1, sizeof *shared);
    shared->ibv.context = pd->context;
    shared->ibv.srq_context = attributes->srq_context;
    shared->ibv.pd = pd;
    shared->domain = (struct domain *)pd;
    shared->max_sge = attributes->attr.max_sge;
    mark_live(&shared->life, "shared receive queue");
    add_dependent(&shared->domain->life);
    return &shared->ibv;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
    struct shared *shared = (struct shared *)srq;
    mark_dead(&shared->life);
    remove_dependent(&shared->domain->life);
    poison(&shared->ibv, sizeof shared->ibv);
    return 0;
}

/* Sets the queue pair that completes the receives. If expected is not NULL, replaces only this queue pair. */
static void set_receiver(struct ibv_srq *srq, struct pair *receiver, struct pair *expected)
{
    struct shared *shared = (struct shared *)srq;
    acquire(&shared->life);
    if (!expected || shared->receiver == expected)
        shared->receiver = receiver;
    release(&shared->life);
}

/* ---- Queue pairs ---- */

/* A queue of this length always fits into memory. */
enum { MAX_WORK_REQUESTS = 1 << 20 };

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
    if (attributes->cap.max_recv_wr > MAX_WORK_REQUESTS || attributes->cap.max_send_wr > MAX_WORK_REQUESTS) {
        errno = EINVAL;
        return NULL;
    }
    struct pair *pair = calloc(1, sizeof *pair);
    pair->ibv.context = pd->context;
    pair->ibv.pd = pd;
    pair->ibv.send_cq = attributes->send_cq;
    pair->ibv.recv_cq = attributes->recv_cq;
    pair->ibv.qp_type = attributes->qp_type;
    pair->ibv.qp_num = atomic_fetch_add(&next_pair, 1) & 0xffffff;
    pair->ibv.state = QPS_RESET;
    pair->domain = (struct domain *)pd;
    pair->sends = (struct queue *)attributes->send_cq;
    pair->receives = (struct queue *)attributes->recv_cq;
    pair->cap = attributes->cap;
    pair->waiting = calloc(attributes->cap.max_recv_wr, sizeof *pair->waiting);
    mark_live(&pair->life, "queue pair");
    add_dependent(&pair->domain->life);
    add_dependent(&pair->sends->life);
    add_dependent(&pair->receives->life);
    if (attributes->srq) {
        pair->ibv.srq = attributes->srq;
        add_dependent(&((struct shared *)attributes->srq)->life);
        set_receiver(attributes->srq, pair, NULL);
    }
    return &pair->ibv;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes)
{
    (void)context;
    if (attributes->comp_mask != (QP_INIT_ATTR_PD | QP_INIT_ATTR_SEND_OPS_FLAGS)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    struct pair *pair = (struct pair *)ibv_create_qp(attributes->pd, (struct ibv_qp_init_attr *)attributes); /* both structures start with the same members */
    if (!pair)
        return NULL;
    pair->requests = calloc(attributes->cap.max_send_wr, sizeof *pair->requests);
    pair->more = (struct ibv_qp_more){
        .wr_atomic_cmp_swp = wr_atomic_cmp_swp, .wr_atomic_fetch_add = wr_atomic_fetch_add, .wr_rdma_read = wr_rdma_read,
        .wr_rdma_write = wr_rdma_write, .wr_rdma_write_imm = wr_rdma_write_imm, .wr_send = wr_send, .wr_send_imm = wr_send_imm,
        .wr_set_ud_addr = wr_set_ud_addr, .wr_set_inline_data = wr_set_inline_data, .wr_set_inline_data_list = wr_set_inline_data_list,
        .wr_set_sge = wr_set_sge, .wr_set_sge_list = wr_set_sge_list, .wr_start = wr_start, .wr_complete = wr_complete, .wr_abort = wr_abort};
    return &pair->ibv;
}

EXPORT struct ibv_qp *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    return ((struct pair *)qp)->requests ? qp : NULL;
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, void *attributes)
{
    struct handle *handle = calloc(1, sizeof *handle);
    (void)attributes;
    handle->ibv.context = pd->context;
    handle->ibv.pd = pd;
    handle->domain = (struct domain *)pd;
    mark_live(&handle->life, "address handle");
    add_dependent(&handle->domain->life);
    return &handle->ibv;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    struct handle *handle = (struct handle *)ah;
    mark_dead(&handle->life);
    remove_dependent(&handle->domain->life);
    poison(&handle->ibv, sizeof handle->ibv);
    return 0;
}

static void discard_completions(struct queue *queue, uint32_t number)
{
    acquire(&queue->life);
    unsigned kept = 0;
    for (unsigned i = 0; i < queue->count; i++) {
        struct completion completion = queue->ring[(queue->first + i) % queue->capacity];
        if (completion.qp_num != number)
            queue->ring[(queue->first + kept++) % queue->capacity] = completion;
    }
    queue->count = kept;
    release(&queue->life);
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask)
{
    struct pair *pair = (struct pair *)qp;
    acquire(&pair->life);
    if (mask & QP_STATE) {
        pair->ibv.state = attributes->qp_state;
        if (attributes->qp_state == QPS_RESET) {
            discard_completions(pair->sends, pair->ibv.qp_num);
            discard_completions(pair->receives, pair->ibv.qp_num);
            pair->waiting_count = 0;
        } else if (attributes->qp_state == QPS_ERR) {
            for (unsigned i = 0; i < pair->waiting_count; i++)
                completed(pair->receives, (struct completion){pair->waiting[i], pair->ibv.qp_num, WC_WR_FLUSH_ERR, WC_RECV, 0});
            pair->waiting_count = 0;
        }
    }
    release(&pair->life);
    return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask, struct ibv_qp_init_attr *initial)
{
    struct pair *pair = (struct pair *)qp;
    (void)mask;
    (void)initial;
    acquire(&pair->life);
    attributes->qp_state = attributes->cur_qp_state = pair->ibv.state;
    attributes->path_mtu = 5;
    attributes->cap = pair->cap;
    release(&pair->life);
    return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct pair *pair = (struct pair *)qp;
    struct ibv_srq *srq = pair->ibv.srq;
    if (srq)
        set_receiver(srq, NULL, pair); /* the shared queue must not use a destroyed queue pair */
    mark_dead(&pair->life);
    discard_completions(pair->sends, pair->ibv.qp_num);
    discard_completions(pair->receives, pair->ibv.qp_num);
    remove_dependent(&pair->sends->life);
    remove_dependent(&pair->receives->life);
    remove_dependent(&pair->domain->life);
    if (srq)
        remove_dependent(&((struct shared *)srq)->life);
    free(pair->waiting);
    free(pair->requests);
    poison(&pair->ibv, sizeof pair->ibv);
    return 0;
}

/* ---- C loops for the comparison ---- */

enum { BATCH = 16 };

/* Posts chains of writes and polls for the completion of each request. Returns the number of successful completions. */
EXPORT uint64_t null_verbs_write_and_poll(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_sge *piece, int chain, uint64_t rounds)
{
    struct ibv_send_wr requests[BATCH] = {0}, *bad;
    struct ibv_wc completions[BATCH];
    uint64_t successes = 0, number = 0;

    for (int i = 0; i < chain; i++) {
        requests[i].sg_list = piece;
        requests[i].num_sge = 1;
        requests[i].send_flags = SEND_SIGNALED;
        requests[i].next = i + 1 < chain ? &requests[i + 1] : NULL;
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < chain; i++)
            requests[i].wr_id = number++;
        if (qp->context->ops.post_send(qp, requests, &bad))
            return 0;
        for (int done = 0; done < chain;) {
            int count = cq->context->ops.poll_cq(cq, BATCH, completions);
            if (count < 0)
                return 0;
            for (int i = 0; i < count; i++)
                successes += completions[i].status == WC_SUCCESS;
            done += count;
        }
    }
    return successes;
}

/* Posts receives one by one and polls for the completion of each. Returns the number of successful completions. */
EXPORT uint64_t null_verbs_receive_and_poll(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_sge *piece, uint64_t rounds)
{
    struct ibv_recv_wr request = {.sg_list = piece, .num_sge = 1}, *bad;
    struct ibv_wc completions[BATCH];
    uint64_t successes = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        request.wr_id = round;
        if (qp->context->ops.post_recv(qp, &request, &bad))
            return 0;
        int count;
        while ((count = cq->context->ops.poll_cq(cq, BATCH, completions)) == 0)
            ;
        if (count < 0)
            return 0;
        for (int i = 0; i < count; i++)
            successes += completions[i].status == WC_SUCCESS;
    }
    return successes;
}

/* Like null_verbs_receive_and_poll, but posts the receives to a shared receive queue. */
EXPORT uint64_t null_verbs_shared_receive_and_poll(struct ibv_srq *srq, struct ibv_cq *cq, struct ibv_sge *piece, uint64_t rounds)
{
    struct ibv_recv_wr request = {.sg_list = piece, .num_sge = 1}, *bad;
    struct ibv_wc completions[BATCH];
    uint64_t successes = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        request.wr_id = round;
        if (srq->context->ops.post_srq_recv(srq, &request, &bad))
            return 0;
        int count;
        while ((count = cq->context->ops.poll_cq(cq, BATCH, completions)) == 0)
            ;
        if (count < 0)
            return 0;
        for (int i = 0; i < count; i++)
            successes += completions[i].status == WC_SUCCESS;
    }
    return successes;
}

/* Like null_verbs_write_and_poll, but uses an extended queue pair and an extended completion queue, whose completions are read field by field. */
EXPORT uint64_t null_verbs_extended_write_and_poll(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_sge *piece, int chain, uint64_t rounds)
{
    struct ibv_qp_more *post = &((struct pair *)qp)->more;
    struct ibv_cq_more *poll = &((struct queue *)cq)->more;
    struct ibv_poll_cq_attr attributes = {0};
    uint64_t successes = 0, number = 0;
    volatile int opcode;

    for (uint64_t round = 0; round < rounds; round++) {
        post->wr_start(qp);
        for (int i = 0; i < chain; i++) {
            post->wr_id = number++;
            post->wr_flags = SEND_SIGNALED;
            post->wr_rdma_write(qp, piece->lkey, piece->addr);
            post->wr_set_sge(qp, piece->lkey, piece->addr, piece->length);
        }
        if (post->wr_complete(qp))
            return 0;
        for (int done = 0; done < chain;) {
            int end = poll->start_poll(cq, &attributes);
            if (end == ENOENT)
                continue;
            for (; end == 0; end = poll->next_poll(cq)) {
                opcode = poll->read_opcode(cq);
                successes += poll->status == WC_SUCCESS;
                done++;
            }
            poll->end_poll(cq);
        }
    }
    (void)opcode;
    return successes;
}

/* Posts datagrams one by one and polls for the completion of each. Returns the number of successful completions. */
EXPORT uint64_t null_verbs_datagram_and_poll(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_sge *piece, struct ibv_ah *handle, uint64_t rounds)
{
    struct ibv_send_wr request = {.sg_list = piece, .num_sge = 1, .opcode = 2, .send_flags = SEND_SIGNALED}, *bad;
    struct ibv_wc completions[BATCH];
    uint64_t successes = 0;

    request.wr.remote_addr = (uint64_t)(uintptr_t)handle; /* at the offset of ud.ah */
    for (uint64_t round = 0; round < rounds; round++) {
        request.wr_id = round;
        if (qp->context->ops.post_send(qp, &request, &bad))
            return 0;
        int count;
        while ((count = cq->context->ops.poll_cq(cq, BATCH, completions)) == 0)
            ;
        if (count < 0)
            return 0;
        for (int i = 0; i < count; i++)
            successes += completions[i].status == WC_SUCCESS;
    }
    return successes;
}
