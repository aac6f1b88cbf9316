package org.jrdma.nvme.model;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The status of a command. In a completion, a status has the status code type in bits 8 to 10 and
 * the status code in bits 0 to 7. Bit 14 advises against a retry.
 */
public enum Status {
    /** The command succeeded. */
    SUCCESS(0x000, false, "success"),
    /** The opcode is unknown. */
    INVALID_OPCODE(0x001, true, "invalid command opcode"),
    /** A field of the command has an invalid or unsupported value. */
    INVALID_FIELD(0x002, true, "invalid field in the command"),
    /** Another command of the queue has the same id. */
    COMMAND_ID_CONFLICT(0x003, true, "another command has the same id"),
    /** The controller could not access the memory of the command. */
    DATA_TRANSFER_ERROR(
            0x004, true, "data transfer error: the controller cannot access the memory"),
    /** The power is about to fail. */
    POWER_LOSS(0x005, true, "aborted because of a power loss"),
    /** The controller failed. */
    INTERNAL_ERROR(0x006, false, "internal error of the controller"),
    /** An abort command ended the command. */
    ABORT_REQUESTED(0x007, true, "aborted on request"),
    /** The submission queue was deleted. */
    QUEUE_DELETED(0x008, true, "aborted because the submission queue was deleted"),
    /** The first command of two fused commands failed. */
    FUSED_FAILED(0x009, true, "aborted because the other fused command failed"),
    /** The second command of two fused commands is missing. */
    FUSED_MISSING(0x00a, true, "aborted because the other fused command is missing"),
    /** The namespace does not exist. */
    INVALID_NAMESPACE(0x00b, true, "invalid namespace or format"),
    /** The command is not allowed at this time. */
    COMMAND_SEQUENCE_ERROR(0x00c, true, "the command is not allowed in this order"),
    /** The descriptor of the data has an invalid length. */
    DATA_LENGTH_INVALID(0x00f, true, "invalid length of the data"),
    /** The type of the descriptor of the data is not supported. */
    DESCRIPTOR_TYPE_INVALID(0x011, true, "invalid type of the data descriptor"),
    /** The offset of a memory address within its page is invalid. */
    PRP_OFFSET_INVALID(0x013, true, "invalid offset of a PRP entry"),
    /** The data in a capsule have an invalid offset. */
    DATA_OFFSET_INVALID(0x016, true, "invalid offset of the data in the capsule"),
    /** The identifiers of the hosts have different formats. */
    HOST_IDENTIFIER_FORMAT(0x018, true, "host identifier of another format"),
    /** The namespace does not have all of the blocks. */
    LBA_OUT_OF_RANGE(0x080, true, "blocks beyond the end of the namespace"),
    /** The namespace has no capacity left. */
    CAPACITY_EXCEEDED(0x081, true, "capacity exceeded"),
    /** The namespace is not ready. */
    NAMESPACE_NOT_READY(0x082, false, "the namespace is not ready"),
    /** The reservation of another host forbids the command. */
    RESERVATION_CONFLICT(0x083, true, "conflict with a reservation of another host"),
    /** The completion queue of a new submission queue does not exist. */
    INVALID_COMPLETION_QUEUE(0x100, true, "the completion queue does not exist"),
    /** The id of a queue is in use, unknown or too large. */
    INVALID_QUEUE_ID(0x101, true, "invalid queue id"),
    /** The number of entries of a queue is too small or too large. */
    INVALID_QUEUE_SIZE(0x102, true, "invalid queue size"),
    /** Too many abort commands are pending. */
    ABORT_LIMIT(0x103, false, "too many pending abort commands"),
    /** Too many asynchronous event requests are pending. */
    ASYNC_EVENT_LIMIT(0x105, false, "too many pending asynchronous event requests"),
    /** The interrupt vector does not exist. */
    INVALID_INTERRUPT_VECTOR(0x108, true, "invalid interrupt vector"),
    /** The log page does not exist. */
    INVALID_LOG_PAGE(0x109, true, "invalid log page"),
    /** The format does not exist. */
    INVALID_FORMAT(0x10a, true, "invalid format"),
    /** A completion queue still has submission queues. */
    INVALID_QUEUE_DELETION(0x10c, true, "the completion queue still has submission queues"),
    /** The controller does not save the feature. */
    FEATURE_NOT_SAVEABLE(0x10d, true, "the feature cannot be saved"),
    /** The feature is constant. */
    FEATURE_NOT_CHANGEABLE(0x10e, true, "the feature cannot be changed"),
    /** The feature belongs to the controller. */
    FEATURE_NOT_NAMESPACE_SPECIFIC(0x10f, true, "the feature is not specific to a namespace"),
    /** The attributes of the command conflict. */
    CONFLICTING_ATTRIBUTES(0x180, true, "conflicting attributes"),
    /** The protection information is invalid. */
    INVALID_PROTECTION(0x181, true, "invalid protection information"),
    /** The blocks are read-only. */
    READ_ONLY_RANGE(0x182, true, "write to a read-only range"),
    /** The format of a Connect command is unknown. */
    CONNECT_FORMAT(0x180, true, "incompatible format of the Connect command", true),
    /** The controller is busy. */
    CONNECT_BUSY(0x181, false, "the controller is busy or unavailable", true),
    /** A parameter of a Connect command is invalid, such as the name of the subsystem. */
    CONNECT_PARAMETERS(0x182, true, "invalid parameter of the Connect command", true),
    /** The host must repeat the discovery. */
    CONNECT_RESTART_DISCOVERY(0x183, true, "the discovery must be repeated", true),
    /** The host is not allowed to use the subsystem. */
    CONNECT_HOST(0x184, true, "the host is not allowed to use the subsystem", true),
    /** The host must authenticate itself. */
    AUTHENTICATION_REQUIRED(0x191, true, "authentication is required", true),
    /** The medium failed to store data. */
    WRITE_FAULT(0x280, false, "write fault of the medium"),
    /** The medium failed to return data. */
    UNRECOVERED_READ_ERROR(0x281, false, "unrecovered read error of the medium"),
    /** The compared data differ. */
    COMPARE_FAILURE(0x285, true, "the compared data differ"),
    /** The medium denied the access. */
    ACCESS_DENIED(0x286, true, "access denied"),
    /** The connection was lost before the response, and the host does not repeat the command. */
    CONNECTION_LOST(0x371, false, "the connection was lost, and the outcome is unknown");

    /** The bits of a status that contain its type and code. */
    public static final int CODE_MASK = 0x7ff;

    private static final int DO_NOT_RETRY = 1 << 14;
    private static final Map<Integer, Status> BY_CODE = new HashMap<>();
    private static final Map<Integer, Status> BY_FABRICS_CODE = new HashMap<>();

    static {
        for (var status : values()) {
            (status.isFabrics ? BY_FABRICS_CODE : BY_CODE).put(status.typeAndCode, status);
        }
    }

    private final int typeAndCode;
    private final boolean isFinal;
    private final String words;

    /** True for the codes of fabrics commands, which other commands use with other meanings. */
    private final boolean isFabrics;

    Status(int typeAndCode, boolean isFinal, String words) {
        this(typeAndCode, isFinal, words, false);
    }

    Status(int typeAndCode, boolean isFinal, String words, boolean isFabrics) {
        this.typeAndCode = typeAndCode;
        this.isFinal = isFinal;
        this.words = words;
        this.isFabrics = isFabrics;
    }

    /** Returns the status code type and the status code. */
    public int typeAndCode() {
        return typeAndCode;
    }

    /** Returns the status as a completion contains it, in 15 bits. */
    public int encode() {
        return typeAndCode | (isFinal ? DO_NOT_RETRY : 0);
    }

    /**
     * Returns the status with a code; empty if the code is unknown. The command must not be a
     * {@linkplain FabricsCommand fabrics command}.
     */
    public static Optional<Status> of(int status) {
        return Optional.ofNullable(BY_CODE.get(status & CODE_MASK));
    }

    /** Returns the status of a fabrics command with a code; empty if the code is unknown. */
    public static Optional<Status> ofFabrics(int status) {
        return Optional.ofNullable(BY_FABRICS_CODE.get(status & CODE_MASK)).or(() -> of(status));
    }

    /** Returns true if the status of a completion advises against a retry. */
    public static boolean isRetryUseless(int status) {
        return (status & DO_NOT_RETRY) != 0;
    }

    /** Describes the status of a completion, such as {@code invalid queue id (0x101)}. */
    public static String describe(int status) {
        return describe(of(status), status);
    }

    /** Describes the status of the completion of a fabrics command. */
    public static String describeFabrics(int status) {
        return describe(ofFabrics(status), status);
    }

    private static String describe(Optional<Status> known, int status) {
        return "%s (0x%03x)"
                .formatted(
                        known.map(each -> each.words).orElse("unknown status"), status & CODE_MASK);
    }
}
