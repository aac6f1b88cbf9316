package org.jrdma.tck.verbs;

/** A feature that a provider may omit. Tests that need it are skipped. */
public enum Feature {
    /** Queue pairs are connected by {@code ibv_modify_qp}. */
    CONNECTING_BY_MODIFY,
    /** The connection manager, {@code rdma_cm}, and an address for it. */
    CONNECTION_MANAGER,
    /** The connection manager outlives a process, and notifies peers of its end. */
    CLEANING_UP_PROCESSES,
    /** {@code rdma_set_local_ece}. */
    ENHANCED_OPTIONS_OF_CONNECTIONS,
    /** {@code rdma_write_cm_event} and {@code rdma_resolve_addrinfo}, which were added together. */
    USER_DEFINED_EVENTS,
    /** Queue pairs of the type UC. */
    UNRELIABLE_CONNECTIONS,
    /** Queue pairs of the type UD. */
    DATAGRAMS,
    /** Shared receive queues. */
    SHARED_RECEIVE_QUEUES,
    /** {@code ibv_query_srq}. */
    QUERYING_SHARED_RECEIVE_QUEUES,
    /** Shared receive queues can be resized. */
    RESIZING_SHARED_RECEIVE_QUEUES,
    /** Extended reliable connections, and their domains. */
    XRC,
    /** Requests transfer data and complete. */
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
    /** Completions have timestamps, and the device's clock can be read. */
    COMPLETION_TIMESTAMPS,
    /** Completion queues that ignore overruns. */
    OVERRUNNING_COMPLETION_QUEUES,
    /** Queries return RESET for a new queue pair. */
    REPORTING_RESET,
    /** The largest MTU of the port is reported. */
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
    /**
     * Rate limits, ECE, flows and their counters, raw packets, dma-buf, import, regions of the
     * whole address space.
     */
    ADAPTERS_OFFERS,
    /** On-demand transfers at all offsets of a page, not only at its start. */
    ON_DEMAND_WITHIN_PAGES,
    /** {@code ibv_advise_mr}. */
    ADVICE,
    /** Memory windows, and their invalidation. */
    MEMORY_WINDOWS,
    /** A receive reports the window that the sender invalidated. */
    REPORTING_INVALIDATION,
    /** Regions beyond 2 GiB, within reasonable time and memory. */
    LARGE_REGIONS,
    /** Changes of the port's network interface cause events. */
    PORT_EVENTS,
    /** An overrun of a completion queue causes an event. */
    OVERRUN_EVENTS,
    /** Calls of the provider do not allocate Java objects. */
    ALLOCATING_NOTHING
}
