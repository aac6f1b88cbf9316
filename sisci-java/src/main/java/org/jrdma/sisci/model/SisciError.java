package org.jrdma.sisci.model;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.abi.sisci.sisci_h;

/**
 * An error of libsisci. Some numbers have one meaning for segments and another for interrupts, so
 * the meaning depends on the function that failed. In C: {@code sci_error_t}.
 */
public enum SisciError {
    /** The object is still in use. */
    BUSY(sisci_h.SCI_ERR_BUSY(), true),
    /** The flag is valid but not implemented in this release. */
    FLAG_NOT_IMPLEMENTED(sisci_h.SCI_ERR_FLAG_NOT_IMPLEMENTED()),
    /** The function does not accept the flag. */
    ILLEGAL_FLAG(sisci_h.SCI_ERR_ILLEGAL_FLAG()),
    /** There are no free resources. For a data interrupt, the receive queue of the peer is full. */
    NO_SPACE(sisci_h.SCI_ERR_NOSPC()),
    /** The library has no free resources. */
    LIBRARY_FULL(sisci_h.SCI_ERR_API_NOSPC()),
    /** The adapter has no free resources. */
    ADAPTER_FULL(
            sisci_h.SCI_ERR_HW_NOSPC(),
            "The address window of the adapter limits the total size of maps: map less, or close other maps."),
    /** The function is not implemented in this release. */
    NOT_IMPLEMENTED(sisci_h.SCI_ERR_NOT_IMPLEMENTED()),
    /** The number is not a valid adapter number. */
    ILLEGAL_ADAPTER(sisci_h.SCI_ERR_ILLEGAL_ADAPTERNO()),
    /** No adapter has this number. */
    NO_SUCH_ADAPTER(
            sisci_h.SCI_ERR_NO_SUCH_ADAPTERNO(),
            "Adapters are numbered from 0. Check that the driver is loaded and has found the adapter."),
    /** The operation timed out. */
    TIMEOUT(sisci_h.SCI_ERR_TIMEOUT(), true),
    /** The offset or size exceeds the segment. */
    OUT_OF_RANGE(sisci_h.SCI_ERR_OUT_OF_RANGE()),
    /** The node has no available segment with this id. */
    NO_SUCH_SEGMENT(sisci_h.SCI_ERR_NO_SUCH_SEGMENT(), true),
    /**
     * The node has no interrupt with this number. This error has the same code as {@link
     * #NO_SUCH_SEGMENT}.
     */
    NO_SUCH_INTERRUPT(sisci_h.SCI_ERR_NO_SUCH_INTNO(), true),
    /** The id is not a valid node id. */
    ILLEGAL_NODE(
            sisci_h.SCI_ERR_ILLEGAL_NODEID(),
            "Node ids are multiples of 4, starting at 4. The highest id of the software fabric is 248."),
    /** The driver of the peer refused the connection. */
    CONNECTION_REFUSED(sisci_h.SCI_ERR_CONNECTION_REFUSED(), true),
    /** The segment is not connected. */
    SEGMENT_NOT_CONNECTED(sisci_h.SCI_ERR_SEGMENT_NOT_CONNECTED()),
    /** A size is not a multiple of the required alignment. */
    SIZE_ALIGNMENT(sisci_h.SCI_ERR_SIZE_ALIGNMENT()),
    /** An offset is not a multiple of the required alignment. */
    OFFSET_ALIGNMENT(sisci_h.SCI_ERR_OFFSET_ALIGNMENT()),
    /** An argument is invalid. */
    ILLEGAL_PARAMETER(sisci_h.SCI_ERR_ILLEGAL_PARAMETER()),
    /** The maximum number of maps, or of entries of a DMA queue, is reached. */
    TOO_MANY(sisci_h.SCI_ERR_MAX_ENTRIES()),
    /** The segment is not prepared for the adapter. */
    SEGMENT_NOT_PREPARED(sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED()),
    /** An address is invalid. */
    ILLEGAL_ADDRESS(sisci_h.SCI_ERR_ILLEGAL_ADDRESS()),
    /** The operation is not valid in the current state of the object. */
    ILLEGAL_OPERATION(
            sisci_h.SCI_ERR_ILLEGAL_OPERATION(),
            "The object is in the wrong state: the operation was already performed, or requires another operation first."),
    /** The query is invalid. */
    ILLEGAL_QUERY(sisci_h.SCI_ERR_ILLEGAL_QUERY()),
    /** Another segment of this node has this id. */
    SEGMENT_ID_USED(
            sisci_h.SCI_ERR_SEGMENTID_USED(),
            "Segment ids are unique among all processes of a node."),
    /**
     * Another interrupt has this number. This error is assumed to have the same code as {@link
     * #SEGMENT_ID_USED}, as in the oldest public header. No public source confirms the code for
     * current releases.
     */
    INTERRUPT_NUMBER_USED(sisci_h.SCI_ERR_SEGMENTID_USED()),
    /** A call of the operating system failed. */
    SYSTEM(sisci_h.SCI_ERR_SYSTEM()),
    /** The object was removed during the wait. */
    CANCELLED(sisci_h.SCI_ERR_CANCELLED()),
    /** There is no connection. */
    NOT_CONNECTED(sisci_h.SCI_ERR_NOT_CONNECTED()),
    /** The resource is not available. */
    NOT_AVAILABLE(sisci_h.SCI_ERR_NOT_AVAILABLE()),
    /** The library and the driver have different versions. */
    INCONSISTENT_VERSIONS(
            sisci_h.SCI_ERR_INCONSISTENT_VERSIONS(),
            "Install the library and the driver of the same release."),
    /** A conditional interrupt occurred while it was being enabled. */
    CONDITIONAL_INTERRUPT_RACE(sisci_h.SCI_ERR_COND_INT_RACE_PROBLEM()),
    /** A counter or buffer overflowed. */
    OVERFLOW(sisci_h.SCI_ERR_OVERFLOW()),
    /** The library is not initialized. */
    NOT_INITIALIZED(sisci_h.SCI_ERR_NOT_INITIALIZED()),
    /** This process is not allowed to attach to the segment. */
    ACCESS(sisci_h.SCI_ERR_ACCESS(), "The segment must exist, and its owner must have shared it."),
    /** The links are operational, but the node does not exist. */
    NO_SUCH_NODE(sisci_h.SCI_ERR_NO_SUCH_NODEID(), true),
    /** The node does not respond. */
    NODE_NOT_RESPONDING(sisci_h.SCI_ERR_NODE_NOT_RESPONDING(), true),
    /** The link of the peer is down. */
    NO_REMOTE_LINK(sisci_h.SCI_ERR_NO_REMOTE_LINK_ACCESS(), true),
    /** The link of this node is down. */
    NO_LINK(sisci_h.SCI_ERR_NO_LINK_ACCESS(), true),
    /** A transfer failed. */
    TRANSFER_FAILED(sisci_h.SCI_ERR_TRANSFER_FAILED()),
    /** The peer is busy. */
    REMOTE_BUSY(sisci_h.SCI_ERR_REMOTE_BUSY(), true),
    /**
     * No device of the fabric has this id. The code of this error is not publicly documented, so
     * the error is recognized only if the library exports its code. Otherwise, it is reported as
     * {@link #UNKNOWN}. In C: {@code SCI_ERR_NO_SUCH_FDID}.
     */
    NO_SUCH_DEVICE(-1, "SmartIo.devices() lists the devices that the nodes of the fabric lend."),
    /** The library reported a code that has no publicly known meaning. */
    UNKNOWN(-1);

    private static final Map<Integer, SisciError> BY_CODE =
            Arrays.stream(values())
                    .filter(error ->
                            error != NO_SUCH_INTERRUPT
                                    && error != INTERRUPT_NUMBER_USED
                                    && error != NO_SUCH_DEVICE)
                    .collect(Collectors.toMap(error -> error.code, Function.identity()));

    private final int code;
    private final boolean isTransient;
    private final String advice;

    SisciError(int code) {
        this(code, false, "");
    }

    SisciError(int code, boolean isTransient) {
        this(code, isTransient, "");
    }

    SisciError(int code, String advice) {
        this(code, false, advice);
    }

    SisciError(int code, boolean isTransient, String advice) {
        this.code = code;
        this.isTransient = isTransient;
        this.advice = advice;
    }

    static SisciError of(String function, int code) {
        var error = BY_CODE.getOrDefault(code, UNKNOWN);
        if (!function.contains("Interrupt")) {
            return error;
        }
        return switch (error) {
            case NO_SUCH_SEGMENT -> NO_SUCH_INTERRUPT;
            case SEGMENT_ID_USED -> INTERRUPT_NUMBER_USED;
            default -> error;
        };
    }

    /**
     * Returns true if a connection attempt that failed with this error may succeed when it is
     * retried.
     */
    public boolean isTransient() {
        return isTransient;
    }

    /** Returns true if a removal failed because the object is still in use. */
    public boolean isBusy() {
        return this == BUSY || this == REMOTE_BUSY;
    }

    String advice() {
        return advice;
    }
}
