package org.jrdma.tck.verbs;

/**
 * A feature that some providers lack. Tests that need the feature are skipped on those providers.
 */
public enum Feature {
    /** Queue pairs can be connected with {@code ibv_modify_qp}, without the connection manager. */
    CONNECTING_BY_MODIFY,
    /** The connection manager, {@code rdma_cm}, on a device with an IP address. */
    CONNECTION_MANAGER,
    /** The connection manager notifies the peers of a process when that process dies. */
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
    /** Extended reliable connections (XRC) and XRC domains. */
    XRC,
    /** Requests actually transfer data and complete. */
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
    /** {@code ibv_create_qp_ex} with the posting functions {@code ibv_wr_*}. */
    EXTENDED_POSTS,
    /** {@code ibv_wr_atomic_write}. */
    ATOMIC_WRITES,
    /** {@code ibv_wr_flush}. */
    FLUSHES,
    /** Completions have timestamps, and the clock of the device can be read. */
    COMPLETION_TIMESTAMPS,
    /** Completion queues that ignore overruns. */
    OVERRUNNING_COMPLETION_QUEUES,
    /** {@code ibv_query_qp} reports the state RESET for a new queue pair. */
    REPORTING_RESET,
    /** The largest MTU of the port is reported. */
    REPORTING_GREATEST_MTU,
    /** Extended device attributes. */
    EXTENDED_ATTRIBUTES,
    /** The kernel describes the device in sysfs. */
    SYSFS,
    /** Registered memory counts as locked memory of the process. */
    LOCKING_MEMORY,
    /** Partition keys. */
    PARTITION_KEYS,
    /** {@code ibv_reg_mr_iova}. */
    CHOSEN_ADDRESSES,
    /** Regions whose remote addresses start at 0. */
    ZERO_BASED_REGIONS,
    /** {@code ibv_alloc_null_mr}. */
    NULL_REGIONS,
    /** {@code ibv_alloc_dm}. */
    DEVICE_MEMORY,
    /** {@code ibv_rereg_mr}. */
    REREGISTRATION,
    /**
     * Features that only hardware adapters have: rate limits, ECE, flows and their counters, raw
     * packets, dma-bufs, import of objects, and regions of the whole address space.
     */
    ADAPTERS_OFFERS,
    /** On-demand paging also works for data that does not start at the start of a page. */
    ON_DEMAND_WITHIN_PAGES,
    /** {@code ibv_advise_mr}. */
    ADVICE,
    /** Memory windows and their invalidation. */
    MEMORY_WINDOWS,
    /** The completion of a receive reports the key that the sender invalidated. */
    REPORTING_INVALIDATION,
    /** Regions of more than 2 GiB can be registered within reasonable time and memory. */
    LARGE_REGIONS,
    /** Changes of the network interface of a port cause asynchronous events. */
    PORT_EVENTS,
    /** An overrun of a completion queue causes an asynchronous event. */
    OVERRUN_EVENTS,
    /**
     * Calls of the provider do not allocate Java objects, because the provider is not written in
     * Java.
     */
    ALLOCATING_NOTHING
}
