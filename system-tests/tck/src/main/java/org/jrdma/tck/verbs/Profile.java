package org.jrdma.tck.verbs;

import static java.util.Map.entry;

import java.util.Map;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;

/** The deviations and missing features of a provider, each with a reason. */
@SuppressWarnings("ImmutableEnumChecker") // the maps are immutable
public enum Profile {
    /** The specification: all features, no deviations. */
    SPECIFICATION(Map.of(), Map.of(), Map.of()),

    /** The kernel's software RoCE, {@code rdma_rxe}. */
    RXE(
            Map.ofEntries(
                    entry(
                            Feature.LARGE_REGIONS,
                            "it locks every page; 2 GiB of them take a guest half a minute"),
                    entry(Feature.ZERO_BASED_REGIONS, "not in the driver"),
                    entry(Feature.NULL_REGIONS, "not in the driver"),
                    entry(Feature.DEVICE_MEMORY, "it has no device"),
                    entry(Feature.REREGISTRATION, "not in the provider"),
                    entry(Feature.ADVICE, "not in the provider of rdma-core 44"),
                    entry(Feature.ADAPTERS_OFFERS, "it is not an adapter"),
                    entry(
                            Feature.ON_DEMAND_WITHIN_PAGES,
                            "its copy begins at each page's beginning, wherever the bytes are (Linux 7.3)"),
                    entry(Feature.FLUSHES, "not in the provider of rdma-core 44"),
                    entry(Feature.USER_DEFINED_EVENTS, "not in rdma-core 44"),
                    entry(Feature.MODERATION, "not in the provider"),
                    entry(Feature.THREAD_DOMAINS, "not in the provider"),
                    entry(Feature.XRC, "not in the driver"),
                    entry(
                            Feature.REPORTING_INVALIDATION,
                            "its completion has the kernel's flag, which is another for libibverbs"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "not in the provider"),
                    entry(Feature.OVERRUNNING_COMPLETION_QUEUES, "not in the driver")),
            Map.of(
                    Access.ZERO_BASED, "not in the driver",
                    Access.HUGE_PAGES, "not in the driver",
                    Access.FLUSH_PERSISTENT, "for persistent memory only"),
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
                                    "its responder has one status for all that it cannot place")),
                    entry(
                            FailureCase.RECEIVE_TOO_SMALL_AT_SENDER,
                            new Deviation(
                                    CompletionStatus.REMOTE_OPERATION_ERROR,
                                    "its responder answers as if it had failed itself")),
                    entry(
                            FailureCase.RECEIVE_TOO_SMALL_AT_RECEIVER,
                            new Deviation(
                                    CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                                    "its responder has one status for all that it cannot place")),
                    entry(
                            FailureCase.WRITE_BEYOND_WINDOW,
                            new Deviation(
                                    CompletionStatus.SUCCESS,
                                    "its responder knows the bounds of the region only")))),

    /** The kernel's software iWARP, {@code siw}. */
    SIW(
            Map.ofEntries(
                    entry(
                            Feature.CONNECTING_BY_MODIFY,
                            "iWARP connects by TCP, through rdma_cm only"),
                    entry(
                            Feature.ENHANCED_OPTIONS_OF_CONNECTIONS,
                            "iWARP's messages have no room for them"),
                    entry(Feature.USER_DEFINED_EVENTS, "not in rdma-core 44"),
                    entry(Feature.UNRELIABLE_CONNECTIONS, "iWARP has reliable ones only"),
                    entry(Feature.DATAGRAMS, "iWARP has connections only"),
                    entry(Feature.RESIZING_COMPLETION_QUEUES, "the provider has no resize_cq"),
                    entry(Feature.EXTENDED_COMPLETION_QUEUES, "the provider has no create_cq_ex"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "the provider has no create_cq_ex"),
                    entry(Feature.MODERATION, "not in the provider"),
                    entry(Feature.THREAD_DOMAINS, "not in the provider"),
                    entry(Feature.EXTENDED_POSTS, "the provider has no create_qp_ex"),
                    entry(Feature.XRC, "iWARP has none"),
                    entry(Feature.ATOMIC_WRITES, "the provider has no create_qp_ex"),
                    entry(Feature.FLUSHES, "the provider has no create_qp_ex"),
                    entry(
                            Feature.OVERRUNNING_COMPLETION_QUEUES,
                            "the provider has no create_cq_ex"),
                    entry(Feature.QUERYING_SHARED_RECEIVE_QUEUES, "the provider has no query_srq"),
                    entry(Feature.RESIZING_SHARED_RECEIVE_QUEUES, "not in the driver"),
                    entry(Feature.REPORTING_RESET, "its idle state is reported as INIT"),
                    entry(Feature.REPORTING_GREATEST_MTU, "the driver leaves it out"),
                    entry(Feature.PARTITION_KEYS, "iWARP has none"),
                    entry(Feature.ADVICE, "not in the provider"),
                    entry(Feature.ADAPTERS_OFFERS, "it is not an adapter"),
                    entry(Feature.MEMORY_WINDOWS, "not in the driver"),
                    entry(Feature.DEVICE_MEMORY, "it has no device"),
                    entry(Feature.LARGE_REGIONS, "as for rxe")),
            Map.of(
                    Access.FLUSH_GLOBAL, "not in the driver",
                    Access.FLUSH_PERSISTENT, "not in the driver"),
            Map.of()),

    /** The software fabric, {@code roce-soft}: no deviations. */
    SOFTWARE(
            Map.of(
                    Feature.SYSFS, "the kernel knows nothing of it",
                    Feature.CLEANING_UP_PROCESSES, "it ends with its process",
                    Feature.ALLOCATING_NOTHING,
                            "it is in Java, where a segment is an object unless the JIT sees otherwise",
                    Feature.ADAPTERS_OFFERS, "it is not an adapter",
                    Feature.LOCKING_MEMORY, "it pins nothing"),
            Map.of(Access.FLUSH_PERSISTENT, "for persistent memory only"),
            Map.of()),

    /**
     * A provider that accepts every request and transfers nothing, for benchmarks and stress tests.
     */
    NULL(
            Map.ofEntries(
                    entry(Feature.CONNECTION_MANAGER, "it has no peers"),
                    entry(Feature.MOVING_DATA, "it completes what is posted, and does nothing"),
                    entry(Feature.COMPLETION_EVENTS, "it has no kernel to send them"),
                    entry(Feature.MODERATION, "it has no events"),
                    entry(Feature.THREAD_DOMAINS, "it locks nothing"),
                    entry(Feature.XRC, "it has no peers"),
                    entry(Feature.COMPLETION_TIMESTAMPS, "it has no clock"),
                    entry(Feature.OVERRUNNING_COMPLETION_QUEUES, "it takes it for a misuse"),
                    entry(
                            Feature.SHARED_RECEIVE_QUEUES,
                            "its last queue pair takes every receive at once"),
                    entry(Feature.ADVICE, "it has no pages"),
                    entry(Feature.ADAPTERS_OFFERS, "it is not an adapter"),
                    entry(Feature.DEVICE_MEMORY, "it has no device"),
                    entry(Feature.ATOMIC_WRITES, "it writes nothing"),
                    entry(Feature.FLUSHES, "it writes nothing"),
                    entry(Feature.MEMORY_WINDOWS, "it has no peers to open them to"),
                    entry(Feature.LARGE_REGIONS, "it takes any, without asking")),
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

    /** A status other than the one that the specification requires. */
    record Deviation(CompletionStatus status, String reason) {

        private static final Deviation FLUSHED_AT_ONCE =
                new Deviation(
                        CompletionStatus.FLUSHED,
                        "its requester goes to the error state before it completes the request");
    }

    /** Returns the profile for a device's name. */
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

    /** Returns true if tests that need the feature run. */
    public boolean has(Feature feature) {
        return !lacks.containsKey(feature);
    }

    boolean lacksRight(Access right) {
        return lackingRights.containsKey(right);
    }

    /** Returns the status of this provider for a failure. */
    CompletionStatus statusOf(FailureCase flow) {
        var deviation = deviations.get(flow);
        return deviation == null ? flow.demanded() : deviation.status();
    }
}
