/*
 * The SISCI API of the current library (DIS 5 and later, where sizes are size_t). jextract reads this file.
 *
 * The header of that library is not public. This one is based on public information: programs that use the library, the published documentation, and
 * the header of version 1. No number is a guess. The letter after a number, or at the head of its group, states the certainty:
 *
 *   K  known: used by a program for the current library, or stated by two independent sources
 *   V  stated only by the public header of version 1; all numbers that are known for both versions are the same
 *   D  documented for the current library, not seen in use
 *
 * A function marked I has a parameter whose order or type is inferred. All other functions have been seen in use or are documented.
 *
 * Note: The library exports no function with these names, but as _SISCI_PUBLIC_FUNC_MT_<name> and _SISCI_PUBLIC_FUNC_ST_<name>, the latter for programs
 * compiled without _REENTRANT. Many constants are exported as data, named _SISCI_PUBLIC_CONST_<name>, and should be read from there if possible.
 * SISCI_DATA lists the names that are or may be exported in this way. Names without a #define have no publicly known number.
 *
 * Not declared, because only the names are known: SCIGetAdapterFamilyString, SCICreateNamedInterrupt, SCIMemCpy_dual, SCIConnectDeviceSegmentPath,
 * SCIReleaseExclusiveBorrow, DISStartDmaTransfer, DISStartDmaTransferVec, GetSciMemCopyFunction, SetSciMemCopyFunction; the error codes
 * SCI_ERR_NOT_SUPPORTED, _DEPRECATED, _DMA_NOT_AVAILABLE, _DMA_DISABLED, _SEMAPHORE_COUNT_EXCEEDED, _IRQL_ILLEGAL, _LOCAL_BUSY, _ALL_BUSY,
 * _NO_SUCH_FDID; the lengths DIS_DMA_MAX_VECLEN and DIS_MAX_NSCIS; the order of the members of sci_smartio_query_device_t.
 * Functions that only version 1 had are omitted.
 */
#include <stddef.h>
#include <stdint.h>

#define SISCI_DATA(name) extern const unsigned int _SISCI_PUBLIC_CONST_##name

/* Handles: pointers to opaque structures. */

typedef struct sci_desc *sci_desc_t;
typedef struct sci_local_segment *sci_local_segment_t;
typedef struct sci_remote_segment *sci_remote_segment_t;
typedef struct sci_map *sci_map_t;
typedef struct sci_sequence *sci_sequence_t;
typedef struct sci_dma_queue *sci_dma_queue_t;
typedef struct sci_dma_channel *sci_dma_channel_t;
typedef struct sci_local_interrupt *sci_local_interrupt_t;
typedef struct sci_remote_interrupt *sci_remote_interrupt_t;
typedef struct sci_local_data_interrupt *sci_local_data_interrupt_t;
typedef struct sci_remote_data_interrupt *sci_remote_data_interrupt_t;
typedef struct sci_smartio_device *sci_smartio_device_t;

/* An address on an I/O bus. 32 bits in version 1. */
typedef uint64_t sci_ioaddr_t;

/* Enumerations. All have 32 bits. */

typedef enum {
	SCI_ERR_OK = 0x00000000,			/* K */
	SCI_ERR_BUSY = 0x40000900,			/* V: still in use */
	SCI_ERR_FLAG_NOT_IMPLEMENTED = 0x40000901,	/* V */
	SCI_ERR_ILLEGAL_FLAG = 0x40000902,		/* V */
	SCI_ERR_NOSPC = 0x40000904,			/* V: out of resources of the operating system */
	SCI_ERR_API_NOSPC = 0x40000905,			/* V: out of resources of the library */
	SCI_ERR_HW_NOSPC = 0x40000906,			/* V: the adapter's window or table is full */
	SCI_ERR_NOT_IMPLEMENTED = 0x40000907,		/* V */
	SCI_ERR_ILLEGAL_ADAPTERNO = 0x40000908,		/* V: invalid adapter number */
	SCI_ERR_NO_SUCH_ADAPTERNO = 0x40000909,		/* V: valid number, but no such adapter */
	SCI_ERR_TIMEOUT = 0x4000090A,			/* V */
	SCI_ERR_OUT_OF_RANGE = 0x4000090B,		/* V */
	SCI_ERR_NO_SUCH_SEGMENT = 0x4000090C,		/* K */
	SCI_ERR_NO_SUCH_INTNO = 0x4000090C,		/* K: has the same number as the one above */
	SCI_ERR_ILLEGAL_NODEID = 0x4000090D,		/* V */
	SCI_ERR_CONNECTION_REFUSED = 0x4000090E,	/* V */
	SCI_ERR_SEGMENT_NOT_CONNECTED = 0x4000090F,	/* V */
	SCI_ERR_SIZE_ALIGNMENT = 0x40000910,		/* V */
	SCI_ERR_OFFSET_ALIGNMENT = 0x40000911,		/* V */
	SCI_ERR_ILLEGAL_PARAMETER = 0x40000912,		/* V */
	SCI_ERR_MAX_ENTRIES = 0x40000913,		/* V: no more maps, or entries of a DMA queue */
	SCI_ERR_SEGMENT_NOT_PREPARED = 0x40000914,	/* V */
	SCI_ERR_ILLEGAL_ADDRESS = 0x40000915,		/* V */
	SCI_ERR_ILLEGAL_OPERATION = 0x40000916,		/* V: not in this state */
	SCI_ERR_ILLEGAL_QUERY = 0x40000917,		/* V */
	SCI_ERR_SEGMENTID_USED = 0x40000918,		/* V */
	SCI_ERR_SYSTEM = 0x40000919,			/* V: details in errno */
	SCI_ERR_CANCELLED = 0x4000091A,			/* V: removed during a wait */
	SCI_ERR_NOT_CONNECTED = 0x4000091B,		/* V */
	SCI_ERR_NOT_AVAILABLE = 0x4000091C,		/* V */
	SCI_ERR_INCONSISTENT_VERSIONS = 0x4000091D,	/* V: incompatible versions of library and driver */
	SCI_ERR_COND_INT_RACE_PROBLEM = 0x4000091E,	/* V */
	SCI_ERR_OVERFLOW = 0x4000091F,			/* V */
	SCI_ERR_NOT_INITIALIZED = 0x40000920,		/* V */
	SCI_ERR_ACCESS = 0x40000921,			/* V: attaching is not permitted */
	SCI_ERR_NO_SUCH_NODEID = 0x40000A00,		/* V: the links are up, the node does not respond */
	SCI_ERR_NODE_NOT_RESPONDING = 0x40000A02,	/* V */
	SCI_ERR_NO_REMOTE_LINK_ACCESS = 0x40000A04,	/* V: the peer's link is down */
	SCI_ERR_NO_LINK_ACCESS = 0x40000A05,		/* V: this side's link is down */
	SCI_ERR_TRANSFER_FAILED = 0x40000A06,		/* V */
	SCI_ERR_REMOTE_BUSY = 0x40000B00		/* K */
} sci_error_t;

/* The reasons of a segment event. All K. */
typedef enum {
	SCI_CB_CONNECT = 1,
	SCI_CB_DISCONNECT = 2,
	SCI_CB_NOT_OPERATIONAL = 3,
	SCI_CB_OPERATIONAL = 4,
	SCI_CB_LOST = 5
} sci_segment_cb_reason_t;

/* All K. GATHER is no longer used since version 1. */
typedef enum {
	SCI_DMAQUEUE_IDLE = 0,
	SCI_DMAQUEUE_GATHER = 1,
	SCI_DMAQUEUE_POSTED = 2,
	SCI_DMAQUEUE_DONE = 3,
	SCI_DMAQUEUE_ABORTED = 4,
	SCI_DMAQUEUE_ERROR = 5
} sci_dma_queue_state_t;

/* All K. */
typedef enum {
	SCI_SEQ_OK = 0,
	SCI_SEQ_RETRIABLE = 1,
	SCI_SEQ_NOT_RETRIABLE = 2,
	SCI_SEQ_PENDING = 3
} sci_sequence_status_t;

/* The result of a callback: whether it is to be called again. All K. */
typedef enum {
	SCI_CALLBACK_CANCEL = 1,
	SCI_CALLBACK_CONTINUE = 2
} sci_callback_action_t;

/* All K. */
typedef enum {
	SCI_DMA_TYPE_DONTCARE = 1,
	SCI_DMA_TYPE_ADAPTER = 2,
	SCI_DMA_TYPE_GLOBAL = 3,
	SCI_DMA_TYPE_SYSTEM = 4,
	SCI_DMA_TYPE_TRANSPARENT = 5
} sci_dma_type_t;

/* Kinds of adapters. Their numbers are not public. */
typedef unsigned int dis_virt_adapter_t;
typedef unsigned int dis_adapter_type_t;

/* An entry of a list that ends with 0. The maximum length is not public. */
typedef unsigned int dis_nodeId_t;

/* Numbers. */

#define SCI_INFINITE_TIMEOUT 0xFFFFFFFF			/* K */
#define DIS_BROADCAST_NODEID_GROUP_ALL 252		/* K: the node to connect to for a multicast group */
#define SCI_DMA_CHANNEL_ID_DONTCARE 0xFFFFFFFF		/* K */
#define SCI_ERR_MASK 0x40000000				/* K: set in every error code */

SISCI_DATA(SCI_INFINITE_TIMEOUT);
SISCI_DATA(SCI_LOCAL_HOST);

/* Flags for making, preparing, attaching and sharing segments. All K where there is a number. */

#define SCI_FLAG_USE_CALLBACK 0x00000001
#define SCI_FLAG_EMPTY 0x00000002
#define SCI_FLAG_PRIVATE 0x00000004
#define SCI_FLAG_DMA_SOURCE_ONLY 0x00000008
#define SCI_FLAG_FORCE_REMOVE 0x00000020
#define SCI_FLAG_SHARE_EXTERNAL 0x00000040
#define SCI_FLAG_ALLOW_UNICAST 0x00000080
#define SCI_FLAG_LOCK_USER_MEM 0x00000400
#define SCI_FLAG_PHYSICAL 0x00001000
#define SCI_FLAG_CUDA_BUFFER 0x00002000
#define SCI_FLAG_SCIF_BUFFER 0x00004000
#define SCI_FLAG_BROADCAST 0x00040000
#define SCI_FLAG_AUTO_ID 0x20000000

SISCI_DATA(SCI_FLAG_USE_CALLBACK);
SISCI_DATA(SCI_FLAG_EMPTY);
SISCI_DATA(SCI_FLAG_PRIVATE);
SISCI_DATA(SCI_FLAG_DMA_SOURCE_ONLY);
SISCI_DATA(SCI_FLAG_FORCE_REMOVE);
SISCI_DATA(SCI_FLAG_SHARE_EXTERNAL);
SISCI_DATA(SCI_FLAG_ALLOW_UNICAST);
SISCI_DATA(SCI_FLAG_LOCK_USER_MEM);
SISCI_DATA(SCI_FLAG_PHYSICAL);
SISCI_DATA(SCI_FLAG_CUDA_BUFFER);
SISCI_DATA(SCI_FLAG_SCIF_BUFFER);
SISCI_DATA(SCI_FLAG_BROADCAST);
SISCI_DATA(SCI_FLAG_AUTO_ID);
SISCI_DATA(SCI_FLAG_FORCE_DISCONNECT);		/* for SCISetSegmentUnavailable */
SISCI_DATA(SCI_FLAG_NOTIFY);			/* likewise */

/* Flags for maps. All K. */

#define SCI_FLAG_FIXED_MAP_ADDR 0x00000001
#define SCI_FLAG_READONLY_MAP 0x00000002
#define SCI_FLAG_LOCK_OPERATION 0x00000004
#define SCI_FLAG_CONDITIONAL_INTERRUPT_MAP 0x00000008
#define SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP 0x00000010
#define SCI_FLAG_IO_MAP_IOSPACE 0x00000080
#define SCI_FLAG_NO_MEMORY_LOOPBACK 0x00000800
#define SCI_FLAG_SHARED_MAP 0x00002000
#define SCI_FLAG_WRITE_BACK_CACHE_MAP 0x08000000

SISCI_DATA(SCI_FLAG_FIXED_MAP_ADDR);
SISCI_DATA(SCI_FLAG_READONLY_MAP);
SISCI_DATA(SCI_FLAG_LOCK_OPERATION);
SISCI_DATA(SCI_FLAG_CONDITIONAL_INTERRUPT_MAP);
SISCI_DATA(SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP);
SISCI_DATA(SCI_FLAG_IO_MAP_IOSPACE);
SISCI_DATA(SCI_FLAG_NO_MEMORY_LOOPBACK);
SISCI_DATA(SCI_FLAG_SHARED_MAP);
SISCI_DATA(SCI_FLAG_WRITE_BACK_CACHE_MAP);

/* Flags for sequences, copying and flushing. Their numbers are not public. */

SISCI_DATA(SCI_FLAG_BLOCK_READ);
SISCI_DATA(SCI_FLAG_ERROR_CHECK);
SISCI_DATA(SCI_FLAG_NO_FLUSH);
SISCI_DATA(SCI_FLAG_NO_STORE_BARRIER);
SISCI_DATA(SCI_FLAG_FAST_BARRIER);
SISCI_DATA(SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY);

/* Flags for DMA. All K. */

#define SCI_FLAG_DMA_CHANNEL_SHARED 0x00000001
#define SCI_FLAG_DMA_WAIT 0x00000004
#define SCI_FLAG_DMA_READ 0x00000010
#define SCI_FLAG_DMA_PHDMA 0x00000020
#define SCI_FLAG_DMA_GLOBAL 0x00000040
#define SCI_FLAG_DMA_SYSDMA 0x00000100
#define SCI_FLAG_DMA_USER_MEM 0x00000200
#define SCI_FLAG_DMA_ADAPTER 0x00000800

SISCI_DATA(SCI_FLAG_DMA_CHANNEL_SHARED);
SISCI_DATA(SCI_FLAG_DMA_WAIT);
SISCI_DATA(SCI_FLAG_DMA_READ);
SISCI_DATA(SCI_FLAG_DMA_PHDMA);
SISCI_DATA(SCI_FLAG_DMA_GLOBAL);
SISCI_DATA(SCI_FLAG_DMA_SYSDMA);
SISCI_DATA(SCI_FLAG_DMA_USER_MEM);
SISCI_DATA(SCI_FLAG_DMA_ADAPTER);

/* Flags for interrupts. All K. */

#define SCI_FLAG_FIXED_INTNO 0x00000002
#define SCI_FLAG_SHARED_INT 0x00000004
#define SCI_FLAG_CONDITIONAL_INTERRUPT 0x00000008
#define SCI_FLAG_COUNTING_INT 0x00000020

SISCI_DATA(SCI_FLAG_FIXED_INTNO);
SISCI_DATA(SCI_FLAG_SHARED_INT);
SISCI_DATA(SCI_FLAG_CONDITIONAL_INTERRUPT);
SISCI_DATA(SCI_FLAG_COUNTING_INT);

/* Flags for PCIe requesters, caches and SmartIO. All K. */

#define SCI_FLAG_PCIE_REQUESTER_GLOBAL 0x00000001
#define SCI_FLAG_CACHE_FLUSH 0x00100000
#define SCI_FLAG_CACHE_INVALIDATE 0x00200000
#define SCI_FLAG_EXCLUSIVE 0x01000000
#define SCI_FLAG_DEVICE_SIDE_ONLY 0x02001000
#define SCI_FLAG_LOCAL_ONLY 0x02002000
#define SCI_FLAG_DEVICE_PREFER_BANDWIDTH 0x04000001
#define SCI_FLAG_HOST_PREFER_BANDWIDTH 0x04000002
#define SCI_FLAG_SPECIFY_PATH 0x10000000
#define SCI_FLAG_SPECIFY_SLOT 0x20000000

SISCI_DATA(SCI_FLAG_PCIE_REQUESTER_GLOBAL);
SISCI_DATA(SCI_FLAG_CACHE_FLUSH);
SISCI_DATA(SCI_FLAG_CACHE_INVALIDATE);
SISCI_DATA(SCI_FLAG_EXCLUSIVE);
SISCI_DATA(SCI_FLAG_DEVICE_SIDE_ONLY);
SISCI_DATA(SCI_FLAG_LOCAL_ONLY);
SISCI_DATA(SCI_FLAG_DEVICE_PREFER_BANDWIDTH);
SISCI_DATA(SCI_FLAG_HOST_PREFER_BANDWIDTH);
SISCI_DATA(SCI_FLAG_SPECIFY_PATH);
SISCI_DATA(SCI_FLAG_SPECIFY_SLOT);

/* SmartIO: the location of memory, and its users. All K. */

#define SCI_MEMTYPE_BAR 0x00000001
#define SCI_MEMTYPE_PRIVATE 0x00000002
#define SCI_MEMTYPE_SHARED 0x00000004
#define SCI_MEMACCESS_DEVICE_READ 0x00000001
#define SCI_MEMACCESS_DEVICE_WRITE 0x00000002
#define SCI_MEMACCESS_HOST_READ 0x00000004
#define SCI_MEMACCESS_HOST_WRITE 0x00000008
#define SCI_MEMACCESS_MULTIHOST_READ 0x00000014
#define SCI_MEMACCESS_MULTIHOST_WRITE 0x00000018
#define SCI_MEMACCESS_P2P_READ 0x00000021
#define SCI_MEMACCESS_P2P_WRITE 0x00000022

/* The queries, with their structures. No number is public. */

SISCI_DATA(SCI_Q_VENDORID);				/* sci_query_string_t */
SISCI_DATA(SCI_Q_API);					/* sci_query_string_t */
SISCI_DATA(SCI_Q_ADAPTER);				/* sci_query_adapter_t */
SISCI_DATA(SCI_Q_SYSTEM);				/* sci_query_system_t */
SISCI_DATA(SCI_Q_DMA);					/* sci_query_dma_t; the flags choose the engine */
SISCI_DATA(SCI_Q_LOCAL_SEGMENT);			/* sci_query_local_segment_t */
SISCI_DATA(SCI_Q_REMOTE_SEGMENT);			/* sci_query_remote_segment_t */
SISCI_DATA(SCI_Q_MAP);					/* sci_query_map_t */
SISCI_DATA(SCI_Q_DEVICE);

SISCI_DATA(SCI_Q_ADAPTER_SERIAL_NUMBER);
SISCI_DATA(SCI_Q_ADAPTER_CARD_TYPE);
SISCI_DATA(SCI_Q_ADAPTER_NODEID);
SISCI_DATA(SCI_Q_ADAPTER_CONFIGURED);
SISCI_DATA(SCI_Q_ADAPTER_DMA_MTU);
SISCI_DATA(SCI_Q_ADAPTER_MCAST_MAX_GROUPS);
SISCI_DATA(SCI_Q_ADAPTER_BDF);				/* bus << 8 | device and function */
SISCI_DATA(SCI_Q_ADAPTER_NUMBER_OF_LINKS);
SISCI_DATA(SCI_Q_ADAPTER_LINK_OPERATIONAL);		/* portNo identifies the link, here and below */
SISCI_DATA(SCI_Q_ADAPTER_LINK_WIDTH);
SISCI_DATA(SCI_Q_ADAPTER_LINK_SPEED);			/* a generation of PCIe */
SISCI_DATA(SCI_Q_ADAPTER_LINK_UPTIME);			/* seconds */
SISCI_DATA(SCI_Q_ADAPTER_LINK_DOWNTIME);		/* seconds */
SISCI_DATA(SCI_Q_ADAPTER_LINK_CABLE_INSERTED);
SISCI_DATA(SCI_Q_ADAPTER_LINK_ENABLED);
SISCI_DATA(SCI_Q_ADAPTER_LINK_PARTNER_PORT_NO);

SISCI_DATA(SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE);
SISCI_DATA(SCI_Q_DMA_AVAILABLE);
SISCI_DATA(SCI_Q_DMA_CAPABILITIES);			/* sci_dma_capabilities_t */
SISCI_DATA(SCI_Q_LOCAL_SEGMENT_IOADDR);
SISCI_DATA(SCI_Q_LOCAL_SEGMENT_VIRTUAL_KERNEL_ADDR);
SISCI_DATA(SCI_Q_LOCAL_SEGMENT_PHYS_ADDR);
SISCI_DATA(SCI_Q_REMOTE_SEGMENT_IOADDR);
SISCI_DATA(SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET);
SISCI_DATA(SCI_Q_MAP_IOADDR);
SISCI_DATA(SCI_Q_MAP_PHYS_ADDR);
SISCI_DATA(SCI_Q_DEVICE_INFO);				/* sci_smartio_device_info_t */

/* Structures. Their members are documented (D). */

/* An address in the address space of another node. */
typedef struct sci_address_t {
	uint16_t nodeId;
	uint16_t offsHi;
	uint32_t offsLo;
} sci_address_t;

/* An element of a vector transfer. It is not public whether segments of more than 4 GiB are supported. */
typedef struct dis_dma_vec_t {
	uint32_t size;
	uint32_t local_offset;
	uint32_t remote_offset;
	uint32_t flags;
} dis_dma_vec_t;

typedef struct sci_query_string_t {
	char *str;
	unsigned int length;
} sci_query_string_t;

typedef struct sci_query_adapter_t {
	unsigned int localAdapterNo;
	unsigned int portNo;
	unsigned int subcommand;
	void *data;
} sci_query_adapter_t;

typedef struct sci_query_system_t {
	unsigned int subcommand;
	void *data;
} sci_query_system_t;

typedef struct sci_query_dma_t {
	unsigned int localAdapterNo;
	unsigned int subcommand;
	void *data;
} sci_query_dma_t;

typedef struct sci_query_local_segment_t {
	sci_local_segment_t segment;
	unsigned int subcommand;
	union {
		sci_ioaddr_t ioaddr;
	} data;
} sci_query_local_segment_t;

typedef struct sci_query_remote_segment_t {
	sci_remote_segment_t segment;
	unsigned int subcommand;
	union {
		sci_ioaddr_t ioaddr;
	} data;
} sci_query_remote_segment_t;

typedef struct sci_query_map_t {
	sci_map_t map;
	unsigned int subcommand;
	uint64_t data;
} sci_query_map_t;

/* Lengths in bytes. */
typedef struct sci_dma_capabilities_t {
	unsigned int num_channels;
	unsigned int max_transfer_size;
	unsigned int max_vector_length;
	unsigned int support_mem2io;
	unsigned int support_io2mem;
	unsigned int support_io2io;
	unsigned int min_align_bytes;
	unsigned int suggested_align_bytes;
} sci_dma_capabilities_t;

/* A device that can be borrowed with SmartIO. In 2019, fdid had 32 bits. */
typedef struct sci_smartio_device_info_t {
	uint64_t fdid;
	uint16_t pci_device_id;
	uint16_t pci_vendor_id;
	uint32_t pci_class;
	uint16_t pci_subsystem_device_id;
	uint16_t pci_subsystem_vendor_id;
	uint64_t pci_serial_number;
	uint16_t remote_bdf;
	uint16_t local_bdf;
	uint32_t adapter;
	uint32_t nodeid;
	int physical_slot;
	char user_name[64];
	char uuid[37];
} sci_smartio_device_info_t;

/* Callbacks. The library calls them on its own thread. */

typedef sci_callback_action_t (*sci_cb_local_segment_t)(void *arg, sci_local_segment_t segment, sci_segment_cb_reason_t reason,
		unsigned int nodeId, unsigned int localAdapterNo, sci_error_t error);
typedef sci_callback_action_t (*sci_cb_remote_segment_t)(void *arg, sci_remote_segment_t segment, sci_segment_cb_reason_t reason,
		sci_error_t status);
typedef sci_callback_action_t (*sci_cb_dma_t)(void *arg, sci_dma_queue_t queue, sci_error_t status);
typedef sci_callback_action_t (*sci_cb_interrupt_t)(void *arg, sci_local_interrupt_t interrupt, sci_error_t status);
/* The data is valid during the call. */
typedef sci_callback_action_t (*sci_cb_data_interrupt_t)(void *arg, sci_local_data_interrupt_t interrupt, void *data, unsigned int length,
		sci_error_t status);

/* The library, and descriptors, which own all other objects. */

void SCIInitialize(unsigned int flags, sci_error_t *error);
void SCITerminate(void);
void SCIOpen(sci_desc_t *sd, unsigned int flags, sci_error_t *error);
void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t *error);
const char *SCIGetErrorString(sci_error_t error);
const char *SCIGetAdapterTypeString(unsigned int adapterType); /* I */

/* Local segments: created, prepared for an adapter, made available to peers of that adapter. */

void SCICreateSegment(sci_desc_t sd, sci_local_segment_t *segment, unsigned int segmentId, size_t size, sci_cb_local_segment_t callback,
		void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t *error);
void SCIPrepareSegment(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error);
void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error);
void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags, sci_error_t *error);
size_t SCIGetLocalSegmentSize(sci_local_segment_t segment);
unsigned int SCIGetLocalSegmentId(sci_local_segment_t segment);
sci_segment_cb_reason_t SCIWaitForLocalSegmentEvent(sci_local_segment_t segment, unsigned int *sourcenodeId, unsigned int *localAdapterNo,
		unsigned int timeout, unsigned int flags, sci_error_t *error);
void SCIShareSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t *error);
void SCIAttachLocalSegment(sci_desc_t sd, sci_local_segment_t *segment, unsigned int segmentId, size_t *size,
		sci_cb_local_segment_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIRegisterSegmentMemory(void *address, size_t size, sci_local_segment_t segment, unsigned int flags, sci_error_t *error);
void SCIAttachPhysicalMemory(sci_ioaddr_t ioaddress, void *address, unsigned int busNo, size_t size, sci_local_segment_t segment,
		unsigned int flags, sci_error_t *error);

/* Remote segments. The timeout of SCIConnectSegment is not implemented: the function returns at once. */

void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t *segment, unsigned int nodeId, unsigned int segmentId,
		unsigned int localAdapterNo, sci_cb_remote_segment_t callback, void *callbackArg, unsigned int timeout, unsigned int flags,
		sci_error_t *error);
void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t *error);
size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentId(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentNodeId(sci_remote_segment_t segment);
sci_segment_cb_reason_t SCIWaitForRemoteSegmentEvent(sci_remote_segment_t segment, sci_error_t *status, unsigned int timeout,
		unsigned int flags, sci_error_t *error);
void SCIConnectSCISpace(sci_desc_t sd, unsigned int localAdapterNo, sci_remote_segment_t *segment, sci_address_t address, size_t size,
		unsigned int flags, sci_error_t *error); /* I */

/* Maps. */

volatile void *SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t *map, size_t offset, size_t size, void *addr, unsigned int flags,
		sci_error_t *error);
void *SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t *map, size_t offset, size_t size, void *addr, unsigned int flags,
		sci_error_t *error);
void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t *error);
volatile void *SCIGetMapPointer(sci_map_t map);
sci_ioaddr_t SCIGetMapPhysAddr(sci_map_t map);

/* Sequences, which report whether stores have arrived; copying; flushing. */

void SCICreateMapSequence(sci_map_t map, sci_sequence_t *sequence, unsigned int flags, sci_error_t *error);
void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t *error);
sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t *error);
sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t *error);
void SCIStoreBarrier(sci_sequence_t sequence, unsigned int flags);
void SCIFlush(sci_sequence_t sequence, unsigned int flags);
void SCIMemWrite(void *memAddr, volatile void *remoteAddr, size_t size, unsigned int flags, sci_error_t *error);
void SCIMemCpy(sci_sequence_t sequence, void *memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size, unsigned int flags,
		sci_error_t *error);
void SCICacheSync(sci_map_t map, void *addr, size_t length, unsigned int flags, sci_error_t *error);

/* Nodes, queries, control registers. */

int SCIProbeNode(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId, unsigned int flags, sci_error_t *error);
void SCIQuery(unsigned int command, void *data, unsigned int flags, sci_error_t *error);
void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int *nodeId, unsigned int flags, sci_error_t *error);
void SCIGetNodeIdByAdapterName(char *adaptername, dis_nodeId_t *nodeIds, dis_virt_adapter_t *type, unsigned int flags, sci_error_t *error);
void SCIGetNodeInfoByAdapterName(char *adaptername, unsigned int *adapterNo, dis_nodeId_t *nodeIds, dis_adapter_type_t *type,
		unsigned int flags, sci_error_t *error); /* I */
unsigned int SCIGetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId, unsigned int CSROffset,
		unsigned int flags, sci_error_t *error);
void SCISetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId, unsigned int CSROffset, unsigned int CSRValue,
		unsigned int flags, sci_error_t *error);
unsigned int SCIGetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset, unsigned int flags, sci_error_t *error);
void SCISetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset, unsigned int CSRValue, unsigned int flags,
		sci_error_t *error);

/* DMA. In SCIStartDmaTransfer and SCIStartDmaTransferMem the size precedes the remote offset. */

void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t *dq, unsigned int localAdapterNo, unsigned int maxEntries, unsigned int flags,
		sci_error_t *error);
void SCIRemoveDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t *error);
void SCIAbortDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t *error);
sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t dq);
sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t dq, unsigned int timeout, unsigned int flags, sci_error_t *error);
void SCIStartDmaTransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment, sci_remote_segment_t remoteSegment, size_t localOffset,
		size_t size, size_t remoteOffset, sci_cb_dma_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIStartDmaTransferMem(sci_dma_queue_t dq, void *localAddress, sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
		sci_cb_dma_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIStartDmaTransferVec(sci_dma_queue_t dq, sci_local_segment_t localSegment, sci_remote_segment_t remoteSegment, size_t vecLength,
		dis_dma_vec_t *disDmaVec, sci_cb_dma_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIRequestDMAChannel(sci_desc_t sd, sci_dma_channel_t *channel, unsigned int localAdapterNo, sci_dma_type_t type,
		unsigned int channelId, unsigned int flags, sci_error_t *error);
void SCIReturnDMAChannel(sci_dma_channel_t channel, sci_error_t *error);
void SCIAssignDMAChannel(sci_dma_channel_t channel, sci_dma_queue_t dq, unsigned int flags, sci_error_t *error);
void SCIPrepareLocalSegmentForDMA(sci_dma_channel_t channel, sci_local_segment_t segment, unsigned int flags, sci_error_t *error);
void SCIPrepareRemoteSegmentForDMA(sci_dma_channel_t channel, sci_remote_segment_t segment, unsigned int flags, sci_error_t *error);
void SCIUnprepareLocalSegmentForDMA(sci_dma_channel_t channel, sci_local_segment_t segment, unsigned int flags,
		sci_error_t *error); /* I */
void SCIUnprepareRemoteSegmentForDMA(sci_dma_channel_t channel, sci_remote_segment_t segment, unsigned int flags,
		sci_error_t *error); /* I */

/* Interrupts with and without data. The timeouts of their connect functions are not implemented either. */

void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t *interrupt, unsigned int localAdapterNo, unsigned int *interruptNo,
		sci_cb_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags, sci_error_t *error);
void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t *interrupt, unsigned int nodeId, unsigned int localAdapterNo,
		unsigned int interruptNo, unsigned int timeout, unsigned int flags, sci_error_t *error);
void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t *interrupt, unsigned int localAdapterNo, unsigned int *interruptNo,
		sci_cb_data_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void *data, unsigned int *length, unsigned int timeout,
		unsigned int flags, sci_error_t *error);
void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t *interrupt, unsigned int nodeId, unsigned int localAdapterNo,
		unsigned int interruptNo, unsigned int timeout, unsigned int flags, sci_error_t *error);
void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void *data, unsigned int length, unsigned int flags,
		sci_error_t *error);
void SCIRegisterInterruptFlag(unsigned int localAdapterNo, sci_local_interrupt_t *interrupt, sci_local_segment_t segment,
		unsigned int offset, sci_cb_interrupt_t callback, void *callbackArg, unsigned int flags, sci_error_t *error); /* I */
void SCIEnableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCIDisableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t *error);
void SCIGetConditionalInterruptTrigCounter(sci_local_interrupt_t interrupt, unsigned int *interruptTrigCounter, unsigned int flags,
		sci_error_t *error);

/* PCIe requesters and SmartIO. */

void SCIRegisterPCIeRequester(sci_desc_t sd, unsigned int localAdapterNo, unsigned int busNo, unsigned int devFn, unsigned int flags,
		sci_error_t *error);
void SCIUnregisterPCIeRequester(sci_desc_t sd, unsigned int localAdapterNo, unsigned int busNo, unsigned int devFn, unsigned int flags,
		sci_error_t *error);
void SCIBorrowDevice(sci_desc_t sd, sci_smartio_device_t *device, unsigned long long fdid, unsigned int flags, sci_error_t *error);
void SCIReturnDevice(sci_smartio_device_t device, unsigned int flags, sci_error_t *error);
void SCIConnectDeviceSegment(sci_smartio_device_t device, sci_remote_segment_t *segment, unsigned int segmentId, unsigned int memType,
		sci_cb_remote_segment_t callback, void *callbackArg, unsigned int flags, sci_error_t *error);
void SCICreateDeviceSegment(sci_smartio_device_t device, unsigned int segmentId, size_t size, unsigned int memType,
		unsigned int accessHints, unsigned int flags, sci_error_t *error);
void SCIMapLocalSegmentForDevice(sci_local_segment_t segment, unsigned int localAdapterNo, sci_smartio_device_t device,
		sci_ioaddr_t *ioaddr, size_t offset, size_t size, unsigned int flags, sci_error_t *error);
void SCIUnmapLocalSegmentForDevice(sci_local_segment_t segment, unsigned int localAdapterNo, sci_smartio_device_t device,
		unsigned int flags, sci_error_t *error);
void SCIMapRemoteSegmentForDevice(sci_remote_segment_t segment, sci_smartio_device_t device, sci_ioaddr_t *ioaddr, size_t offset,
		size_t size, unsigned int flags, sci_error_t *error);
void SCIUnmapRemoteSegmentForDevice(sci_remote_segment_t segment, sci_smartio_device_t device, unsigned int flags, sci_error_t *error);
size_t SCIGetDeviceList(sci_desc_t sd, unsigned long long *fdids, size_t maxCount, const sci_smartio_device_info_t *filter,
		unsigned int flags, sci_error_t *error);
unsigned long long SCIGetFabricDeviceId(sci_smartio_device_t device);
