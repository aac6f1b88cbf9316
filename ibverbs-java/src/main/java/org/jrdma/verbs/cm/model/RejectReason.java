package org.jrdma.verbs.cm.model;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.ffi.Errno;

/**
 * The reason for which a peer rejected a connection: the codes of the InfiniBand specification,
 * which RoCE shares, and the two that iWARP distinguishes.
 */
public enum RejectReason {
    NO_QUEUE_PAIR(1, "it has no queue pair for it"),
    NO_END_TO_END_CONTEXT(2, "it has no end-to-end context for it"),
    NO_RESOURCES(3, "it has no resources for it"),
    TIMEOUT(4, "it waited for this side for too long"),
    UNSUPPORTED(5, "it does not support what was asked for"),
    INVALID_COMMUNICATION_ID(6, "it does not know the connection's identifier"),
    INVALID_COMMUNICATION_INSTANCE(7, "the connection's identifiers are of two connections"),
    NO_LISTENER(8, "nobody listens at that port"),
    INVALID_TRANSPORT(9, "it does not have that kind of queue pair"),
    STALE_CONNECTION(10, "it holds the queue pair for that of an older connection"),
    NO_RELIABLE_DATAGRAM_CHANNEL(11, "it has no such reliable datagram channel"),
    INVALID_GID(12, "the GID is not its own"),
    INVALID_LID(13, "the LID is not its own"),
    INVALID_SERVICE_LEVEL(14, "it does not have that service level"),
    INVALID_TRAFFIC_CLASS(15, "it does not have that traffic class"),
    INVALID_HOP_LIMIT(16, "the hop limit is too low"),
    INVALID_PACKET_RATE(17, "it is too slow for the packet rate"),
    INVALID_ALTERNATE_GID(18, "the alternate GID is not its own"),
    INVALID_ALTERNATE_LID(19, "the alternate LID is not its own"),
    INVALID_ALTERNATE_SERVICE_LEVEL(20, "it does not have the alternate service level"),
    INVALID_ALTERNATE_TRAFFIC_CLASS(21, "it does not have the alternate traffic class"),
    INVALID_ALTERNATE_HOP_LIMIT(22, "the alternate hop limit is too low"),
    INVALID_ALTERNATE_PACKET_RATE(23, "it is too slow for the alternate packet rate"),
    REDIRECTED_MANAGER(24, "another port answers for it"),
    REDIRECTED_PORT(25, "the service is at another port"),
    INVALID_MTU(26, "it cannot take packets of that size"),
    INSUFFICIENT_READS(27, "it cannot answer so many reads at a time"),
    CONSUMER(28, "its program refused"),
    INVALID_RETRIES(29, "it does not take that number of retries without a receive"),
    DUPLICATE_COMMUNICATION_ID(30, "it has a connection of that identifier already"),
    INVALID_CLASS_VERSION(31, "it speaks another version"),
    INVALID_FLOW_LABEL(32, "it does not take the flow label"),
    INVALID_ALTERNATE_FLOW_LABEL(33, "it does not take the alternate flow label"),
    VENDOR_OPTION_NOT_SUPPORTED(35, "it does not take the vendor's options"),
    /** On iWARP. Some drivers also report it when the peer's program rejected the connection. */
    RESET(-Errno.ECONNRESET, "its program refused, or it closed the TCP connection"),
    /** A code that this enum does not have. */
    UNKNOWN(0, "for a reason that has no name here");

    private static final Map<Integer, RejectReason> BY_STATUS =
            Arrays.stream(values())
                    .collect(Collectors.toMap(reason -> reason.status, Function.identity()));

    private final int status;
    private final String meaning;

    RejectReason(int status, String meaning) {
        this.status = status;
        this.meaning = meaning;
    }

    /** The meaning in words, as the end of "the peer refused: ". */
    public String meaning() {
        return meaning;
    }

    /**
     * Returns the reason for the status of a native event. On iWARP the status is an errno, and
     * ECONNREFUSED means that the peer's program rejected the connection.
     */
    public static RejectReason ofStatus(int status) {
        return status == -Errno.ECONNREFUSED ? CONSUMER : BY_STATUS.getOrDefault(status, UNKNOWN);
    }
}
