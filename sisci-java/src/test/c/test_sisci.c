/*
 * A fake libsisci for tests: node 4 of a fabric that has only this node. The library exports its functions with the prefix PREFIX. If CONSTANTS is
 * defined, it exports its constants as data, with numbers that differ from the header. Otherwise, it uses the numbers of the header. If VERSION_1 is
 * defined, it exports the functions of version 1 of the library.
 */
#include "sisci.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODE 4
#define LENDER 8
#define SLOTS 64
#define JOIN_(prefix, name) prefix##name
#define JOIN(prefix, name) JOIN_(prefix, name)
/* The exported name of a function. DECLARE checks that its type is that of the header. */
#define EXPORT(name) JOIN(PREFIX, name)
#define DECLARE(name) __typeof__(name) EXPORT(name);

#ifdef CONSTANTS
#define NUMBER(name) const unsigned int _SISCI_PUBLIC_CONST_##name = name << 1;
#define OWN_NUMBER(name, number) const unsigned int _SISCI_PUBLIC_CONST_##name = number;
#define IS(flags, name) (((flags) & _SISCI_PUBLIC_CONST_##name) != 0)
#else
#define NUMBER(name)
#define IS(flags, name) (((flags) & name) != 0)
#endif

NUMBER(SCI_FLAG_USE_CALLBACK)
NUMBER(SCI_FLAG_EMPTY)
NUMBER(SCI_FLAG_PRIVATE)
NUMBER(SCI_FLAG_AUTO_ID)
NUMBER(SCI_FLAG_BROADCAST)
NUMBER(SCI_FLAG_LOCK_USER_MEM)
NUMBER(SCI_FLAG_READONLY_MAP)
NUMBER(SCI_FLAG_DMA_READ)
NUMBER(SCI_FLAG_DMA_USER_MEM)
NUMBER(SCI_FLAG_FIXED_INTNO)
NUMBER(SCI_FLAG_CONDITIONAL_INTERRUPT)
NUMBER(SCI_FLAG_CACHE_FLUSH)
NUMBER(SCI_FLAG_CACHE_INVALIDATE)
NUMBER(SCI_FLAG_EXCLUSIVE)
#ifdef CONSTANTS
OWN_NUMBER(SCI_FLAG_BLOCK_READ, 0x300)
OWN_NUMBER(SCI_FLAG_ERROR_CHECK, 0x5000)
OWN_NUMBER(SCI_FLAG_FORCE_DISCONNECT, 0x70000)
OWN_NUMBER(SCI_ERR_NO_SUCH_FDID, 0x40000977)
OWN_NUMBER(SCI_Q_API, 4711)
OWN_NUMBER(SCI_Q_ADAPTER, 4712)
OWN_NUMBER(SCI_Q_ADAPTER_SERIAL_NUMBER, 4713)
OWN_NUMBER(SCI_Q_ADAPTER_LINK_OPERATIONAL, 4714)
OWN_NUMBER(SCI_Q_DMA, 4715)
OWN_NUMBER(SCI_Q_DMA_AVAILABLE, 4716)
OWN_NUMBER(SCI_Q_DMA_CAPABILITIES, 4717)
OWN_NUMBER(SCI_Q_MAP, 4718)
OWN_NUMBER(SCI_Q_MAP_IOADDR, 4719)
OWN_NUMBER(SCI_Q_SYSTEM, 4720)
OWN_NUMBER(SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE, 4721)
OWN_NUMBER(SCI_Q_LOCAL_SEGMENT, 4722)
OWN_NUMBER(SCI_Q_LOCAL_SEGMENT_IOADDR, 4723)
OWN_NUMBER(SCI_Q_REMOTE_SEGMENT, 4724)
OWN_NUMBER(SCI_Q_REMOTE_SEGMENT_IOADDR, 4725)
#endif

/* The functions that control and query this library in a test. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct call {
	char name[64];
	unsigned int count;
	unsigned int failures;
	sci_error_t code;
	char arguments[160];
} calls[128];

static struct call *call(const char *name)
{
	struct call *each = calls;

	while (each->name[0] && strcmp(each->name, name))
		each++;
	strcpy(each->name, name);
	return each;
}

/* Makes the next calls of a function fail with an error code. */
void test_fail(const char *name, unsigned int code, unsigned int times)
{
	pthread_mutex_lock(&lock);
	call(name)->code = (sci_error_t) code;
	call(name)->failures = times;
	pthread_mutex_unlock(&lock);
}

unsigned int test_calls(const char *name)
{
	pthread_mutex_lock(&lock);
	unsigned int count = call(name)->count;
	pthread_mutex_unlock(&lock);
	return count;
}

/* Counts a call of a function, and returns 1 and sets the error if the call must fail. */
static int fails(const char *name, sci_error_t *error)
{
	pthread_mutex_lock(&lock);
	struct call *called = call(name);
	int failing = called->failures > 0;
	called->count++;
	if (failing)
		called->failures--;
	*error = failing ? called->code : SCI_ERR_OK;
	pthread_mutex_unlock(&lock);
	if (failing)
		errno = ENODEV;
	return failing;
}

#ifdef CONSTANTS
/* Records the arguments of the last call of a function as text. */
static void record(const char *name, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	pthread_mutex_lock(&lock);
	vsnprintf(call(name)->arguments, sizeof calls[0].arguments, format, values);
	pthread_mutex_unlock(&lock);
	va_end(values);
}

/* Returns the arguments of the last call of a function that records them. */
const char *test_arguments(const char *name)
{
	return call(name)->arguments;
}
#endif

#define ENTER(name) if (fails(#name, error)) return
#define ENTER_OR(name, result) if (fails(#name, error)) return result
#define RETURN_ERROR(code) do { *error = (code); return; } while (0)

/* The worker thread, which runs the callbacks and the DMA transfers. */

static struct job {
	struct job *next;
	void (*run)(struct job *);
	void *callback, *argument, *object;
	unsigned int a, b, c;
	unsigned char data[256];
} *jobs;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t worker;
static int running, suspended;

static void *work(void *unused)
{
	(void) unused;
	pthread_mutex_lock(&lock);
	while (running) {
		struct job *job = jobs;

		if (!job || suspended) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		jobs = job->next;
		pthread_mutex_unlock(&lock);
		job->run(job);
		free(job);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void enqueue(struct job job)
{
	struct job *copy = malloc(sizeof job), **last = &jobs;

	*copy = job;
	copy->next = NULL;
	pthread_mutex_lock(&lock);
	while (*last)
		last = &(*last)->next;
	*last = copy;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

/* Suspends or resumes the worker thread. */
void test_suspend(int hold)
{
	pthread_mutex_lock(&lock);
	suspended = hold;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

/* The library and its descriptors. */

static sci_desc_t last_opened;

DECLARE(SCIInitialize)
void EXPORT(SCIInitialize)(unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIInitialize);
	running = 1;
	pthread_create(&worker, NULL, work, NULL);
}

DECLARE(SCITerminate)
void EXPORT(SCITerminate)(void)
{
	sci_error_t ignored;

	fails("SCITerminate", &ignored);
	pthread_mutex_lock(&lock);
	running = 0;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(worker, NULL);
}

DECLARE(SCIOpen)
void EXPORT(SCIOpen)(sci_desc_t *sd, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIOpen);
	last_opened = *sd = malloc(1);
}

DECLARE(SCIClose)
void EXPORT(SCIClose)(sci_desc_t sd, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIClose);
	free(sd);
}

DECLARE(SCIGetErrorString)
const char *EXPORT(SCIGetErrorString)(sci_error_t error)
{
	return error == (sci_error_t) 0x40000999 ? "An error that no header documents" : "";
}

DECLARE(SCIGetLocalNodeId)
void EXPORT(SCIGetLocalNodeId)(unsigned int adapterNo, unsigned int *nodeId, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIGetLocalNodeId);
	if (adapterNo != 0)
		RETURN_ERROR(SCI_ERR_NO_SUCH_ADAPTERNO);
	*nodeId = NODE;
}

DECLARE(SCIProbeNode)
int EXPORT(SCIProbeNode)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo, (void) flags;
	ENTER_OR(SCIProbeNode, 0);
	if (nodeId % 4) {
		*error = SCI_ERR_ILLEGAL_NODEID;
		return 0;
	}
	if (nodeId == 12)
		*error = SCI_ERR_NO_SUCH_NODEID;
	return nodeId == NODE;
}

/* The control registers of 64 nodes: 16 registers of 4 bytes for each node. */
static unsigned int registers[64][16];

static unsigned int *csr(unsigned int adapter, unsigned int node, unsigned int offset, sci_error_t *error)
{
	if (adapter || node >= 4 * 64 || offset >= sizeof registers[0]) {
		*error = SCI_ERR_OUT_OF_RANGE;
		return &registers[0][0];
	}
	return &registers[node / 4][offset / 4];
}

DECLARE(SCIGetCSRRegister)
unsigned int EXPORT(SCIGetCSRRegister)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId, unsigned int CSROffset,
		unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) flags;
	ENTER_OR(SCIGetCSRRegister, 0);
	return *csr(localAdapterNo, SCINodeId, CSROffset, error);
}

DECLARE(SCISetCSRRegister)
void EXPORT(SCISetCSRRegister)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId, unsigned int CSROffset,
		unsigned int CSRValue, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) flags;
	ENTER(SCISetCSRRegister);
	*csr(localAdapterNo, SCINodeId, CSROffset, error) = CSRValue;
}

DECLARE(SCIGetLocalCSR)
unsigned int EXPORT(SCIGetLocalCSR)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) flags;
	ENTER_OR(SCIGetLocalCSR, 0);
	return *csr(localAdapterNo, NODE, CSROffset, error);
}

DECLARE(SCISetLocalCSR)
void EXPORT(SCISetLocalCSR)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset, unsigned int CSRValue, unsigned int flags,
		sci_error_t *error)
{
	(void) sd, (void) flags;
	ENTER(SCISetLocalCSR);
	*csr(localAdapterNo, NODE, CSROffset, error) = CSRValue;
}

DECLARE(SCIGetNodeIdByAdapterName)
void EXPORT(SCIGetNodeIdByAdapterName)(char *adaptername, dis_nodeId_t *nodeIds, dis_virt_adapter_t *type, unsigned int flags,
		sci_error_t *error)
{
	(void) flags;
	ENTER(SCIGetNodeIdByAdapterName);
	*type = 1;
	if (!strcmp(adaptername, "storage01")) {
		nodeIds[0] = 4;
		nodeIds[1] = 8;
		nodeIds[2] = 0;
	}
}

DECLARE(SCIGetNodeInfoByAdapterName)
void EXPORT(SCIGetNodeInfoByAdapterName)(char *adaptername, unsigned int *adapterNo, dis_nodeId_t *nodeIds, dis_adapter_type_t *type,
		unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIGetNodeInfoByAdapterName);
	if (strcmp(adaptername, "storage01"))
		RETURN_ERROR(SCI_ERR_NO_SUCH_NODEID);
	*adapterNo = 1;
	nodeIds[0] = 4;
	nodeIds[1] = 8;
	nodeIds[2] = 0;
	*type = 930;
}

DECLARE(SCIGetAdapterTypeString)
const char *EXPORT(SCIGetAdapterTypeString)(unsigned int adapterType)
{
	return adapterType == 930 ? "MXH930" : NULL;
}

/* Segments. */

struct sci_local_segment {
	unsigned int id, prepared, available, shared, connected, maps, flags;
	size_t size;
	unsigned char *memory;
	sci_cb_local_segment_t callback;
	void *argument;
};
struct sci_remote_segment {
	struct sci_local_segment *target;
	struct sci_smartio_device *device;
	unsigned int maps;
	sci_cb_remote_segment_t callback;
	void *argument;
};
struct sci_map {
	unsigned char *memory;
	unsigned int *maps, sequences;
};
static struct sci_local_segment *segments[SLOTS];
static struct sci_remote_segment *connections[SLOTS];

static int is_mapped_for_device(const void *segment);
static void disconnect_device_segment(struct sci_smartio_device *device);

static struct sci_local_segment *find_segment(unsigned int id)
{
	for (int i = 0; i < SLOTS; i++)
		if (segments[i] && segments[i]->id == id)
			return segments[i];
	return NULL;
}

static void replace_entry(void *table, void *old, void *new)
{
	void **entries = table;

	while (*entries != old)
		entries++;
	*entries = new;
}

static void run_local_segment_callback(struct job *job)
{
	((sci_cb_local_segment_t) job->callback)(job->argument, job->object, (sci_segment_cb_reason_t) job->a, job->b, 0, SCI_ERR_OK);
}

static void run_remote_segment_callback(struct job *job)
{
	((sci_cb_remote_segment_t) job->callback)(job->argument, job->object, (sci_segment_cb_reason_t) job->a, SCI_ERR_OK);
}

static void report(struct sci_local_segment *segment, sci_segment_cb_reason_t reason)
{
	struct job job = {.run = run_local_segment_callback, .callback = segment->callback, .argument = segment->argument, .object = segment,
			.a = reason, .b = NODE};

	if (segment->callback)
		enqueue(job);
}

/* Reports an event to all connections. */
void test_notify_remote(unsigned int reason)
{
	for (int i = 0; i < SLOTS; i++)
		if (connections[i]) {
			struct job job = {.run = run_remote_segment_callback, .callback = connections[i]->callback, .argument = connections[i]->argument,
					.object = connections[i], .a = reason};
			enqueue(job);
		}
}

DECLARE(SCICreateSegment)
void EXPORT(SCICreateSegment)(sci_desc_t sd, sci_local_segment_t *segment, unsigned int segmentId, size_t size,
		sci_cb_local_segment_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	(void) sd;
	ENTER(SCICreateSegment);
	if (!callback != !IS(flags, SCI_FLAG_USE_CALLBACK))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	if (IS(flags, SCI_FLAG_AUTO_ID))
		while (find_segment(segmentId))
			segmentId++;
	if (find_segment(segmentId))
		RETURN_ERROR(SCI_ERR_SEGMENTID_USED);
	if (size % 4096)
		RETURN_ERROR(SCI_ERR_SIZE_ALIGNMENT);
	*segment = calloc(1, sizeof **segment);
	(*segment)->id = segmentId;
	(*segment)->size = size;
	(*segment)->flags = flags;
	(*segment)->callback = callback;
	(*segment)->argument = callbackArg;
	if (!IS(flags, SCI_FLAG_EMPTY))
		(*segment)->memory = aligned_alloc(4096, size), memset((*segment)->memory, 0, size);
	replace_entry(segments, NULL, *segment);
}

DECLARE(SCIRemoveSegment)
void EXPORT(SCIRemoveSegment)(sci_local_segment_t segment, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIRemoveSegment);
	if (segment->maps || segment->connected || is_mapped_for_device(segment))
		RETURN_ERROR(SCI_ERR_BUSY);
	replace_entry(segments, segment, NULL);
	if (!IS(segment->flags, SCI_FLAG_EMPTY))
		free(segment->memory);
	free(segment);
}

DECLARE(SCIGetLocalSegmentId)
unsigned int EXPORT(SCIGetLocalSegmentId)(sci_local_segment_t segment)
{
	return segment->id;
}

DECLARE(SCIPrepareSegment)
void EXPORT(SCIPrepareSegment)(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error)
{
	(void) localAdapterNo;
	ENTER(SCIPrepareSegment);
	segment->prepared = flags == SCI_FLAG_DMA_SOURCE_ONLY ? 2 : 1;
}

DECLARE(SCISetSegmentAvailable)
void EXPORT(SCISetSegmentAvailable)(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error)
{
	(void) localAdapterNo, (void) flags;
	ENTER(SCISetSegmentAvailable);
	if (IS(segment->flags, SCI_FLAG_PRIVATE))
		RETURN_ERROR(SCI_ERR_ILLEGAL_OPERATION);
	if (segment->prepared != 1)
		RETURN_ERROR(SCI_ERR_SEGMENT_NOT_PREPARED);
	segment->available = 1;
}

DECLARE(SCISetSegmentUnavailable)
void EXPORT(SCISetSegmentUnavailable)(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error)
{
	(void) localAdapterNo;
	ENTER(SCISetSegmentUnavailable);
	if (!segment->available)
		RETURN_ERROR(SCI_ERR_ILLEGAL_OPERATION);
	segment->available = 0;
#ifdef CONSTANTS
	if (IS(flags, SCI_FLAG_FORCE_DISCONNECT))
		test_notify_remote(SCI_CB_LOST);
#else
	(void) flags;
#endif
}

DECLARE(SCIRegisterSegmentMemory)
void EXPORT(SCIRegisterSegmentMemory)(void *address, size_t size, sci_local_segment_t segment, unsigned int flags, sci_error_t *error)
{
	ENTER(SCIRegisterSegmentMemory);
	if ((size_t) address % 4096 || size != segment->size || !IS(flags, SCI_FLAG_LOCK_USER_MEM))
		RETURN_ERROR(SCI_ERR_ILLEGAL_ADDRESS);
	segment->memory = address;
}

DECLARE(SCIAttachPhysicalMemory)
void EXPORT(SCIAttachPhysicalMemory)(sci_ioaddr_t ioaddress, void *address, unsigned int busNo, size_t size, sci_local_segment_t segment,
		unsigned int flags, sci_error_t *error)
{
	static unsigned char memory[4096] __attribute__((aligned(4096)));

	ENTER(SCIAttachPhysicalMemory);
	if (busNo || size != sizeof memory || !(flags == SCI_FLAG_PHYSICAL ? ioaddress == 0x10000 && !address
			: flags == SCI_FLAG_CUDA_BUFFER && !ioaddress && address == (void *) 0x20000))
		RETURN_ERROR(SCI_ERR_ILLEGAL_ADDRESS);
	segment->memory = memory;
}

DECLARE(SCIShareSegment)
void EXPORT(SCIShareSegment)(sci_local_segment_t segment, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIShareSegment);
	segment->shared = 1;
}

/* Creates a second segment object that has the same memory. */
DECLARE(SCIAttachLocalSegment)
void EXPORT(SCIAttachLocalSegment)(sci_desc_t sd, sci_local_segment_t *segment, unsigned int segmentId, size_t *size,
		sci_cb_local_segment_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	struct sci_local_segment *target = find_segment(segmentId);

	(void) sd;
	ENTER(SCIAttachLocalSegment);
	if (!callback || !IS(flags, SCI_FLAG_USE_CALLBACK))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	if (!target || !target->shared)
		RETURN_ERROR(SCI_ERR_ACCESS);
	*segment = calloc(1, sizeof **segment);
	**segment = *target;
	(*segment)->maps = (*segment)->connected = 0;
	(*segment)->callback = callback;
	(*segment)->argument = callbackArg;
#ifdef CONSTANTS
	(*segment)->flags |= _SISCI_PUBLIC_CONST_SCI_FLAG_EMPTY;
#endif
	replace_entry(segments, NULL, *segment);
	*size = target->size;
}

DECLARE(SCIConnectSegment)
void EXPORT(SCIConnectSegment)(sci_desc_t sd, sci_remote_segment_t *segment, unsigned int nodeId, unsigned int segmentId,
		unsigned int localAdapterNo, sci_cb_remote_segment_t callback, void *callbackArg, unsigned int timeout, unsigned int flags,
		sci_error_t *error)
{
	struct sci_local_segment *target = find_segment(segmentId);

	(void) sd, (void) localAdapterNo;
	ENTER(SCIConnectSegment);
	if (timeout != SCI_INFINITE_TIMEOUT || !callback != !IS(flags, SCI_FLAG_USE_CALLBACK))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	if (nodeId == DIS_BROADCAST_NODEID_GROUP_ALL && !IS(flags, SCI_FLAG_BROADCAST))
		RETURN_ERROR(SCI_ERR_ILLEGAL_FLAG);
	if (!target || !target->available || IS(target->flags, SCI_FLAG_BROADCAST) != IS(flags, SCI_FLAG_BROADCAST))
		RETURN_ERROR(SCI_ERR_NO_SUCH_SEGMENT);
	*segment = calloc(1, sizeof **segment);
	(*segment)->target = target;
	(*segment)->callback = callback;
	(*segment)->argument = callbackArg;
	target->connected++;
	replace_entry(connections, NULL, *segment);
	report(target, SCI_CB_CONNECT);
}

DECLARE(SCIDisconnectSegment)
void EXPORT(SCIDisconnectSegment)(sci_remote_segment_t segment, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIDisconnectSegment);
	if (segment->maps || is_mapped_for_device(segment))
		RETURN_ERROR(SCI_ERR_BUSY);
	replace_entry(connections, segment, NULL);
	if (segment->device)
		disconnect_device_segment(segment->device);
	segment->target->connected--;
	report(segment->target, SCI_CB_DISCONNECT);
	free(segment);
}

DECLARE(SCIGetRemoteSegmentSize)
size_t EXPORT(SCIGetRemoteSegmentSize)(sci_remote_segment_t segment)
{
	return segment->target->size;
}

DECLARE(SCIGetRemoteSegmentNodeId)
unsigned int EXPORT(SCIGetRemoteSegmentNodeId)(sci_remote_segment_t segment)
{
	return segment->device ? LENDER : NODE;
}

static void *map_part(struct sci_local_segment *segment, unsigned int *maps, sci_map_t *map, size_t offset, size_t size, sci_error_t *error)
{
	if (offset + size > segment->size) {
		*error = SCI_ERR_OUT_OF_RANGE;
		return NULL;
	}
	*map = calloc(1, sizeof **map);
	(*map)->memory = segment->memory + offset;
	(*map)->maps = maps;
	++*maps;
	return (*map)->memory;
}

DECLARE(SCIMapLocalSegment)
void *EXPORT(SCIMapLocalSegment)(sci_local_segment_t segment, sci_map_t *map, size_t offset, size_t size, void *addr, unsigned int flags,
		sci_error_t *error)
{
	(void) addr, (void) flags;
	ENTER_OR(SCIMapLocalSegment, NULL);
	return map_part(segment, &segment->maps, map, offset, size, error);
}

DECLARE(SCIMapRemoteSegment)
volatile void *EXPORT(SCIMapRemoteSegment)(sci_remote_segment_t segment, sci_map_t *map, size_t offset, size_t size, void *addr,
		unsigned int flags, sci_error_t *error)
{
	(void) addr, (void) flags;
	ENTER_OR(SCIMapRemoteSegment, NULL);
	return map_part(segment->target, &segment->maps, map, offset, size, error);
}

DECLARE(SCIUnmapSegment)
void EXPORT(SCIUnmapSegment)(sci_map_t map, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIUnmapSegment);
	if (map->sequences)
		RETURN_ERROR(SCI_ERR_BUSY);
	--*map->maps;
	free(map);
}

DECLARE(SCIGetMapPhysAddr)
sci_ioaddr_t EXPORT(SCIGetMapPhysAddr)(sci_map_t map)
{
	return map->memory ? 0x300000000a : 0;
}

/* Stores the kind of operation and the length in the first two bytes of the range, where a test reads them. */
DECLARE(SCICacheSync)
void EXPORT(SCICacheSync)(sci_map_t map, void *addr, size_t length, unsigned int flags, sci_error_t *error)
{
	unsigned char *bytes = addr;
	ENTER(SCICacheSync);
	if (bytes < map->memory)
		RETURN_ERROR(SCI_ERR_OUT_OF_RANGE);
	bytes[0] = IS(flags, SCI_FLAG_CACHE_FLUSH) ? 1 : IS(flags, SCI_FLAG_CACHE_INVALIDATE) ? 2 : 3;
	bytes[1] = length;
}

#ifdef CONSTANTS
DECLARE(SCIQuery)
void EXPORT(SCIQuery)(unsigned int command, void *data, unsigned int flags, sci_error_t *error)
{
	ENTER(SCIQuery);
	if (command == _SISCI_PUBLIC_CONST_SCI_Q_API) {
		sci_query_string_t *query = data;
		snprintf(query->str, query->length, "test");
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_ADAPTER) {
		sci_query_adapter_t *query = data;
		if (query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_ADAPTER_SERIAL_NUMBER)
			*(unsigned int *) query->data = 1234 + query->localAdapterNo;
		else if (query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_ADAPTER_LINK_OPERATIONAL)
			*(unsigned int *) query->data = query->portNo == 1;
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_DMA) {
		sci_query_dma_t *query = data;
		if (query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_DMA_AVAILABLE) {
			*(unsigned int *) query->data = flags == SCI_FLAG_DMA_ADAPTER;
		} else {
			sci_dma_capabilities_t capabilities = {1, 0x80000000, 3, 1, 0, 1, 8, 64};
			*(sci_dma_capabilities_t *) query->data = capabilities;
		}
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_SYSTEM) {
		sci_query_system_t *query = data;
		*(unsigned int *) query->data = query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE ? 64 : 0;
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_LOCAL_SEGMENT) {
		sci_query_local_segment_t *query = data;
		query->data.ioaddr = query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_LOCAL_SEGMENT_IOADDR ? 0x100000000 + query->segment->id : 0;
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_REMOTE_SEGMENT) {
		sci_query_remote_segment_t *query = data;
		query->data.ioaddr = query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_REMOTE_SEGMENT_IOADDR
				? 0x200000000 + query->segment->target->id : 0;
	} else if (command == _SISCI_PUBLIC_CONST_SCI_Q_MAP) {
		sci_query_map_t *query = data;
		query->data = query->map && query->subcommand == _SISCI_PUBLIC_CONST_SCI_Q_MAP_IOADDR ? 0x123456789a : 0;
	} else {
		RETURN_ERROR(SCI_ERR_ILLEGAL_QUERY);
	}
}
#endif

/* Sequences and copying. */

struct sci_sequence {
	struct sci_map *map;
};
static const char *started = "", *checked = "";

/* Sets the results of the next calls of SCIStartSequence and SCICheckSequence, one digit for each call. Later calls return OK. */
void test_sequence(const char *starts, const char *checks)
{
	started = strdup(starts);
	checked = strdup(checks);
}

static sci_sequence_status_t next(const char **results)
{
	return **results ? (sci_sequence_status_t) (*(*results)++ - '0') : SCI_SEQ_OK;
}

DECLARE(SCICreateMapSequence)
void EXPORT(SCICreateMapSequence)(sci_map_t map, sci_sequence_t *sequence, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCICreateMapSequence);
	*sequence = calloc(1, sizeof **sequence);
	(*sequence)->map = map;
	map->sequences++;
}

DECLARE(SCIRemoveSequence)
void EXPORT(SCIRemoveSequence)(sci_sequence_t sequence, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIRemoveSequence);
	sequence->map->sequences--;
	free(sequence);
}

DECLARE(SCIStartSequence)
sci_sequence_status_t EXPORT(SCIStartSequence)(sci_sequence_t sequence, unsigned int flags, sci_error_t *error)
{
	(void) sequence, (void) flags;
	ENTER_OR(SCIStartSequence, SCI_SEQ_NOT_RETRIABLE);
	return next(&started);
}

DECLARE(SCICheckSequence)
sci_sequence_status_t EXPORT(SCICheckSequence)(sci_sequence_t sequence, unsigned int flags, sci_error_t *error)
{
	(void) sequence, (void) flags;
	ENTER_OR(SCICheckSequence, SCI_SEQ_NOT_RETRIABLE);
	return next(&checked);
}

DECLARE(SCIFlush)
void EXPORT(SCIFlush)(sci_sequence_t sequence, unsigned int flags)
{
	sci_error_t ignored;

	(void) flags;
	fails(sequence ? "SCIFlush of a sequence" : "SCIFlush", &ignored);
}

DECLARE(SCIStoreBarrier)
void EXPORT(SCIStoreBarrier)(sci_sequence_t sequence, unsigned int flags)
{
	sci_error_t ignored;

	(void) sequence, (void) flags;
	fails("SCIStoreBarrier", &ignored);
}

DECLARE(SCIMemCpy)
void EXPORT(SCIMemCpy)(sci_sequence_t sequence, void *memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size, unsigned int flags,
		sci_error_t *error)
{
	ENTER(SCIMemCpy);
#ifdef CONSTANTS
	if (IS(flags, SCI_FLAG_ERROR_CHECK) && !sequence)
		RETURN_ERROR(SCI_ERR_ILLEGAL_FLAG);
	if (IS(flags, SCI_FLAG_BLOCK_READ)) {
		memcpy(memAddr, remoteMap->memory + remoteOffset, size);
		return;
	}
#else
	(void) sequence, (void) flags;
#endif
	memcpy(remoteMap->memory + remoteOffset, memAddr, size);
}

/* DMA. The worker thread executes the transfers. */

struct sci_dma_queue {
	sci_dma_queue_state_t state;
	int aborted;
	unsigned char *to, *from;
	size_t size;
	sci_cb_dma_t callback;
	void *argument;
	dis_dma_vec_t pieces[4];
	size_t count;
};

static int slow_abort;

/* Sets whether an aborted transfer stays POSTED until the worker thread reaches it. Such a transfer has no callback. */
void test_slow_abort(int slow)
{
	slow_abort = slow;
}

static void transfer(struct job *job)
{
	struct sci_dma_queue *queue = job->object;
	sci_error_t status = (sci_error_t) job->a;

	if (queue->state != SCI_DMAQUEUE_POSTED)
		return;
	if (queue->aborted) {
		queue->state = SCI_DMAQUEUE_ABORTED;
		return;
	}
	if (status == SCI_ERR_OK)
		for (size_t i = 0; i < queue->count; i++)
			memcpy(queue->to + queue->pieces[i].remote_offset, queue->from + queue->pieces[i].local_offset, queue->pieces[i].size);
	queue->state = status == SCI_ERR_OK ? SCI_DMAQUEUE_DONE : SCI_DMAQUEUE_ERROR;
	if (queue->callback)
		queue->callback(queue->argument, queue, status);
}

static void start(struct sci_dma_queue *queue, unsigned char *local, unsigned char *remote, unsigned int flags, sci_cb_dma_t callback,
		void *argument, sci_error_t *error)
{
	sci_error_t status;
	struct job job = {.run = transfer, .object = queue};

	if (!callback != !IS(flags, SCI_FLAG_USE_CALLBACK))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	if (queue->state == SCI_DMAQUEUE_POSTED)
		RETURN_ERROR(SCI_ERR_ILLEGAL_OPERATION);
	for (size_t i = 0; IS(flags, SCI_FLAG_DMA_READ) && i < queue->count; i++) {
		uint32_t offset = queue->pieces[i].local_offset;
		queue->pieces[i].local_offset = queue->pieces[i].remote_offset;
		queue->pieces[i].remote_offset = offset;
	}
	queue->to = IS(flags, SCI_FLAG_DMA_READ) ? local : remote;
	queue->from = IS(flags, SCI_FLAG_DMA_READ) ? remote : local;
	queue->callback = callback;
	queue->argument = argument;
	queue->state = SCI_DMAQUEUE_POSTED;
	queue->aborted = 0;
	fails("the transfer", &status);
	job.a = status;
	enqueue(job);
}

DECLARE(SCICreateDMAQueue)
void EXPORT(SCICreateDMAQueue)(sci_desc_t sd, sci_dma_queue_t *dq, unsigned int localAdapterNo, unsigned int maxEntries,
		unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo, (void) maxEntries, (void) flags;
	ENTER(SCICreateDMAQueue);
	*dq = calloc(1, sizeof **dq);
}

DECLARE(SCIRemoveDMAQueue)
void EXPORT(SCIRemoveDMAQueue)(sci_dma_queue_t dq, unsigned int flags, sci_error_t *error)
{
	(void) dq, (void) flags;
	ENTER(SCIRemoveDMAQueue);
	if (dq->state == SCI_DMAQUEUE_POSTED)
		RETURN_ERROR(SCI_ERR_ILLEGAL_OPERATION);
	/* The memory is not freed, because an aborted transfer may still be in the queue of the worker thread. */
}

DECLARE(SCIAbortDMAQueue)
void EXPORT(SCIAbortDMAQueue)(sci_dma_queue_t dq, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	if (slow_abort)
		dq->aborted = 1; /* before the call is counted, because a test resumes the worker thread then */
	ENTER(SCIAbortDMAQueue);
	if (!slow_abort && dq->state == SCI_DMAQUEUE_POSTED)
		dq->state = SCI_DMAQUEUE_ABORTED;
}

DECLARE(SCIDMAQueueState)
sci_dma_queue_state_t EXPORT(SCIDMAQueueState)(sci_dma_queue_t dq)
{
	return dq->state;
}

#ifdef CONSTANTS
struct sci_dma_channel {
	unsigned int type, id, flags, uses;
};
static struct sci_dma_channel the_channel;

/* Returns four bytes, from the highest: a bit for each use of the channel, and the requested flags, type and id. */
unsigned int test_channel(void)
{
	return the_channel.uses << 24 | the_channel.flags << 16 | the_channel.type << 8 | the_channel.id;
}

DECLARE(SCIRequestDMAChannel)
void EXPORT(SCIRequestDMAChannel)(sci_desc_t sd, sci_dma_channel_t *channel, unsigned int localAdapterNo, sci_dma_type_t type,
		unsigned int channelId, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo;
	ENTER(SCIRequestDMAChannel);
	the_channel = (struct sci_dma_channel) {type, channelId, flags, 0};
	*channel = &the_channel;
}

DECLARE(SCIReturnDMAChannel)
void EXPORT(SCIReturnDMAChannel)(sci_dma_channel_t channel, sci_error_t *error)
{
	(void) channel;
	ENTER(SCIReturnDMAChannel);
}

#define USE(name, type, bit) \
DECLARE(name) \
void EXPORT(name)(sci_dma_channel_t channel, type object, unsigned int flags, sci_error_t *error) \
{ \
	(void) object, (void) flags; \
	ENTER(name); \
	channel->uses |= bit; \
}
USE(SCIAssignDMAChannel, sci_dma_queue_t, 1)
USE(SCIPrepareLocalSegmentForDMA, sci_local_segment_t, 2)
USE(SCIPrepareRemoteSegmentForDMA, sci_remote_segment_t, 4)
USE(SCIUnprepareLocalSegmentForDMA, sci_local_segment_t, 8)
USE(SCIUnprepareRemoteSegmentForDMA, sci_remote_segment_t, 16)

static unsigned int requester;

DECLARE(SCIRegisterPCIeRequester)
void EXPORT(SCIRegisterPCIeRequester)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int busNo, unsigned int devFn,
		unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo;
	ENTER(SCIRegisterPCIeRequester);
	if (flags != SCI_FLAG_PCIE_REQUESTER_GLOBAL || requester)
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	requester = busNo << 8 | devFn;
}

DECLARE(SCIUnregisterPCIeRequester)
void EXPORT(SCIUnregisterPCIeRequester)(sci_desc_t sd, unsigned int localAdapterNo, unsigned int busNo, unsigned int devFn,
		unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo, (void) flags;
	ENTER(SCIUnregisterPCIeRequester);
	if (requester != (busNo << 8 | devFn))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	requester = 0;
}
#endif

#ifdef VERSION_1
void EXPORT(SCIEnqueueDMATransfer)(void)
{
}
#else
DECLARE(SCIStartDmaTransfer)
void EXPORT(SCIStartDmaTransfer)(sci_dma_queue_t dq, sci_local_segment_t localSegment, sci_remote_segment_t remoteSegment,
		size_t localOffset, size_t size, size_t remoteOffset, sci_cb_dma_t callback, void *callbackArg, unsigned int flags,
		sci_error_t *error)
{
	ENTER(SCIStartDmaTransfer);
	if (!localSegment->prepared)
		RETURN_ERROR(SCI_ERR_SEGMENT_NOT_PREPARED);
	if (localOffset + size > localSegment->size || remoteOffset + size > remoteSegment->target->size)
		RETURN_ERROR(SCI_ERR_OUT_OF_RANGE);
	dq->pieces[0] = (dis_dma_vec_t) {size, localOffset, remoteOffset, 0};
	dq->count = 1;
	start(dq, localSegment->memory, remoteSegment->target->memory, flags, callback, callbackArg, error);
}
#endif

DECLARE(SCIStartDmaTransferMem)
void EXPORT(SCIStartDmaTransferMem)(sci_dma_queue_t dq, void *localAddress, sci_remote_segment_t remoteSegment, size_t size,
		size_t remoteOffset, sci_cb_dma_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	ENTER(SCIStartDmaTransferMem);
	if (!IS(flags, SCI_FLAG_DMA_USER_MEM))
		RETURN_ERROR(SCI_ERR_ILLEGAL_FLAG);
	dq->pieces[0] = (dis_dma_vec_t) {size, 0, remoteOffset, 0};
	dq->count = 1;
	start(dq, localAddress, remoteSegment->target->memory, flags, callback, callbackArg, error);
}

DECLARE(SCIStartDmaTransferVec)
void EXPORT(SCIStartDmaTransferVec)(sci_dma_queue_t dq, sci_local_segment_t localSegment, sci_remote_segment_t remoteSegment,
		size_t vecLength, dis_dma_vec_t *disDmaVec, sci_cb_dma_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	ENTER(SCIStartDmaTransferVec);
	if (vecLength > 4)
		RETURN_ERROR(SCI_ERR_MAX_ENTRIES);
	memcpy(dq->pieces, disDmaVec, vecLength * sizeof *disDmaVec);
	dq->count = vecLength;
	start(dq, localSegment->memory, remoteSegment->target->memory, flags, callback, callbackArg, error);
}

/* Stores the arguments in the memory of the connection: node id, upper and lower part of the address, and size. */
DECLARE(SCIConnectSCISpace)
void EXPORT(SCIConnectSCISpace)(sci_desc_t sd, unsigned int localAdapterNo, sci_remote_segment_t *segment, sci_address_t address,
		size_t size, unsigned int flags, sci_error_t *error)
{
	static struct sci_local_segment space;

	(void) sd, (void) localAdapterNo, (void) flags;
	ENTER(SCIConnectSCISpace);
	if (address.nodeId == 12)
		RETURN_ERROR(SCI_ERR_CONNECTION_REFUSED);
	if (!space.memory)
		space.memory = aligned_alloc(4096, 4096);
	space.size = size;
	((unsigned int *) space.memory)[0] = address.nodeId;
	((unsigned int *) space.memory)[1] = address.offsHi;
	((unsigned int *) space.memory)[2] = address.offsLo;
	((unsigned int *) space.memory)[3] = (unsigned int) size;
	*segment = calloc(1, sizeof **segment);
	(*segment)->target = &space;
	replace_entry(connections, NULL, *segment);
}

/* Interrupts. */

struct interrupt {
	unsigned int number, with_data;
	void *callback, *argument;
	unsigned int count;
	int pending;
};
static struct interrupt *interrupts[SLOTS];
static pthread_cond_t triggered = PTHREAD_COND_INITIALIZER;

static struct interrupt *find_interrupt(unsigned int number, int with_data)
{
	for (int i = 0; i < SLOTS; i++)
		if (interrupts[i] && interrupts[i]->number == number && interrupts[i]->with_data == (unsigned int) with_data)
			return interrupts[i];
	return NULL;
}

#ifdef CONSTANTS
#define FIXED_INTNO _SISCI_PUBLIC_CONST_SCI_FLAG_FIXED_INTNO
#else
#define FIXED_INTNO SCI_FLAG_FIXED_INTNO
#endif

static void create_interrupt(void *handle, unsigned int *number, void *callback, void *argument, unsigned int flags, int with_data,
		sci_error_t *error)
{
	struct interrupt *interrupt;

	if (!callback != !IS(flags, SCI_FLAG_USE_CALLBACK))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	if (!IS(flags, SCI_FLAG_FIXED_INTNO))
		for (*number = 17; find_interrupt(*number, with_data); ++*number)
			;
	if (find_interrupt(*number, with_data))
		RETURN_ERROR((sci_error_t) SCI_ERR_SEGMENTID_USED);
	interrupt = calloc(1, sizeof *interrupt);
	*interrupt = (struct interrupt) {*number, with_data, callback, argument, 0, 0};
	replace_entry(interrupts, NULL, interrupt);
	*(struct interrupt **) handle = interrupt;
}

static void run_interrupt_callback(struct job *job)
{
	((sci_cb_interrupt_t) job->callback)(job->argument, job->object, SCI_ERR_OK);
}

static void run_data_callback(struct job *job)
{
	((sci_cb_data_interrupt_t) job->callback)(job->argument, job->object, job->data, job->a, SCI_ERR_OK);
	memset(job->data, 0xff, sizeof job->data);
}

DECLARE(SCICreateInterrupt)
void EXPORT(SCICreateInterrupt)(sci_desc_t sd, sci_local_interrupt_t *interrupt, unsigned int localAdapterNo, unsigned int *interruptNo,
		sci_cb_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo;
	ENTER(SCICreateInterrupt);
	create_interrupt(interrupt, interruptNo, callback, callbackArg, flags, 0, error);
}

/* Registers an interrupt flag. Its number is its offset in the segment. */
DECLARE(SCIRegisterInterruptFlag)
void EXPORT(SCIRegisterInterruptFlag)(unsigned int localAdapterNo, sci_local_interrupt_t *interrupt, sci_local_segment_t segment,
		unsigned int offset, sci_cb_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	unsigned int number = offset;

	(void) localAdapterNo;
	ENTER(SCIRegisterInterruptFlag);
	if (offset > segment->size - 4 || !IS(flags, SCI_FLAG_CONDITIONAL_INTERRUPT))
		RETURN_ERROR(SCI_ERR_ILLEGAL_PARAMETER);
	create_interrupt(interrupt, &number, callback, callbackArg, flags | FIXED_INTNO, 2, error);
}

/* Simulates that a peer stores immediately after the call. At offset 8, simulates that a peer stores during the call. */
DECLARE(SCIEnableConditionalInterrupt)
void EXPORT(SCIEnableConditionalInterrupt)(sci_local_interrupt_t handle, unsigned int flags, sci_error_t *error)
{
	struct interrupt *interrupt = (void *) handle;
	struct job job = {.run = run_interrupt_callback, .callback = interrupt->callback, .argument = interrupt->argument, .object = interrupt};

	(void) flags;
	ENTER(SCIEnableConditionalInterrupt);
	if (interrupt->number == 8)
		RETURN_ERROR(SCI_ERR_COND_INT_RACE_PROBLEM);
	interrupt->count = 1;
	enqueue(job);
}

DECLARE(SCIDisableConditionalInterrupt)
void EXPORT(SCIDisableConditionalInterrupt)(sci_local_interrupt_t handle, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIDisableConditionalInterrupt);
	((struct interrupt *) handle)->count = 0;
}

/* Returns the counter. At offset 12, simulates that the counter has overflowed. */
DECLARE(SCIGetConditionalInterruptTrigCounter)
void EXPORT(SCIGetConditionalInterruptTrigCounter)(sci_local_interrupt_t handle, unsigned int *interruptTrigCounter, unsigned int flags,
		sci_error_t *error)
{
	struct interrupt *interrupt = (void *) handle;

	(void) flags;
	ENTER(SCIGetConditionalInterruptTrigCounter);
	if (interrupt->number == 12)
		RETURN_ERROR(SCI_ERR_OVERFLOW);
	*interruptTrigCounter = interrupt->count;
}

DECLARE(SCICreateDataInterrupt)
void EXPORT(SCICreateDataInterrupt)(sci_desc_t sd, sci_local_data_interrupt_t *interrupt, unsigned int localAdapterNo,
		unsigned int *interruptNo, sci_cb_data_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) localAdapterNo;
	ENTER(SCICreateDataInterrupt);
	create_interrupt(interrupt, interruptNo, callback, callbackArg, flags, 1, error);
}

DECLARE(SCIRemoveInterrupt)
void EXPORT(SCIRemoveInterrupt)(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIRemoveInterrupt);
	replace_entry(interrupts, interrupt, NULL);
}

DECLARE(SCIRemoveDataInterrupt)
void EXPORT(SCIRemoveDataInterrupt)(sci_local_data_interrupt_t interrupt, unsigned int flags, sci_error_t *error)
{
	(void) flags;
	ENTER(SCIRemoveDataInterrupt);
	replace_entry(interrupts, interrupt, NULL);
}

DECLARE(SCIConnectInterrupt)
void EXPORT(SCIConnectInterrupt)(sci_desc_t sd, sci_remote_interrupt_t *interrupt, unsigned int nodeId, unsigned int localAdapterNo,
		unsigned int interruptNo, unsigned int timeout, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) nodeId, (void) localAdapterNo, (void) timeout, (void) flags;
	ENTER(SCIConnectInterrupt);
	*interrupt = (void *) find_interrupt(interruptNo, 0);
	if (!*interrupt)
		RETURN_ERROR(SCI_ERR_NO_SUCH_INTNO);
}

DECLARE(SCIConnectDataInterrupt)
void EXPORT(SCIConnectDataInterrupt)(sci_desc_t sd, sci_remote_data_interrupt_t *interrupt, unsigned int nodeId,
		unsigned int localAdapterNo, unsigned int interruptNo, unsigned int timeout, unsigned int flags, sci_error_t *error)
{
	(void) sd, (void) nodeId, (void) localAdapterNo, (void) timeout, (void) flags;
	ENTER(SCIConnectDataInterrupt);
	*interrupt = (void *) find_interrupt(interruptNo, 1);
	if (!*interrupt)
		RETURN_ERROR(SCI_ERR_NO_SUCH_INTNO);
}

DECLARE(SCIDisconnectInterrupt)
void EXPORT(SCIDisconnectInterrupt)(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t *error)
{
	(void) interrupt, (void) flags;
	ENTER(SCIDisconnectInterrupt);
}

DECLARE(SCIDisconnectDataInterrupt)
void EXPORT(SCIDisconnectDataInterrupt)(sci_remote_data_interrupt_t interrupt, unsigned int flags, sci_error_t *error)
{
	(void) interrupt, (void) flags;
	ENTER(SCIDisconnectDataInterrupt);
}

DECLARE(SCITriggerInterrupt)
void EXPORT(SCITriggerInterrupt)(sci_remote_interrupt_t remote, unsigned int flags, sci_error_t *error)
{
	struct interrupt *interrupt = (void *) remote;
	struct job job = {.run = run_interrupt_callback, .callback = interrupt->callback, .argument = interrupt->argument, .object = interrupt};

	(void) flags;
	ENTER(SCITriggerInterrupt);
	if (interrupt->callback) {
		enqueue(job);
		return;
	}
	pthread_mutex_lock(&lock);
	interrupt->pending = 1;
	pthread_cond_broadcast(&triggered);
	pthread_mutex_unlock(&lock);
}

DECLARE(SCIWaitForInterrupt)
void EXPORT(SCIWaitForInterrupt)(sci_local_interrupt_t handle, unsigned int timeout, unsigned int flags, sci_error_t *error)
{
	struct interrupt *interrupt = (void *) handle;
	struct timespec end;
	int taken;

	(void) flags;
	ENTER(SCIWaitForInterrupt);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += timeout % 1000 * 1000000L;
	end.tv_sec += timeout / 1000 + end.tv_nsec / 1000000000L;
	end.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&lock);
	while (!interrupt->pending && !pthread_cond_timedwait(&triggered, &lock, &end))
		;
	taken = interrupt->pending;
	interrupt->pending = 0;
	pthread_mutex_unlock(&lock);
	if (!taken)
		RETURN_ERROR(SCI_ERR_TIMEOUT);
}

DECLARE(SCITriggerDataInterrupt)
void EXPORT(SCITriggerDataInterrupt)(sci_remote_data_interrupt_t remote, void *data, unsigned int length, unsigned int flags,
		sci_error_t *error)
{
	struct interrupt *interrupt = (void *) remote;
	struct job job = {.run = run_data_callback, .callback = interrupt->callback, .argument = interrupt->argument, .object = interrupt,
			.a = length};

	(void) flags;
	ENTER(SCITriggerDataInterrupt);
	if (length > sizeof job.data)
		RETURN_ERROR(SCI_ERR_OVERFLOW);
	memcpy(job.data, data, length);
	enqueue(job);
}

/* SmartIO: two devices that node 8 lends, and as many others as a test needs. */

struct sci_smartio_device {
	unsigned long long fdid;
	unsigned int index, segments;
};
static struct device_mapping {
	const void *segment;
	struct sci_smartio_device *device;
} device_mappings[SLOTS];

static int is_mapped_for_device(const void *segment)
{
	for (int i = 0; i < SLOTS; i++)
		if (device_mappings[i].segment == segment)
			return 1;
	return 0;
}

static void disconnect_device_segment(struct sci_smartio_device *device)
{
	device->segments--;
}

#ifdef CONSTANTS
static unsigned int device_count = 2, narrow_ids, shared_borrowers[2], exclusive_borrowers[2];
static struct sci_local_segment *device_memory[3];

/* Sets the number of devices. Only the first two can be borrowed. */
void test_device_count(unsigned int count)
{
	device_count = count;
}

/* Sets whether ids of devices have 32 bits, as in the releases of 2019. The C type of the functions stays the same. */
void test_narrow_ids(int narrow)
{
	narrow_ids = narrow;
}

static struct device_mapping *find_device_mapping(const void *segment, const struct sci_smartio_device *device)
{
	for (int i = 0; i < SLOTS; i++)
		if ((device_mappings[i].segment == segment || !segment) && device_mappings[i].device == device)
			return &device_mappings[i];
	return NULL;
}

static sci_smartio_device_info_t device_info(unsigned int index)
{
	if (index == 0)
		return (sci_smartio_device_info_t) {.fdid = 0x801, .pci_vendor_id = 0x1b36, .pci_device_id = 0x0010, .pci_class = 0x010802};
	if (index == 1)
		return (sci_smartio_device_info_t) {.fdid = 0xfedcba9800000802, .pci_vendor_id = 0x9234, .pci_device_id = 0x91e8, .pci_class = 0xff0000};
	return (sci_smartio_device_info_t) {.fdid = 0x10000 + index};
}

DECLARE(SCIGetDeviceList)
size_t EXPORT(SCIGetDeviceList)(sci_desc_t sd, unsigned long long *fdids, size_t maxCount, const sci_smartio_device_info_t *filter,
		unsigned int flags, sci_error_t *error)
{
	size_t matches = 0;

	record("SCIGetDeviceList", "sd=%d max=%zu vendor=%x device=%x class=%x flags=%x", sd == last_opened, maxCount, filter->pci_vendor_id,
			filter->pci_device_id, filter->pci_class, flags);
	ENTER_OR(SCIGetDeviceList, 0);
	for (unsigned int i = 0; i < device_count; i++) {
		sci_smartio_device_info_t info = device_info(i);
		if ((filter->pci_vendor_id && filter->pci_vendor_id != info.pci_vendor_id)
				|| (filter->pci_device_id && filter->pci_device_id != info.pci_device_id)
				|| (filter->pci_class && filter->pci_class != info.pci_class))
			continue;
		if (matches < maxCount && narrow_ids)
			((unsigned int *) fdids)[matches] = (unsigned int) info.fdid;
		else if (matches < maxCount)
			fdids[matches] = info.fdid;
		matches++;
	}
	return matches;
}

DECLARE(SCIBorrowDevice)
void EXPORT(SCIBorrowDevice)(sci_desc_t sd, sci_smartio_device_t *device, unsigned long long fdid, unsigned int flags, sci_error_t *error)
{
	unsigned int index = 0;

	record("SCIBorrowDevice", "sd=%d fdid=%llx flags=%x", sd == last_opened, fdid, flags);
	ENTER(SCIBorrowDevice);
	while (index < 2 && (narrow_ids ? (unsigned int) device_info(index).fdid != (unsigned int) fdid : device_info(index).fdid != fdid))
		index++;
	if (index == 2)
		RETURN_ERROR((sci_error_t) _SISCI_PUBLIC_CONST_SCI_ERR_NO_SUCH_FDID);
	if (exclusive_borrowers[index] || (shared_borrowers[index] && IS(flags, SCI_FLAG_EXCLUSIVE)))
		RETURN_ERROR(SCI_ERR_BUSY);
	*device = calloc(1, sizeof **device);
	(*device)->fdid = device_info(index).fdid;
	(*device)->index = index;
	if (IS(flags, SCI_FLAG_EXCLUSIVE))
		exclusive_borrowers[index]++;
	else
		shared_borrowers[index]++;
}

DECLARE(SCIReturnDevice)
void EXPORT(SCIReturnDevice)(sci_smartio_device_t device, unsigned int flags, sci_error_t *error)
{
	record("SCIReturnDevice", "device=%llx flags=%x", device->fdid, flags);
	ENTER(SCIReturnDevice);
	if (device->segments || find_device_mapping(NULL, device))
		RETURN_ERROR(SCI_ERR_BUSY);
	if (exclusive_borrowers[device->index])
		exclusive_borrowers[device->index]--;
	else
		shared_borrowers[device->index]--;
	free(device);
}

/* With ids of 32 bits, the upper half of the register that contains the result is undefined. */
DECLARE(SCIGetFabricDeviceId)
unsigned long long EXPORT(SCIGetFabricDeviceId)(sci_smartio_device_t device)
{
	return narrow_ids ? 0xbad00000000 | (unsigned int) device->fdid : device->fdid;
}

static struct sci_local_segment *new_device_memory(unsigned int id, size_t size)
{
	struct sci_local_segment *memory = calloc(1, sizeof *memory);

	memory->id = id;
	memory->size = size;
	memory->memory = aligned_alloc(4096, size);
	memset(memory->memory, 0, size);
	return memory;
}

/* Creates a segment. The library has room for one segment of each type. */
DECLARE(SCICreateDeviceSegment)
void EXPORT(SCICreateDeviceSegment)(sci_smartio_device_t device, unsigned int segmentId, size_t size, unsigned int memType,
		unsigned int accessHints, unsigned int flags, sci_error_t *error)
{
	unsigned int slot = memType == SCI_MEMTYPE_PRIVATE ? 1 : 2;

	record("SCICreateDeviceSegment", "device=%llx id=%u size=%zu type=%x hints=%x flags=%x", device->fdid, segmentId, size, memType, accessHints,
			flags);
	ENTER(SCICreateDeviceSegment);
	if (device_memory[slot])
		RETURN_ERROR(SCI_ERR_SEGMENTID_USED);
	device_memory[slot] = new_device_memory(segmentId, size);
}

DECLARE(SCIConnectDeviceSegment)
void EXPORT(SCIConnectDeviceSegment)(sci_smartio_device_t device, sci_remote_segment_t *segment, unsigned int segmentId, unsigned int memType,
		sci_cb_remote_segment_t callback, void *callbackArg, unsigned int flags, sci_error_t *error)
{
	unsigned int slot = memType == SCI_MEMTYPE_BAR ? 0 : memType == SCI_MEMTYPE_PRIVATE ? 1 : 2;

	record("SCIConnectDeviceSegment", "device=%llx id=%u type=%x callback=%d flags=%x", device->fdid, segmentId, memType, callback != NULL, flags);
	ENTER(SCIConnectDeviceSegment);
	if (!device_memory[0])
		device_memory[0] = new_device_memory(0, 8192);
	if (!device_memory[slot] || device_memory[slot]->id != segmentId)
		RETURN_ERROR(SCI_ERR_NO_SUCH_SEGMENT);
	*segment = calloc(1, sizeof **segment);
	(*segment)->target = device_memory[slot];
	(*segment)->device = device;
	(*segment)->callback = callback;
	(*segment)->argument = callbackArg;
	device->segments++;
	device_memory[slot]->connected++;
	replace_entry(connections, NULL, *segment);
}

static void map_for_device(const void *segment, size_t segment_size, sci_smartio_device_t device, sci_ioaddr_t *ioaddr, size_t offset,
		size_t size, sci_error_t *error)
{
	if (find_device_mapping(segment, device))
		RETURN_ERROR(SCI_ERR_BUSY);
	if (offset > segment_size || size > segment_size - offset)
		RETURN_ERROR(SCI_ERR_OUT_OF_RANGE);
	*find_device_mapping(NULL, NULL) = (struct device_mapping) {segment, device};
	*ioaddr = 0x8000010000000000 + offset;
}

static void unmap_for_device(const void *segment, sci_smartio_device_t device, sci_error_t *error)
{
	struct device_mapping *mapping = find_device_mapping(segment, device);

	if (!mapping)
		RETURN_ERROR(SCI_ERR_ILLEGAL_OPERATION);
	*mapping = (struct device_mapping) {NULL, NULL};
}

DECLARE(SCIMapLocalSegmentForDevice)
void EXPORT(SCIMapLocalSegmentForDevice)(sci_local_segment_t segment, unsigned int localAdapterNo, sci_smartio_device_t device,
		sci_ioaddr_t *ioaddr, size_t offset, size_t size, unsigned int flags, sci_error_t *error)
{
	record("SCIMapLocalSegmentForDevice", "segment=%u adapter=%u device=%llx offset=%zu size=%zu flags=%x", segment->id, localAdapterNo,
			device->fdid, offset, size, flags);
	ENTER(SCIMapLocalSegmentForDevice);
	if (!segment->prepared)
		RETURN_ERROR(SCI_ERR_SEGMENT_NOT_PREPARED);
	map_for_device(segment, segment->size, device, ioaddr, offset, size, error);
}

DECLARE(SCIUnmapLocalSegmentForDevice)
void EXPORT(SCIUnmapLocalSegmentForDevice)(sci_local_segment_t segment, unsigned int localAdapterNo, sci_smartio_device_t device,
		unsigned int flags, sci_error_t *error)
{
	record("SCIUnmapLocalSegmentForDevice", "segment=%u adapter=%u device=%llx flags=%x", segment->id, localAdapterNo, device->fdid, flags);
	ENTER(SCIUnmapLocalSegmentForDevice);
	unmap_for_device(segment, device, error);
}

DECLARE(SCIMapRemoteSegmentForDevice)
void EXPORT(SCIMapRemoteSegmentForDevice)(sci_remote_segment_t segment, sci_smartio_device_t device, sci_ioaddr_t *ioaddr, size_t offset,
		size_t size, unsigned int flags, sci_error_t *error)
{
	record("SCIMapRemoteSegmentForDevice", "segment=%u device=%llx offset=%zu size=%zu flags=%x", segment->target->id, device->fdid, offset, size,
			flags);
	ENTER(SCIMapRemoteSegmentForDevice);
	map_for_device(segment, segment->target->size, device, ioaddr, offset, size, error);
}

DECLARE(SCIUnmapRemoteSegmentForDevice)
void EXPORT(SCIUnmapRemoteSegmentForDevice)(sci_remote_segment_t segment, sci_smartio_device_t device, unsigned int flags, sci_error_t *error)
{
	record("SCIUnmapRemoteSegmentForDevice", "segment=%u device=%llx flags=%x", segment->target->id, device->fdid, flags);
	ENTER(SCIUnmapRemoteSegmentForDevice);
	unmap_for_device(segment, device, error);
}
#endif
