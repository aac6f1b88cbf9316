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
    /** Something still uses it. */
    BUSY(sisci_h.SCI_ERR_BUSY(), true),
    /** The flag is legal, and not built into this release. */
    FLAG_NOT_IMPLEMENTED(sisci_h.SCI_ERR_FLAG_NOT_IMPLEMENTED()),
    /** The flag does not belong to this function. */
    ILLEGAL_FLAG(sisci_h.SCI_ERR_ILLEGAL_FLAG()),
    /** The operating system has no room; of a data interrupt, the receiver is behind. */
    NO_SPACE(sisci_h.SCI_ERR_NOSPC()),
    /** The library has no room. */
    LIBRARY_FULL(sisci_h.SCI_ERR_API_NOSPC()),
    /** The adapter has no room. */
    ADAPTER_FULL(
            sisci_h.SCI_ERR_HW_NOSPC(),
            "The adapter's window limits what is mapped at a time: map less, or close other maps."),
    /** The function is not built into this release. */
    NOT_IMPLEMENTED(sisci_h.SCI_ERR_NOT_IMPLEMENTED()),
    /** No adapter can have that number. */
    ILLEGAL_ADAPTER(sisci_h.SCI_ERR_ILLEGAL_ADAPTERNO()),
    /** There is no adapter of that number. */
    NO_SUCH_ADAPTER(
            sisci_h.SCI_ERR_NO_SUCH_ADAPTERNO(),
            "Adapters count from 0; the driver must have found it."),
    /** It took too long. */
    TIMEOUT(sisci_h.SCI_ERR_TIMEOUT(), true),
    /** Beyond the end of the segment. */
    OUT_OF_RANGE(sisci_h.SCI_ERR_OUT_OF_RANGE()),
    /** The node offers no such segment. */
    NO_SUCH_SEGMENT(sisci_h.SCI_ERR_NO_SUCH_SEGMENT(), true),
    /** The node has no such interrupt. Shares its number with {@link #NO_SUCH_SEGMENT}. */
    NO_SUCH_INTERRUPT(sisci_h.SCI_ERR_NO_SUCH_INTNO(), true),
    /** No node can have that id. */
    ILLEGAL_NODE(
            sisci_h.SCI_ERR_ILLEGAL_NODEID(),
            "Node ids are multiples of 4, from 4 to what the fabric has; the software fabric ends at 248."),
    /** The peer's driver refused. */
    CONNECTION_REFUSED(sisci_h.SCI_ERR_CONNECTION_REFUSED(), true),
    /** The segment is not connected. */
    SEGMENT_NOT_CONNECTED(sisci_h.SCI_ERR_SEGMENT_NOT_CONNECTED()),
    /** A size is not a multiple of what it must be. */
    SIZE_ALIGNMENT(sisci_h.SCI_ERR_SIZE_ALIGNMENT()),
    /** An offset is not a multiple of what it must be. */
    OFFSET_ALIGNMENT(sisci_h.SCI_ERR_OFFSET_ALIGNMENT()),
    /** An argument makes no sense. */
    ILLEGAL_PARAMETER(sisci_h.SCI_ERR_ILLEGAL_PARAMETER()),
    /** No more maps, or no more entries in a DMA queue. */
    TOO_MANY(sisci_h.SCI_ERR_MAX_ENTRIES()),
    /** The segment is not prepared for the adapter. */
    SEGMENT_NOT_PREPARED(sisci_h.SCI_ERR_SEGMENT_NOT_PREPARED()),
    /** An address makes no sense. */
    ILLEGAL_ADDRESS(sisci_h.SCI_ERR_ILLEGAL_ADDRESS()),
    /** Not in this state. */
    ILLEGAL_OPERATION(
            sisci_h.SCI_ERR_ILLEGAL_OPERATION(),
            "It is not in a state for that: it has been done already, or something else must be done first."),
    /** Nothing that can be asked. */
    ILLEGAL_QUERY(sisci_h.SCI_ERR_ILLEGAL_QUERY()),
    /** Another segment of this node has that id. */
    SEGMENT_ID_USED(
            sisci_h.SCI_ERR_SEGMENTID_USED(), "Ids are unique among all processes of a node."),
    /**
     * Another interrupt has that number. Taken to share its number with {@link #SEGMENT_ID_USED},
     * as in the oldest public header it seems to: no public source says so of releases of today.
     */
    INTERRUPT_NUMBER_USED(sisci_h.SCI_ERR_SEGMENTID_USED()),
    /** The operating system refused. */
    SYSTEM(sisci_h.SCI_ERR_SYSTEM()),
    /** It was removed while it was waited for. */
    CANCELLED(sisci_h.SCI_ERR_CANCELLED()),
    /** There is no connection. */
    NOT_CONNECTED(sisci_h.SCI_ERR_NOT_CONNECTED()),
    /** It cannot be had. */
    NOT_AVAILABLE(sisci_h.SCI_ERR_NOT_AVAILABLE()),
    /** Library and driver are of different releases. */
    INCONSISTENT_VERSIONS(
            sisci_h.SCI_ERR_INCONSISTENT_VERSIONS(),
            "Install library and driver of the same release."),
    /** A conditional interrupt came too early. */
    CONDITIONAL_INTERRUPT_RACE(sisci_h.SCI_ERR_COND_INT_RACE_PROBLEM()),
    /** More than there was room for. */
    OVERFLOW(sisci_h.SCI_ERR_OVERFLOW()),
    /** The library is not initialised. */
    NOT_INITIALIZED(sisci_h.SCI_ERR_NOT_INITIALIZED()),
    /** This process may not attach to it. */
    ACCESS(sisci_h.SCI_ERR_ACCESS(), "Its owner must have shared it, and it must exist."),
    /** Links work, and the node is not there. */
    NO_SUCH_NODE(sisci_h.SCI_ERR_NO_SUCH_NODEID(), true),
    /** The node does not answer. */
    NODE_NOT_RESPONDING(sisci_h.SCI_ERR_NODE_NOT_RESPONDING(), true),
    /** The peer's link is down. */
    NO_REMOTE_LINK(sisci_h.SCI_ERR_NO_REMOTE_LINK_ACCESS(), true),
    /** This side's link is down. */
    NO_LINK(sisci_h.SCI_ERR_NO_LINK_ACCESS(), true),
    /** A transfer failed. */
    TRANSFER_FAILED(sisci_h.SCI_ERR_TRANSFER_FAILED()),
    /** The peer is busy. */
    REMOTE_BUSY(sisci_h.SCI_ERR_REMOTE_BUSY(), true),
    /** A number that has no publicly known meaning. */
    UNKNOWN(-1);

    private static final Map<Integer, SisciError> BY_CODE =
            Arrays.stream(values())
                    .filter(error -> error != NO_SUCH_INTERRUPT && error != INTERRUPT_NUMBER_USED)
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
     * Returns true if an attempt to connect that failed with this error may succeed when retried.
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
