package org.jrdma.tck.verbs;

/** What a provider may lack without being wrong; tests that need it are then skipped. */
public enum Feature {
    /** Queue pairs are brought to each other by {@code ibv_modify_qp}. */
    CONNECTING_BY_MODIFY,
    /** The connection manager, {@code rdma_cm}, and an address for it. */
    CONNECTION_MANAGER,
    /** Who outlives a process, and tells its peers when it is gone. */
    CLEANING_UP_PROCESSES,
    /** {@code rdma_set_local_ece}. */
    ENHANCED_OPTIONS_OF_CONNECTIONS,
    /** {@code rdma_write_cm_event} and {@code rdma_resolve_addrinfo}, which came together. */
    WRITTEN_EVENTS,
    /** Queue pairs of the type UC. */
    UNRELIABLE_CONNECTIONS,
    /** Queue pairs of the type UD. */
    DATAGRAMS,
    /** Receive queues that queue pairs share. */
    SHARED_RECEIVE_QUEUES,
    /** {@code ibv_query_srq}. */
    QUERYING_SHARED_RECEIVE_QUEUES,
    /** Shared receive queues can be resized. */
    RESIZING_SHARED_RECEIVE_QUEUES,
    /** Extended reliable connections, and their domains. */
    XRC,
    /** Requests really move data, and completions tell of it. */
    MOVING_DATA,
    /** Completion channels. */
    COMPLETION_EVENTS,
    /** {@code ibv_resize_cq}. */
    RESIZING_COMPLETION_QUEUES,
    /** {@code ibv_create_cq_ex}. */
    EXTENDED_COMPLETION_QUEUES,
    /** {@code ibv_modify_cq}. */
    MODERATION,
    /** {@code ibv_alloc_td} and {@code ibv_alloc_parent_domain}. */
    THREAD_DOMAINS,
    /** {@code ibv_create_qp_ex} with functions to post by. */
    EXTENDED_POSTS,
    /** {@code ibv_wr_atomic_write}. */
    ATOMIC_WRITES,
    /** {@code ibv_wr_flush}. */
    FLUSHES,
    /** Completions tell when they came, and the device's clock can be read. */
    COMPLETION_TIMESTAMPS,
    /** Completion queues that go on when they are full. */
    OVERRUNNING_COMPLETION_QUEUES,
    /** Queries answer RESET for a queue pair that was just made. */
    REPORTING_RESET,
    /** The port's greatest MTU is told. */
    REPORTING_GREATEST_MTU,
    /** Extended device attributes. */
    EXTENDED_ATTRIBUTES,
    /** The kernel describes the device in its file system. */
    SYSFS,
    /** Registered memory counts as locked memory of the process. */
    LOCKING_MEMORY,
    /** Partition keys. */
    PARTITION_KEYS,
    /** {@code ibv_reg_mr_iova}. */
    CHOSEN_ADDRESSES,
    /** Regions whose addresses count from 0. */
    ZERO_BASED_REGIONS,
    /** {@code ibv_alloc_null_mr}. */
    NULL_REGIONS,
    /** {@code ibv_alloc_dm}. */
    DEVICE_MEMORY,
    /** {@code ibv_rereg_mr}. */
    REREGISTRATION,
    /** Rate limits, ECE, flows and their counters, raw packets, dma-buf, import, regions of all. */
    ADAPTERS_OFFERS,
    /** Transfers to and from all places of a page on demand, not its beginning alone. */
    ON_DEMAND_WITHIN_PAGES,
    /** {@code ibv_advise_mr}. */
    ADVICE,
    /** Memory windows, and their invalidation. */
    MEMORY_WINDOWS,
    /** A receive tells which window the sender has taken away. */
    REPORTING_INVALIDATION,
    /** Regions beyond 2 GiB, within reasonable time and memory. */
    LARGE_REGIONS,
    /** Events tell of the port's network interface. */
    PORT_EVENTS,
    /** An event tells that a completion queue overran. */
    OVERRUN_EVENTS,
    /** What the provider does allocates nothing in Java. */
    ALLOCATING_NOTHING
}
