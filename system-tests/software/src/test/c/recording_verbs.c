/*
 * A libibverbs that records its calls, and returns the results that a test sets. Compiled against the real <infiniband/verbs.h>, so that C reads the
 * structures that Java has written.
 *
 * The library has one device, recording0. Each call is recorded as a line: the name of the function, then each argument and each member of a structure as
 * name=value, with the names of C. An object is recorded as its kind and a number from 1 ("qp1"), as 0 for NULL, and as "unknown" if the pointer is not
 * that of an existing object. No data is transferred. Each request completes immediately, and successfully unless the test has set another status.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

/* ---- The interface for tests ---- */

enum { MANY = 256, TEXT = 1 << 16 };

struct object {
    const void *address; /* NULL after it has been destroyed */
    char name[32];
};

struct script {
    char name[64];
    uint64_t value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object objects[MANY];
static unsigned object_count;
static struct script failures[MANY], answers[MANY];
static unsigned failure_count, answer_count;
static char text[TEXT], taken[TEXT];
static size_t used;
static char caller[16];
static int latest_events; /* the pipe for the events of the device that was opened last */
static __thread char line[1 << 14];

static void script(struct script *scripts, unsigned *count, const char *name, uint64_t value)
{
    pthread_mutex_lock(&lock);
    if (*count == MANY)
        abort();
    snprintf(scripts[*count].name, sizeof(scripts[*count].name), "%s", name);
    scripts[(*count)++].value = value;
    pthread_mutex_unlock(&lock);
}

/* Makes the next call of a function fail. */
void recording_fail(const char *function, int error)
{
    script(failures, &failure_count, function, error);
}

/* Sets the value of a name that is read below. */
void recording_answer(const char *name, uint64_t value)
{
    script(answers, &answer_count, name, value);
}

/* Removes all records and settings. */
void recording_begin(void)
{
    pthread_mutex_lock(&lock);
    object_count = failure_count = answer_count = 0;
    used = 0;
    text[0] = 0;
    pthread_mutex_unlock(&lock);
}

/* Returns the functions that were set to fail and have not been called since. */
const char *recording_unhit(void)
{
    size_t length = 0;

    pthread_mutex_lock(&lock);
    taken[0] = 0;
    for (unsigned i = 0; i < failure_count; i++)
        if (failures[i].name[0])
            length += sprintf(taken + length, "%s\n", failures[i].name);
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Returns the name of the thread that made the last call. */
const char *recording_caller(void)
{
    return caller;
}

/* Returns the records since the last call of this function. */
const char *recording_take(void)
{
    pthread_mutex_lock(&lock);
    memcpy(taken, text, used + 1);
    used = 0;
    text[0] = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Triggers an event of an object, or of a port if there is no such object. */
void recording_event(int type, const char *object, int port)
{
    struct ibv_async_event event = { .event_type = type, .element.port_num = port };

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count; i++)
        if (!strcmp(objects[i].name, object))
            event.element.qp = (struct ibv_qp *)objects[i].address;
    if (write(latest_events, &event, sizeof(event)) != sizeof(event))
        abort();
    pthread_mutex_unlock(&lock);
}

static uint64_t answer(const char *name, uint64_t otherwise)
{
    uint64_t value = otherwise;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < answer_count; i++)
        if (!strcmp(answers[i].name, name))
            value = answers[i].value;
    pthread_mutex_unlock(&lock);
    return value;
}

/* ---- Recording ---- */

static void *named(const char *kind, void *made)
{
    unsigned number = 1;

    pthread_mutex_lock(&lock);
    if (object_count == MANY)
        abort();
    for (unsigned i = 0; i < object_count; i++)
        number += !strncmp(objects[i].name, kind, strlen(kind));
    objects[object_count].address = made;
    snprintf(objects[object_count++].name, sizeof(objects[0].name), "%s%u", kind, number);
    pthread_mutex_unlock(&lock);
    return made;
}

/* Objects are never freed, so that their addresses are not used again. */
static void *make(const char *kind, size_t bytes)
{
    return named(kind, calloc(1, bytes));
}

static const char *name(const void *address)
{
    const char *found = "unknown";

    if (!address)
        return "0";
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count; i++)
        if (objects[i].address == address)
            found = objects[i].name;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Destroys an object, and returns the errno. */
static int gone(const void *address, int error)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count && !error; i++)
        if (objects[i].address == address)
            objects[i].address = NULL;
    pthread_mutex_unlock(&lock);
    return error;
}

/* Appends text to the line that this thread is building and records later. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t length = strlen(line);
    va_list arguments;

    va_start(arguments, format);
    if (length + vsnprintf(line + length, sizeof(line) - length, format, arguments) >= sizeof(line))
        abort();
    va_end(arguments);
}

static void say_bytes(const char *label, const void *bytes, size_t count)
{
    say(" %s=", label);
    for (size_t i = 0; i < count; i++)
        say("%02x", ((const uint8_t *)bytes)[i]);
}

/* Appends the elements of a scatter/gather list to the line, and returns their total length in bytes. */
static uint32_t say_pieces(const struct ibv_sge *pieces, int count)
{
    uint32_t bytes = 0;

    for (int i = 0; i < count; i++) {
        say(" {addr=0x%lx length=%u lkey=0x%x}", pieces[i].addr, pieces[i].length, pieces[i].lkey);
        bytes += pieces[i].length;
    }
    return bytes;
}

/* Records the line, and returns the errno that the test has set for the function, or 0. */
static int recorded(void)
{
    size_t function = strcspn(line, " ");
    int error = 0;

    pthread_mutex_lock(&lock);
    if (used + strlen(line) + 2 > TEXT)
        abort();
    used += sprintf(text + used, "%s\n", line);
    pthread_getname_np(pthread_self(), caller, sizeof(caller));
    for (unsigned i = 0; i < failure_count && !error; i++)
        if (strlen(failures[i].name) == function && !strncmp(failures[i].name, line, function)) {
            error = failures[i].value;
            failures[i].name[0] = 0;
        }
    pthread_mutex_unlock(&lock);
    line[0] = 0;
    return error;
}

#define RECORD(...) (say(__VA_ARGS__), recorded())
#define RECORD_OR_NULL(...)                                                                                                                            \
    do {                                                                                                                                               \
        int error = RECORD(__VA_ARGS__);                                                                                                               \
        if (error) {                                                                                                                                   \
            errno = error;                                                                                                                             \
            return NULL;                                                                                                                               \
        }                                                                                                                                              \
    } while (0)

/* ---- Devices ---- */

static struct ibv_device device = {
    .node_type = IBV_NODE_CA,
    .name = "recording0",
    .dev_name = "uverbs0",
};

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(2, sizeof(*list));

    device.transport_type = answer("transport_type", IBV_TRANSPORT_IB);
    list[0] = &device;
    *count = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

__be64 ibv_get_device_guid(struct ibv_device *of)
{
    return of == &device ? 0x0100000000000000 : 0;
}

int ibv_get_device_index(struct ibv_device *of)
{
    return of == &device ? (int)answer("device_index", 7) : -1;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr, size_t size)
{
    (void)context, (void)input;
    memset(attr, 0, size);
    attr->orig_attr.phys_port_cnt = 2;
    attr->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
    attr->odp_caps.per_transport_caps.rc_odp_caps = 1;
    attr->odp_caps.per_transport_caps.uc_odp_caps = 2;
    attr->odp_caps.per_transport_caps.ud_odp_caps = 3;
    attr->xrc_odp_caps = 4;
    attr->completion_timestamp_mask = 5;
    attr->hca_core_clock = 6;
    attr->tso_caps = (struct ibv_tso_caps){ .max_tso = 7, .supported_qpts = 8 };
    attr->rss_caps = (struct ibv_rss_caps){
        .supported_qpts = 9,
        .max_rwq_indirection_tables = 10,
        .max_rwq_indirection_table_size = 11,
        .rx_hash_fields_mask = 0x100000000000000c,
        .rx_hash_function = 0xfd,
    };
    attr->max_wq_type_rq = 14;
    attr->packet_pacing_caps = (struct ibv_packet_pacing_caps){ .qp_rate_limit_min = 15, .qp_rate_limit_max = 0xfffffff0, .supported_qpts = 17 };
    attr->tm_caps = (struct ibv_tm_caps){ .max_rndv_hdr_size = 18, .max_num_tags = 19, .flags = 20, .max_ops = 21, .max_sge = 22 };
    attr->cq_mod_caps = (struct ibv_cq_moderation_caps){ .max_cq_count = 0xffe7, .max_cq_period = 0xffe8 };
    attr->max_dm_size = 25;
    attr->raw_packet_caps = 26;
    attr->device_cap_flags_ex = 0x200000000000001b;
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    (void)context;
    if (port > 2)
        return EINVAL;
    memset(attr, 0, size);
    attr->state = IBV_PORT_ACTIVE;
    attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
    attr->gid_tbl_len = 1;
    attr->pkey_tbl_len = 1;
    attr->lid = 0x10 + port;
    attr->link_layer = answer("link_layer", IBV_LINK_LAYER_INFINIBAND);
    return 0;
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    return RECORD("ibv_modify_qp_rate_limit qp=%s rate_limit=%u max_burst_sz=%u typical_pkt_sz=%u comp_mask=%u", name(qp), attr->rate_limit,
                  attr->max_burst_sz, attr->typical_pkt_sz, attr->comp_mask);
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *pieces, uint32_t count);
static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned int access);
static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
static int free_dm(struct ibv_dm *dm);
static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static int destroy_flow(struct ibv_flow *flow);
static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr);
static int destroy_counters(struct ibv_counters *counters);
static int attach_counters(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow);
static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags);
static struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions);
static int req_notify_cq(struct ibv_cq *cq, int solicited);
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);
static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
static int close_xrcd(struct ibv_xrcd *xrcd);
static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
static int get_srq_num(struct ibv_srq *srq, uint32_t *number);
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd);

struct opened {
    struct verbs_context verbs;
    int events;
};

/* The provider does not have the functions that a test sets to 0. */
#define OFFER(member, function) (context->member = answer("offers " #member, 1) ? (function) : NULL)

static struct ibv_context *new_context(int cmd_fd)
{
    struct opened *opened = calloc(1, sizeof(*opened));
    struct verbs_context *context = &opened->verbs;
    int ends[2];

    named("device", &context->context);
    context->sz = sizeof(*context);
    context->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    context->context.device = &device;
    context->context.cmd_fd = cmd_fd;
    context->context.num_comp_vectors = 1;
    context->context.ops.poll_cq = poll_cq;
    context->context.ops.req_notify_cq = req_notify_cq;
    context->context.ops.post_send = post_send;
    context->context.ops.post_recv = post_recv;
    context->context.ops.post_srq_recv = post_srq_recv;
    OFFER(query_device_ex, query_device_ex);
    OFFER(query_port, query_port);
    OFFER(modify_qp_rate_limit, modify_qp_rate_limit);
    OFFER(ibv_create_flow, create_flow);
    OFFER(ibv_destroy_flow, destroy_flow);
    OFFER(create_counters, create_counters);
    OFFER(destroy_counters, destroy_counters);
    OFFER(attach_counters_point_flow, attach_counters);
    OFFER(read_counters, read_counters);
    OFFER(create_qp_ex, create_qp_ex);
    OFFER(alloc_parent_domain, alloc_parent_domain);
    OFFER(advise_mr, advise_mr);
    OFFER(alloc_dm, alloc_dm);
    OFFER(free_dm, free_dm);
    OFFER(reg_dm_mr, reg_dm_mr);
    OFFER(open_qp, open_qp);
    OFFER(open_xrcd, open_xrcd);
    OFFER(close_xrcd, close_xrcd);
    OFFER(create_srq_ex, create_srq_ex);
    OFFER(get_srq_num, get_srq_num);
    OFFER(create_cq_ex, create_cq_ex);
    OFFER(alloc_null_mr, alloc_null_mr);
    if (pipe2(ends, O_CLOEXEC))
        abort();
    context->context.async_fd = ends[0];
    pthread_mutex_lock(&lock);
    opened->events = latest_events = ends[1];
    pthread_mutex_unlock(&lock);
    return &context->context;
}

static const char *file_of(int descriptor, char *file, size_t size)
{
    char link[64];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    length = readlink(link, file, size - 1);
    file[length < 0 ? 0 : length] = 0;
    return file;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    RECORD_OR_NULL("ibv_open_device device=%s", of->name);
    return new_context(open("/dev/null", O_RDWR | O_CLOEXEC));
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
    char file[256];

    RECORD_OR_NULL("ibv_import_device file=%s fd_flags=%d", file_of(cmd_fd, file, sizeof(file)), fcntl(cmd_fd, F_GETFD));
    return new_context(cmd_fd);
}

int ibv_close_device(struct ibv_context *context)
{
    struct opened *opened = (struct opened *)verbs_get_ctx(context);

    errno = gone(context, RECORD("ibv_close_device context=%s", name(context)));
    if (errno)
        return -1;
    close(context->cmd_fd);
    close(context->async_fd);
    close(opened->events);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof(*attr));
    attr->phys_port_cnt = 2;
    attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 1;
    attr->device_cap_flags = answer("device_cap_flags", 0);
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
    (void)context, (void)port, (void)attr;
    return EOPNOTSUPP; /* verbs.h calls this symbol only if the library is older than the header */
}

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
    *port_speed = answer("port_speed", 4000);
    return RECORD("ibv_query_port_speed context=%s port_num=%u", name(context), port_num);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    (void)context, (void)index;
    memset(gid, 0, sizeof(*gid));
    gid->raw[0] = 0xfe;
    gid->raw[1] = 0x80;
    gid->raw[15] = port;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
    (void)context, (void)port, (void)index;
    *key = 0xffff;
    return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    return read(context->async_fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}

/* ---- Memory ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd;

    RECORD_OR_NULL("ibv_alloc_pd context=%s", name(context));
    pd = make("pd", sizeof(*pd));
    pd->context = context;
    pd->handle = answer("pd_handle", 1000);
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    return gone(pd, RECORD("ibv_dealloc_pd pd=%s", name(pd)));
}

struct parent {
    struct ibv_pd pd;
    struct ibv_parent_domain_init_attr attr;
};

static bool is_parent(const struct ibv_pd *pd)
{
    return !strncmp(name(pd), "parent", 6);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
    struct parent *parent;

    RECORD_OR_NULL("alloc_parent_domain context=%s pd=%s td=%s comp_mask=0x%x", name(context), name(attr->pd), name(attr->td), attr->comp_mask);
    parent = make("parent", sizeof(*parent));
    parent->pd.context = context;
    parent->attr = *attr;
    return &parent->pd;
}

enum { BUFFER = 4096, BUFFER_ALIGNMENT = 64, BUFFER_RESOURCE = 0x51 };

/* Calls the allocator of a parent domain, and fills the allocated memory with 0x5a. */
static void *alloc_buffer(struct ibv_pd *pd)
{
    struct parent *parent = (struct parent *)pd;
    void *buffer;

    if (!is_parent(pd) || !(parent->attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS))
        return IBV_ALLOCATOR_USE_DEFAULT;
    buffer = parent->attr.alloc(pd, parent->attr.pd_context, BUFFER, BUFFER_ALIGNMENT, BUFFER_RESOURCE);
    if (buffer && buffer != IBV_ALLOCATOR_USE_DEFAULT)
        memset(buffer, 0x5a, BUFFER);
    return buffer;
}

static void free_buffer(struct ibv_pd *pd, void *buffer)
{
    struct parent *parent = (struct parent *)pd;

    if (buffer != IBV_ALLOCATOR_USE_DEFAULT)
        parent->attr.free(pd, parent->attr.pd_context, buffer, BUFFER_RESOURCE);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
    struct ibv_pd *pd;

    RECORD_OR_NULL("ibv_import_pd context=%s pd_handle=%u", name(context), pd_handle);
    pd = make("pd", sizeof(*pd));
    pd->context = context;
    pd->handle = pd_handle;
    return pd;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
    gone(pd, RECORD("ibv_unimport_pd pd=%s", name(pd)));
}

static struct ibv_mr *new_mr(struct ibv_pd *pd, void *addr, size_t length, uint32_t handle)
{
    /* A test may shift the address, so that the structure is misaligned and Java must not read it. */
    struct ibv_mr *mr = named("mr", (char *)calloc(2, sizeof(*mr)) + answer("mr_misplaced_by", 0));

    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = addr;
    mr->length = length;
    mr->handle = handle;
    mr->lkey = answer("lkey", 0x11);
    mr->rkey = answer("rkey", 0x22);
    return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    RECORD_OR_NULL("ibv_reg_mr pd=%s addr=%p length=%zu access=0x%x", name(pd), addr, length, access);
    return new_mr(pd, addr, length, answer("mr_handle", 2000));
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    RECORD_OR_NULL("ibv_reg_dmabuf_mr pd=%s offset=0x%lx length=%zu iova=0x%lx fd=%d access=0x%x", name(pd), offset, length, iova, fd, access);
    return new_mr(pd, (void *)(uintptr_t)offset, length, answer("mr_handle", 2000));
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    RECORD_OR_NULL("ibv_alloc_null_mr pd=%s", name(pd));
    return new_mr(pd, NULL, 0, answer("mr_handle", 2000));
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    return gone(mr, RECORD("ibv_dereg_mr mr=%s", name(mr)));
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
    RECORD_OR_NULL("ibv_import_mr pd=%s mr_handle=%u", name(pd), mr_handle);
    return new_mr(pd, NULL, answer("imported_length", 4096), mr_handle);
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
    gone(mr, RECORD("ibv_unimport_mr mr=%s", name(mr)));
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *pieces, uint32_t count)
{
    say("ibv_advise_mr pd=%s advice=%d flags=0x%x num_sge=%u", name(pd), advice, flags, count);
    say_pieces(pieces, count);
    return recorded();
}

static struct ibv_dm *new_dm(struct ibv_context *context, uint32_t handle)
{
    struct ibv_dm *dm = make("dm", sizeof(*dm));

    dm->context = context;
    dm->handle = handle;
    return dm;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    RECORD_OR_NULL("ibv_alloc_dm context=%s length=%zu log_align_req=%u comp_mask=%u", name(context), attr->length, attr->log_align_req, attr->comp_mask);
    return new_dm(context, answer("dm_handle", 3000));
}

static int free_dm(struct ibv_dm *dm)
{
    return gone(dm, RECORD("ibv_free_dm dm=%s", name(dm)));
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned int access)
{
    RECORD_OR_NULL("ibv_reg_dm_mr pd=%s dm=%s dm_offset=%lu length=%zu access=0x%x", name(pd), name(dm), offset, length, access);
    return new_mr(pd, NULL, length, answer("mr_handle", 2000));
}

int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
    errno = RECORD("ibv_dm_export_dmabuf_fd dm=%s", name(dm));
    return errno ? -1 : eventfd(0, EFD_CLOEXEC);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
    RECORD_OR_NULL("ibv_import_dm context=%s dm_handle=%u", name(context), dm_handle);
    return new_dm(context, dm_handle);
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
    gone(dm, RECORD("ibv_unimport_dm dm=%s", name(dm)));
}

/* ---- Completion queues ---- */

struct queue {
    union {
        struct ibv_cq ibv;
        struct ibv_cq_ex extended;
    };
    struct ibv_wc ring[MANY];
    unsigned first, end;
    struct ibv_wc current; /* the completion that start_poll or next_poll has read last */
};

static void complete(struct ibv_cq *cq, struct ibv_wc completion)
{
    struct queue *queue = (struct queue *)cq;

    if (!completion.status)
        completion.status = answer("wc_status", IBV_WC_SUCCESS);
    if (completion.status)
        completion.vendor_err = answer("vendor_err", 0);
    completion.wc_flags = answer("wc_flags", 0);
    pthread_mutex_lock(&lock);
    if (queue->end - queue->first == MANY)
        abort();
    queue->ring[queue->end++ % MANY] = completion;
    pthread_mutex_unlock(&lock);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = make("channel", sizeof(*channel));

    channel->context = context;
    channel->fd = eventfd(0, EFD_CLOEXEC);
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    return gone(channel, 0);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int comp_vector)
{
    struct queue *queue;

    RECORD_OR_NULL("ibv_create_cq context=%s cqe=%d channel=%s comp_vector=%d", name(context), cqe, name(channel), comp_vector);
    queue = make("cq", sizeof(*queue));
    queue->ibv.context = context;
    queue->ibv.cq_context = cq_context;
    queue->ibv.channel = channel;
    queue->ibv.cqe = cqe;
    return &queue->ibv;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    return RECORD("ibv_resize_cq cq=%s cqe=%d", name(cq), cqe);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    return gone(cq, RECORD("ibv_destroy_cq cq=%s", name(cq)));
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    (void)channel, (void)cq, (void)cq_context;
    errno = EAGAIN;
    return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    (void)cq, (void)count;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions)
{
    struct queue *queue = (struct queue *)cq;
    int polled = 0;

    pthread_mutex_lock(&lock);
    while (polled < count && queue->first != queue->end)
        completions[polled++] = queue->ring[queue->first++ % MANY];
    pthread_mutex_unlock(&lock);
    return polled;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    (void)cq, (void)solicited;
    return 0;
}

static int next_poll(struct ibv_cq_ex *cq)
{
    struct queue *queue = (struct queue *)cq;

    if (!poll_cq(&queue->ibv, 1, &queue->current))
        return ENOENT;
    cq->wr_id = queue->current.wr_id;
    cq->status = queue->current.status;
    return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    return attr->comp_mask ? EINVAL : next_poll(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
    (void)cq;
}

#define READ(type, name, value)                                                                                                                        \
    static type read_##name(struct ibv_cq_ex *cq)                                                                                                      \
    {                                                                                                                                                  \
        const struct ibv_wc *current = &((struct queue *)cq)->current;                                                                                 \
                                                                                                                                                       \
        (void)current;                                                                                                                                 \
        return value;                                                                                                                                  \
    }
READ(enum ibv_wc_opcode, opcode, current->opcode)
READ(uint32_t, vendor_err, current->vendor_err)
READ(uint32_t, byte_len, current->byte_len)
READ(__be32, imm_data, current->imm_data)
READ(uint32_t, qp_num, current->qp_num)
READ(uint32_t, src_qp, current->src_qp)
READ(unsigned int, wc_flags, current->wc_flags)
READ(uint32_t, slid, current->slid)
READ(uint8_t, sl, current->sl)
READ(uint8_t, dlid_path_bits, current->dlid_path_bits)
READ(uint16_t, cvlan, answer("cvlan", 0))
READ(uint32_t, flow_tag, answer("flow_tag", 0))

/* A queue that is polled by its own functions. */
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    struct queue *queue;

    RECORD_OR_NULL("ibv_create_cq_ex context=%s cqe=%u channel=%s comp_vector=%u wc_flags=0x%lx comp_mask=0x%x flags=0x%x", name(context), attr->cqe,
                   name(attr->channel), attr->comp_vector, attr->wc_flags, attr->comp_mask, attr->flags);
    queue = make("cq", sizeof(*queue));
    queue->ibv.context = context;
    queue->ibv.channel = attr->channel;
    queue->ibv.cqe = attr->cqe;
    queue->extended.start_poll = start_poll;
    queue->extended.next_poll = next_poll;
    queue->extended.end_poll = end_poll;
    queue->extended.read_opcode = read_opcode;
    queue->extended.read_vendor_err = read_vendor_err;
    queue->extended.read_byte_len = read_byte_len;
    queue->extended.read_imm_data = read_imm_data;
    queue->extended.read_qp_num = read_qp_num;
    queue->extended.read_src_qp = read_src_qp;
    queue->extended.read_wc_flags = read_wc_flags;
    queue->extended.read_slid = read_slid;
    queue->extended.read_sl = read_sl;
    queue->extended.read_dlid_path_bits = read_dlid_path_bits;
    queue->extended.read_cvlan = read_cvlan;
    queue->extended.read_flow_tag = read_flow_tag;
    return &queue->extended;
}

/* ---- Queue pairs ---- */

struct pair {
    union {
        struct ibv_qp ibv;
        struct ibv_qp_ex extended;
    };
    void *buffer; /* memory from the allocator of the parent domain */
    struct ibv_qp_attr modified; /* the attributes of the last change, which a query returns */
    struct ibv_qp_cap cap;
};

static void say_cap(const struct ibv_qp_cap *cap)
{
    say(" max_send_wr=%u max_recv_wr=%u max_send_sge=%u max_recv_sge=%u max_inline_data=%u", cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge,
        cap->max_recv_sge, cap->max_inline_data);
}

static void say_address(const char *label, const struct ibv_ah_attr *address)
{
    say(" %s={dlid=0x%x sl=%u src_path_bits=%u static_rate=%u port_num=%u is_global=%u", label, address->dlid, address->sl, address->src_path_bits,
        address->static_rate, address->port_num, address->is_global);
    if (address->is_global) {
        say_bytes("dgid", address->grh.dgid.raw, sizeof(address->grh.dgid.raw));
        say(" flow_label=0x%x sgid_index=%u hop_limit=%u traffic_class=%u", address->grh.flow_label, address->grh.sgid_index, address->grh.hop_limit,
            address->grh.traffic_class);
    }
    say("}");
}

static void say_init_attr(const struct ibv_qp_init_attr *attr)
{
    say(" send_cq=%s recv_cq=%s srq=%s qp_type=%d sq_sig_all=%d", name(attr->send_cq), name(attr->recv_cq), name(attr->srq), attr->qp_type,
        attr->sq_sig_all);
    say_cap(&attr->cap);
}

static struct pair *new_pair(struct ibv_context *context, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    struct pair *pair;

    void *buffer;

    errno = recorded();
    if (errno)
        return NULL;
    buffer = alloc_buffer(pd);
    if (!buffer) {
        errno = ENOMEM;
        return NULL;
    }
    pair = make("qp", sizeof(*pair));
    pair->buffer = buffer;
    pair->ibv.context = context;
    pair->ibv.pd = pd;
    pair->ibv.send_cq = attr->send_cq;
    pair->ibv.recv_cq = attr->recv_cq;
    pair->ibv.srq = attr->srq;
    pair->ibv.qp_type = attr->qp_type;
    pair->ibv.qp_num = 0x100;
    pair->cap = attr->cap;
    return pair;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    say("ibv_create_qp pd=%s", name(pd));
    say_init_attr(attr);
    return (struct ibv_qp *)new_pair(pd->context, pd, attr);
}

static void wr_start(struct ibv_qp_ex *qp)
{
    RECORD("ibv_wr_start qp=%s", name(qp));
}

static void wr_send(struct ibv_qp_ex *qp)
{
    RECORD("ibv_wr_send qp=%s wr_flags=0x%x", name(qp), qp->wr_flags);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
    RECORD("ibv_wr_set_xrc_srqn qp=%s remote_srqn=0x%x", name(qp), remote_srqn);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    RECORD("ibv_wr_set_sge qp=%s lkey=0x%x addr=0x%lx length=%u", name(qp), lkey, addr, length);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
    return RECORD("ibv_wr_complete qp=%s", name(qp));
}

/* Creates an ibv_qp_ex, which has functions that post sends. */
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct pair *pair;

    say("ibv_create_qp_ex context=%s pd=%s comp_mask=0x%x send_ops_flags=0x%lx", name(context), name(attr->pd), attr->comp_mask, attr->send_ops_flags);
    say_init_attr((const struct ibv_qp_init_attr *)attr); /* ibv_qp_init_attr_ex begins with the members of ibv_qp_init_attr */
    if (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD)
        say(" xrcd=%s", name(attr->xrcd));
    pair = new_pair(context, attr->pd, (const struct ibv_qp_init_attr *)attr);
    if (!pair)
        return NULL;
    pair->extended.wr_start = wr_start;
    pair->extended.wr_send = wr_send;
    pair->extended.wr_set_xrc_srqn = wr_set_xrc_srqn;
    pair->extended.wr_set_sge = wr_set_sge;
    pair->extended.wr_complete = wr_complete;
    return &pair->ibv;
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    struct ibv_qp_init_attr opened = { .qp_type = attr->qp_type };
    struct pair *pair;

    say("ibv_open_qp context=%s comp_mask=0x%x qp_num=0x%x xrcd=%s qp_type=%d", name(context), attr->comp_mask, attr->qp_num, name(attr->xrcd),
        attr->qp_type);
    pair = new_pair(context, NULL, &opened);
    if (!pair)
        return NULL;
    pair->modified.port_num = answer("opened_port", 0);
    return &pair->ibv;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    struct pair *pair = (struct pair *)qp;

    return pair->extended.wr_start && answer("qp_to_qp_ex", 1) ? &pair->extended : NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    struct pair *pair = (struct pair *)qp;
    int error;

    say("ibv_modify_qp qp=%s attr_mask=0x%x", name(qp), mask);
#define SAY(flag, member)                                                                                                                              \
    if (mask & (flag))                                                                                                                                 \
    say(" " #member "=%u", attr->member)
    SAY(IBV_QP_STATE, qp_state);
    SAY(IBV_QP_CUR_STATE, cur_qp_state);
    SAY(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
    SAY(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    SAY(IBV_QP_PKEY_INDEX, pkey_index);
    SAY(IBV_QP_PORT, port_num);
    SAY(IBV_QP_QKEY, qkey);
    SAY(IBV_QP_PATH_MTU, path_mtu);
    SAY(IBV_QP_TIMEOUT, timeout);
    SAY(IBV_QP_RETRY_CNT, retry_cnt);
    SAY(IBV_QP_RNR_RETRY, rnr_retry);
    SAY(IBV_QP_RQ_PSN, rq_psn);
    SAY(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    SAY(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    SAY(IBV_QP_SQ_PSN, sq_psn);
    SAY(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    SAY(IBV_QP_PATH_MIG_STATE, path_mig_state);
    SAY(IBV_QP_DEST_QPN, dest_qp_num);
    SAY(IBV_QP_RATE_LIMIT, rate_limit);
#undef SAY
    if (mask & IBV_QP_AV)
        say_address("ah_attr", &attr->ah_attr);
    if (mask & IBV_QP_ALT_PATH) {
        say_address("alt_ah_attr", &attr->alt_ah_attr);
        say(" alt_pkey_index=%u alt_port_num=%u alt_timeout=%u", attr->alt_pkey_index, attr->alt_port_num, attr->alt_timeout);
    }
    error = recorded();
    if (!error) {
        if (mask & IBV_QP_STATE)
            qp->state = attr->qp_state;
        pair->modified = *attr;
    }
    return error;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *initial)
{
    struct pair *pair = (struct pair *)qp;

    (void)initial;
    memset(attr, answer("unwritten", 0), sizeof(*attr)); /* like a driver that sets as few fields as possible */
    if (!answer("unwritten", 0))
        *attr = pair->modified;
    attr->qp_state = qp->state;
    attr->cap = pair->cap;
    return RECORD("ibv_query_qp qp=%s attr_mask=0x%x", name(qp), mask);
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    return RECORD("ibv_query_qp_data_in_order qp=%s op=%d flags=0x%x", name(qp), op, flags) ? 0 : answer("data_in_order", 0);
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    return RECORD("ibv_set_ece qp=%s vendor_id=0x%x options=0x%x comp_mask=%u", name(qp), ece->vendor_id, ece->options, ece->comp_mask);
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    ece->vendor_id = answer("ece_vendor_id", 0);
    ece->options = answer("ece_options", 0);
    return RECORD("ibv_query_ece qp=%s comp_mask=%u", name(qp), ece->comp_mask);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    int error = gone(qp, RECORD("ibv_destroy_qp qp=%s", name(qp)));

    if (!error)
        free_buffer(qp->pd, ((struct pair *)qp)->buffer);
    return error;
}

enum { ETHERNET_HEADER = 14 };

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    for (; request; request = request->next) {
        uint32_t bytes;
        int error;

        say("ibv_post_send qp=%s opcode=%d send_flags=0x%x", name(qp), request->opcode, request->send_flags);
        if (request->opcode == IBV_WR_RDMA_WRITE || request->opcode == IBV_WR_RDMA_READ)
            say(" remote_addr=0x%lx rkey=0x%x", request->wr.rdma.remote_addr, request->wr.rdma.rkey);
        if (qp->qp_type == IBV_QPT_UD)
            say(" ah=%s remote_qpn=0x%x remote_qkey=0x%x", name(request->wr.ud.ah), request->wr.ud.remote_qpn, request->wr.ud.remote_qkey);
        if (qp->qp_type == IBV_QPT_XRC_SEND)
            say(" remote_srqn=0x%x", request->qp_type.xrc.remote_srqn);
        bytes = say_pieces(request->sg_list, request->num_sge);
        error = recorded();
        if (!error && qp->qp_type == IBV_QPT_RAW_PACKET && bytes < ETHERNET_HEADER)
            error = EINVAL; /* mlx5 also rejects such a frame, because it copies the Ethernet header from the frame */
        if (error) {
            *bad = request;
            return error;
        }
        if (request->send_flags & IBV_SEND_SIGNALED)
            complete(qp->send_cq, (struct ibv_wc){ .wr_id = request->wr_id,
                                                   .status = qp->state == IBV_QPS_ERR ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS,
                                                   .qp_num = qp->qp_num,
                                                   .opcode = IBV_WC_SEND });
    }
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    for (; request; request = request->next) {
        uint32_t bytes;
        int error;

        say("ibv_post_recv qp=%s", name(qp));
        bytes = say_pieces(request->sg_list, request->num_sge);
        error = recorded();
        if (error) {
            *bad = request;
            return error;
        }
        complete(qp->recv_cq, (struct ibv_wc){ .wr_id = request->wr_id, .qp_num = qp->qp_num, .opcode = IBV_WC_RECV, .byte_len = bytes });
    }
    return 0;
}

/* ---- XRC ---- */

struct shared {
    struct ibv_srq ibv;
    struct ibv_cq *cq;
};

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    char file[256] = "none";
    struct ibv_xrcd *xrcd;

    if (attr->fd != -1)
        file_of(attr->fd, file, sizeof(file));
    RECORD_OR_NULL("ibv_open_xrcd context=%s comp_mask=0x%x file=%s oflags=0x%x", name(context), attr->comp_mask, file, attr->oflags);
    xrcd = make("xrcd", sizeof(*xrcd));
    xrcd->context = context;
    return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    return gone(xrcd, RECORD("ibv_close_xrcd xrcd=%s", name(xrcd)));
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    struct shared *shared;

    RECORD_OR_NULL("ibv_create_srq_ex context=%s max_wr=%u max_sge=%u srq_limit=%u comp_mask=0x%x srq_type=%d pd=%s xrcd=%s cq=%s", name(context),
                   attr->attr.max_wr, attr->attr.max_sge, attr->attr.srq_limit, attr->comp_mask, attr->srq_type, name(attr->pd), name(attr->xrcd),
                   name(attr->cq));
    shared = make("srq", sizeof(*shared));
    shared->ibv.context = context;
    shared->ibv.pd = attr->pd;
    shared->cq = attr->cq;
    return &shared->ibv;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    *number = answer("srq_num", 0x200);
    return RECORD("ibv_get_srq_num srq=%s", name(srq));
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    return RECORD("ibv_modify_srq srq=%s mask=0x%x max_wr=%u srq_limit=%u", name(srq), mask, attr->max_wr, attr->srq_limit);
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->max_wr = attr->max_sge = 1;
    return RECORD("ibv_query_srq srq=%s", name(srq));
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    return gone(srq, RECORD("ibv_destroy_srq srq=%s", name(srq)));
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    for (; request; request = request->next) {
        uint32_t bytes;
        int error;

        say("ibv_post_srq_recv srq=%s", name(srq));
        bytes = say_pieces(request->sg_list, request->num_sge);
        error = recorded();
        if (error) {
            *bad = request;
            return error;
        }
        complete(((struct shared *)srq)->cq, (struct ibv_wc){ .wr_id = request->wr_id, .qp_num = 0x100, .opcode = IBV_WC_RECV, .byte_len = bytes });
    }
    return 0;
}

/* ---- Flows and counters ---- */

/* Records the members of a specification as value/mask. */
#define BYTES(of, member)                                                                                                                              \
    do {                                                                                                                                               \
        say_bytes(#member, &spec->of.val.member, sizeof(spec->of.val.member));                                                                         \
        say("/");                                                                                                                                      \
        for (size_t i = 0; i < sizeof(spec->of.mask.member); i++)                                                                                      \
            say("%02x", ((const uint8_t *)&spec->of.mask.member)[i]);                                                                                  \
    } while (0)
#define BYTE(of, member) say(" " #member "=0x%x/0x%x", spec->of.val.member, spec->of.mask.member)
#define SHORT(of, member) say(" " #member "=0x%x/0x%x", ntohs(spec->of.val.member), ntohs(spec->of.mask.member))
#define WORD(of, member) say(" " #member "=0x%x/0x%x", ntohl(spec->of.val.member), ntohl(spec->of.mask.member))

/* Returns EINVAL, like the kernel, if a mask has bits outside of its field. */
static int say_spec(const struct ibv_flow_spec *spec)
{
    uint32_t beyond = 0;

    say(" {type=0x%x size=%u", spec->hdr.type, spec->hdr.size);
    switch ((int)spec->hdr.type & ~IBV_FLOW_SPEC_INNER) {
    case IBV_FLOW_SPEC_ETH:
        BYTES(eth, dst_mac);
        BYTES(eth, src_mac);
        SHORT(eth, ether_type);
        SHORT(eth, vlan_tag);
        break;
    case IBV_FLOW_SPEC_IPV4:
        WORD(ipv4, src_ip);
        WORD(ipv4, dst_ip);
        break;
    case IBV_FLOW_SPEC_IPV4_EXT:
        WORD(ipv4_ext, src_ip);
        WORD(ipv4_ext, dst_ip);
        BYTE(ipv4_ext, proto);
        BYTE(ipv4_ext, tos);
        BYTE(ipv4_ext, ttl);
        BYTE(ipv4_ext, flags);
        break;
    case IBV_FLOW_SPEC_IPV6:
        BYTES(ipv6, src_ip);
        BYTES(ipv6, dst_ip);
        WORD(ipv6, flow_label);
        beyond = ntohl(spec->ipv6.val.flow_label | spec->ipv6.mask.flow_label) >> 20;
        BYTE(ipv6, next_hdr);
        BYTE(ipv6, traffic_class);
        BYTE(ipv6, hop_limit);
        break;
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
        SHORT(tcp_udp, dst_port);
        SHORT(tcp_udp, src_port);
        break;
    case IBV_FLOW_SPEC_VXLAN_TUNNEL:
        WORD(tunnel, tunnel_id);
        beyond = ntohl(spec->tunnel.val.tunnel_id | spec->tunnel.mask.tunnel_id) >> 24;
        break;
    case IBV_FLOW_SPEC_GRE:
        SHORT(gre, c_ks_res0_ver);
        SHORT(gre, protocol);
        WORD(gre, key);
        break;
    case IBV_FLOW_SPEC_MPLS:
        WORD(mpls, label);
        break;
    case IBV_FLOW_SPEC_ESP:
        WORD(esp, spi);
        WORD(esp, seq);
        break;
    case IBV_FLOW_SPEC_ACTION_TAG:
        say(" tag_id=0x%x", spec->flow_tag.tag_id);
        break;
    case IBV_FLOW_SPEC_ACTION_COUNT:
        say(" counters=%s", name(spec->flow_count.counters));
        break;
    }
    say("}");
    return beyond ? EINVAL : 0;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    const uint8_t *next = (const uint8_t *)(attr + 1), *end = (const uint8_t *)attr + attr->size;
    struct ibv_flow *flow;
    int error = 0;

    say("ibv_create_flow qp=%s comp_mask=%u type=%d priority=%u port=%u flags=0x%x", name(qp), attr->comp_mask, attr->type, attr->priority, attr->port,
        attr->flags);
    for (int i = 0; i < attr->num_of_specs; i++) {
        struct ibv_flow_spec spec; /* a copy, because the specifications in the attributes are not aligned */
        uint16_t size = ((const struct ibv_flow_spec *)next)->hdr.size;

        memset(&spec, 0, sizeof(spec));
        memcpy(&spec, next, size < sizeof(spec) ? size : sizeof(spec));
        error |= say_spec(&spec);
        next += size;
    }
    if (next != end)
        say(" and %td bytes", end - next);
    errno = recorded();
    if (!errno)
        errno = error;
    if (errno)
        return NULL;
    flow = make("flow", sizeof(*flow));
    flow->context = qp->context;
    return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
    return gone(flow, RECORD("ibv_destroy_flow flow=%s", name(flow)));
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
    struct ibv_counters *counters;

    RECORD_OR_NULL("ibv_create_counters context=%s comp_mask=%u", name(context), attr->comp_mask);
    counters = make("counters", sizeof(*counters));
    counters->context = context;
    return counters;
}

static int destroy_counters(struct ibv_counters *counters)
{
    return gone(counters, RECORD("ibv_destroy_counters counters=%s", name(counters)));
}

static int attach_counters(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
    return RECORD("ibv_attach_counters_point_flow counters=%s counter_desc=%d index=%u comp_mask=%u flow=%s", name(counters), attr->counter_desc,
                  attr->index, attr->comp_mask, name(flow));
}

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = answer("counted", 100) + i;
    return RECORD("ibv_read_counters counters=%s ncounters=%u flags=0x%x", name(counters), count, flags);
}

/* ---- Address handles ---- */

/* Returns the result of the header's function. */
int recording_udp_sport(uint32_t flow_label)
{
    return ibv_flow_label_to_udp_sport(flow_label);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct ibv_ah *ah;

    say("ibv_create_ah pd=%s", name(pd));
    say_address("attr", attr);
    errno = recorded();
    if (errno)
        return NULL;
    ah = make("ah", sizeof(*ah));
    ah->context = pd->context;
    ah->pd = pd;
    return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    return gone(ah, RECORD("ibv_destroy_ah ah=%s", name(ah)));
}
