package org.jrdma.verbs.cm.model;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.ffi.Errno;

/**
 * The reason for which a peer rejected a connection: the codes of the InfiniBand specification,
 * which RoCE also uses, and the two reasons that iWARP distinguishes.
 */
public enum RejectReason {
    NO_QUEUE_PAIR(1, "no queue pair is available"),
    NO_END_TO_END_CONTEXT(2, "no end-to-end context is available"),
    NO_RESOURCES(3, "no resources are available"),
    TIMEOUT(4, "it timed out while waiting for this side"),
    UNSUPPORTED(5, "the request is not supported"),
    INVALID_COMMUNICATION_ID(6, "the communication ID is invalid"),
    INVALID_COMMUNICATION_INSTANCE(7, "the communication IDs belong to different connections"),
    NO_LISTENER(8, "no program listens at that port"),
    INVALID_TRANSPORT(9, "the queue pair type is not supported"),
    STALE_CONNECTION(10, "the queue pair belongs to an older connection"),
    NO_RELIABLE_DATAGRAM_CHANNEL(11, "the reliable datagram channel does not exist"),
    INVALID_GID(12, "the GID is invalid"),
    INVALID_LID(13, "the LID is invalid"),
    INVALID_SERVICE_LEVEL(14, "the service level is not supported"),
    INVALID_TRAFFIC_CLASS(15, "the traffic class is not supported"),
    INVALID_HOP_LIMIT(16, "the hop limit is too low"),
    INVALID_PACKET_RATE(17, "the packet rate is too high"),
    INVALID_ALTERNATE_GID(18, "the alternate GID is invalid"),
    INVALID_ALTERNATE_LID(19, "the alternate LID is invalid"),
    INVALID_ALTERNATE_SERVICE_LEVEL(20, "the alternate service level is not supported"),
    INVALID_ALTERNATE_TRAFFIC_CLASS(21, "the alternate traffic class is not supported"),
    INVALID_ALTERNATE_HOP_LIMIT(22, "the alternate hop limit is too low"),
    INVALID_ALTERNATE_PACKET_RATE(23, "the alternate packet rate is too high"),
    REDIRECTED_MANAGER(24, "another connection manager handles the service"),
    REDIRECTED_PORT(25, "another port handles the service"),
    INVALID_MTU(26, "the path MTU is not supported"),
    INSUFFICIENT_READS(27, "the number of concurrent reads is not supported"),
    CONSUMER(28, "its program rejected the request"),
    INVALID_RETRIES(29, "the number of receiver-not-ready retries is not supported"),
    DUPLICATE_COMMUNICATION_ID(30, "the communication ID is already in use"),
    INVALID_CLASS_VERSION(31, "the protocol version is not supported"),
    INVALID_FLOW_LABEL(32, "the flow label is not supported"),
    INVALID_ALTERNATE_FLOW_LABEL(33, "the alternate flow label is not supported"),
    VENDOR_OPTION_NOT_SUPPORTED(35, "the vendor-specific options are not supported"),
    /**
     * The TCP connection was reset, on iWARP. Some iWARP drivers also report this reason if the
     * peer's program rejected the connection.
     */
    RESET(-Errno.ECONNRESET, "its program rejected the request, or the TCP connection was reset"),
    /** A code that this version of the SDK does not know. */
    UNKNOWN(0, "the reason is unknown");

    private static final Map<Integer, RejectReason> BY_STATUS =
            Arrays.stream(values())
                    .collect(Collectors.toMap(reason -> reason.status, Function.identity()));

    private final int status;
    private final String meaning;

    RejectReason(int status, String meaning) {
        this.status = status;
        this.meaning = meaning;
    }

    /**
     * The end of the sentence "the peer rejected the request: ...", as a description of the reason.
     */
    public String meaning() {
        return meaning;
    }

    /**
     * Returns the reason for the status of a native event. On iWARP, the status is a negative
     * errno; ECONNREFUSED means that the peer's program rejected the connection.
     */
    public static RejectReason ofStatus(int status) {
        return status == -Errno.ECONNREFUSED ? CONSUMER : BY_STATUS.getOrDefault(status, UNKNOWN);
    }
}
