package org.jrdma.tck.verbs;

import static java.util.Map.entry;

import java.util.Map;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;

/**
 * The missing features of a provider and its deviations from the specification, each with the
 * reason.
 */
@SuppressWarnings("ImmutableEnumChecker") // The maps are immutable.
public enum Profile {
    /** The specification: all features, no deviations. */
    SPECIFICATION(Map.of(), Map.of(), Map.of()),

    /** The kernel's software RoCE, {@code rdma_rxe}. */
    RXE(
            Map.ofEntries(
                    entry(
                            Feature.LARGE_REGIONS,
                            "registration locks every page: 30 s for 2 GiB in the guest"),
                    entry(Feature.ZERO_BASED_REGIONS, "not implemented in the driver"),
                    entry(Feature.NULL_REGIONS, "not implemented in the driver"),
                    entry(Feature.DEVICE_MEMORY, "a software device has no memory of its own"),
                    entry(Feature.REREGISTRATION, "not implemented in the provider"),
                    entry(Feature.ADVICE, "not implemented in the provider of rdma-core 44"),
                    entry(Feature.ADAPTERS_OFFERS, "only hardware adapters have these features"),
                    entry(
                            Feature.ON_DEMAND_WITHIN_PAGES,
                            "it copies from the start of each page (Linux 7.3)"),
                    entry(Feature.FLUSHES, "not implemented in the provider of rdma-core 44"),
                    entry(Feature.USER_DEFINED_EVENTS, "not implemented in rdma-core 44"),
                    entry(Feature.MODERATION, "not implemented in the provider"),
                    entry(Feature.THREAD_DOMAINS, "not implemented in the provider"),
                    entry(Feature.XRC, "not implemented in the driver"),
                    entry(
                            Feature.REPORTING_INVALIDATION,
                            "it sets a bit with another meaning in libibverbs"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "not implemented in the provider"),
                    entry(Feature.OVERRUNNING_COMPLETION_QUEUES, "not implemented in the driver")),
            Map.of(
                    Access.ZERO_BASED, "not implemented in the driver",
                    Access.HUGE_PAGES, "not implemented in the driver",
                    Access.FLUSH_PERSISTENT, "works only with persistent memory"),
            Map.ofEntries(
                    entry(FailureCase.WRITE_WITH_WRONG_LOCAL_KEY, Deviation.FLUSHED_AT_ONCE),
                    entry(FailureCase.WRITE_FROM_ANOTHER_DOMAIN, Deviation.FLUSHED_AT_ONCE),
                    entry(FailureCase.SEND_FROM_ANOTHER_DOMAIN, Deviation.FLUSHED_AT_ONCE),
                    entry(FailureCase.BIND_TO_REGION_WITHOUT_RIGHT, Deviation.FLUSHED_AT_ONCE),
                    entry(
                            FailureCase.BIND_FOR_WRITES_WITHOUT_LOCAL_WRITE,
                            Deviation.FLUSHED_AT_ONCE),
                    entry(FailureCase.BIND_OF_BOUND_WINDOW, Deviation.FLUSHED_AT_ONCE),
                    entry(FailureCase.BIND_OF_NO_BYTES, Deviation.FLUSHED_AT_ONCE),
                    entry(
                            FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_RECEIVER,
                            new Deviation(
                                    CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                                    "its status for all failures to place data")),
                    entry(
                            FailureCase.RECEIVE_TOO_SMALL_AT_SENDER,
                            new Deviation(
                                    CompletionStatus.REMOTE_OPERATION_ERROR,
                                    "its responder sends the NAK of an operation error")),
                    entry(
                            FailureCase.RECEIVE_TOO_SMALL_AT_RECEIVER,
                            new Deviation(
                                    CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                                    "its status for all failures to place data")),
                    entry(
                            FailureCase.WRITE_BEYOND_WINDOW,
                            new Deviation(
                                    CompletionStatus.SUCCESS,
                                    "its responder checks only the bounds of the region")))),

    /** The kernel's software iWARP, {@code siw}. */
    SIW(
            Map.ofEntries(
                    entry(
                            Feature.CONNECTING_BY_MODIFY,
                            "iWARP connects only over TCP, with rdma_cm"),
                    entry(
                            Feature.ENHANCED_OPTIONS_OF_CONNECTIONS,
                            "the connect messages of iWARP have no field for them"),
                    entry(Feature.USER_DEFINED_EVENTS, "not implemented in rdma-core 44"),
                    entry(Feature.UNRELIABLE_CONNECTIONS, "iWARP has only reliable connections"),
                    entry(Feature.DATAGRAMS, "iWARP has only reliable connections"),
                    entry(Feature.RESIZING_COMPLETION_QUEUES, "the provider has no resize_cq"),
                    entry(Feature.EXTENDED_COMPLETION_QUEUES, "the provider has no create_cq_ex"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "the provider has no create_cq_ex"),
                    entry(Feature.MODERATION, "not implemented in the provider"),
                    entry(Feature.THREAD_DOMAINS, "not implemented in the provider"),
                    entry(Feature.EXTENDED_POSTS, "the provider has no create_qp_ex"),
                    entry(Feature.XRC, "iWARP does not define XRC"),
                    entry(Feature.ATOMIC_WRITES, "the provider has no create_qp_ex"),
                    entry(Feature.FLUSHES, "the provider has no create_qp_ex"),
                    entry(
                            Feature.OVERRUNNING_COMPLETION_QUEUES,
                            "the provider has no create_cq_ex"),
                    entry(Feature.QUERYING_SHARED_RECEIVE_QUEUES, "the provider has no query_srq"),
                    entry(Feature.RESIZING_SHARED_RECEIVE_QUEUES, "not implemented in the driver"),
                    entry(Feature.REPORTING_RESET, "the driver reports a new queue pair as INIT"),
                    entry(Feature.REPORTING_GREATEST_MTU, "the driver does not report it"),
                    entry(Feature.PARTITION_KEYS, "iWARP does not define partition keys"),
                    entry(Feature.ADVICE, "not implemented in the provider"),
                    entry(Feature.ADAPTERS_OFFERS, "only hardware adapters have these features"),
                    entry(Feature.MEMORY_WINDOWS, "not implemented in the driver"),
                    entry(Feature.DEVICE_MEMORY, "a software device has no memory of its own"),
                    entry(
                            Feature.LARGE_REGIONS,
                            "registration locks every page: 30 s for 2 GiB in the guest")),
            Map.of(
                    Access.FLUSH_GLOBAL, "not implemented in the driver",
                    Access.FLUSH_PERSISTENT, "not implemented in the driver"),
            Map.of()),

    /** The software fabric, {@code roce-soft}: no deviations. */
    SOFTWARE(
            Map.of(
                    Feature.SYSFS, "the kernel does not know the device",
                    Feature.CLEANING_UP_PROCESSES, "it runs in the process and ends with it",
                    Feature.ALLOCATING_NOTHING,
                            "it is Java code, which creates MemorySegment objects",
                    Feature.ADAPTERS_OFFERS, "only hardware adapters have these features",
                    Feature.LOCKING_MEMORY, "the fabric does not pin memory"),
            Map.of(Access.FLUSH_PERSISTENT, "works only with persistent memory"),
            Map.of()),

    /**
     * A provider that accepts every request and transfers nothing, for benchmarks and stress tests.
     */
    NULL(
            Map.ofEntries(
                    entry(Feature.CONNECTION_MANAGER, "it has no peers"),
                    entry(Feature.MOVING_DATA, "it completes requests without transferring data"),
                    entry(Feature.COMPLETION_EVENTS, "it has no kernel driver that sends events"),
                    entry(Feature.MODERATION, "it has no completion events"),
                    entry(Feature.THREAD_DOMAINS, "it locks nothing"),
                    entry(Feature.XRC, "it has no peers"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "it has no clock"),
                    entry(
                            Feature.OVERRUNNING_COMPLETION_QUEUES,
                            "it aborts the process when a completion queue overruns"),
                    entry(
                            Feature.SHARED_RECEIVE_QUEUES,
                            "it completes each receive immediately, on a single queue pair"),
                    entry(Feature.ADVICE, "it does not manage pages"),
                    entry(Feature.ADAPTERS_OFFERS, "only hardware adapters have these features"),
                    entry(Feature.DEVICE_MEMORY, "a software device has no memory of its own"),
                    entry(Feature.ATOMIC_WRITES, "it does not write data"),
                    entry(Feature.FLUSHES, "it does not write data"),
                    entry(Feature.MEMORY_WINDOWS, "it has no peers that could use them"),
                    entry(Feature.LARGE_REGIONS, "it accepts any length without a check")),
            Map.of(),
            Map.of());

    private final Map<Feature, String> lacks;
    private final Map<Access, String> lackingRights;
    private final Map<FailureCase, Deviation> deviations;

    Profile(
            Map<Feature, String> lacks,
            Map<Access, String> lackingRights,
            Map<FailureCase, Deviation> deviations) {
        this.lacks = lacks;
        this.lackingRights = lackingRights;
        this.deviations = deviations;
    }

    /** A status that the provider reports instead of the status that the specification requires. */
    record Deviation(CompletionStatus status, String reason) {

        private static final Deviation FLUSHED_AT_ONCE =
                new Deviation(
                        CompletionStatus.FLUSHED,
                        "its requester enters the error state before it completes the request");
    }

    /** Returns the profile for a device, selected by the prefix of its name. */
    static Profile ofDevice(String name) {
        if (name.startsWith("rxe")) {
            return RXE;
        }
        if (name.startsWith("siw")) {
            return SIW;
        }
        if (name.startsWith("soft")) {
            return SOFTWARE;
        }
        return name.startsWith("null") ? NULL : SPECIFICATION;
    }

    Map<Feature, String> lacks() {
        return lacks;
    }

    /** Returns true if the provider has the feature. If not, tests that need it are skipped. */
    public boolean has(Feature feature) {
        return !lacks.containsKey(feature);
    }

    boolean lacksRight(Access right) {
        return lackingRights.containsKey(right);
    }

    /** Returns the status that this provider reports for a failure. */
    CompletionStatus statusOf(FailureCase failure) {
        var deviation = deviations.get(failure);
        return deviation == null ? failure.demanded() : deviation.status();
    }
}
