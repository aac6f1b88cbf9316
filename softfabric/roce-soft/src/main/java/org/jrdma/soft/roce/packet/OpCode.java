package org.jrdma.soft.roce.packet;

import static org.jrdma.soft.roce.packet.HeaderKind.ACKNOWLEDGE;
import static org.jrdma.soft.roce.packet.HeaderKind.ATOMIC;
import static org.jrdma.soft.roce.packet.HeaderKind.ATOMIC_RESULT;
import static org.jrdma.soft.roce.packet.HeaderKind.EXTENDED;
import static org.jrdma.soft.roce.packet.HeaderKind.IMMEDIATE;
import static org.jrdma.soft.roce.packet.HeaderKind.INVALIDATE;
import static org.jrdma.soft.roce.packet.HeaderKind.RDMA;
import static org.jrdma.soft.roce.packet.Operation.SEND;
import static org.jrdma.soft.roce.packet.Operation.WRITE;
import static org.jrdma.soft.roce.packet.Position.FIRST;
import static org.jrdma.soft.roce.packet.Position.LAST;
import static org.jrdma.soft.roce.packet.Position.MIDDLE;
import static org.jrdma.soft.roce.packet.Position.ONLY;
import static org.jrdma.soft.roce.packet.Transport.DATAGRAM;
import static org.jrdma.soft.roce.packet.Transport.RELIABLE;
import static org.jrdma.soft.roce.packet.Transport.UNRELIABLE;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The opcodes of packets. Each determines the transport, the operation, the position of the packet
 * in its message, and the headers that follow the base transport header.
 */
public enum OpCode {
    RC_SEND_FIRST(RELIABLE, 0, SEND, FIRST, true),
    RC_SEND_MIDDLE(RELIABLE, 1, SEND, MIDDLE, true),
    RC_SEND_LAST(RELIABLE, 2, SEND, LAST, true),
    RC_SEND_LAST_IMMEDIATE(RELIABLE, 3, SEND, LAST, true, IMMEDIATE),
    RC_SEND_ONLY(RELIABLE, 4, SEND, ONLY, true),
    RC_SEND_ONLY_IMMEDIATE(RELIABLE, 5, SEND, ONLY, true, IMMEDIATE),
    RC_WRITE_FIRST(RELIABLE, 6, WRITE, FIRST, true, RDMA),
    RC_WRITE_MIDDLE(RELIABLE, 7, WRITE, MIDDLE, true),
    RC_WRITE_LAST(RELIABLE, 8, WRITE, LAST, true),
    RC_WRITE_LAST_IMMEDIATE(RELIABLE, 9, WRITE, LAST, true, IMMEDIATE),
    RC_WRITE_ONLY(RELIABLE, 10, WRITE, ONLY, true, RDMA),
    RC_WRITE_ONLY_IMMEDIATE(RELIABLE, 11, WRITE, ONLY, true, RDMA, IMMEDIATE),
    RC_READ_REQUEST(RELIABLE, 12, Operation.READ_REQUEST, ONLY, false, RDMA),
    RC_READ_RESPONSE_FIRST(RELIABLE, 13, Operation.READ_RESPONSE, FIRST, true, ACKNOWLEDGE),
    RC_READ_RESPONSE_MIDDLE(RELIABLE, 14, Operation.READ_RESPONSE, MIDDLE, true),
    RC_READ_RESPONSE_LAST(RELIABLE, 15, Operation.READ_RESPONSE, LAST, true, ACKNOWLEDGE),
    RC_READ_RESPONSE_ONLY(RELIABLE, 16, Operation.READ_RESPONSE, ONLY, true, ACKNOWLEDGE),
    RC_ACKNOWLEDGE(RELIABLE, 17, Operation.ACKNOWLEDGE, ONLY, false, ACKNOWLEDGE),
    RC_ATOMIC_ACKNOWLEDGE(
            RELIABLE, 18, Operation.ATOMIC_ACKNOWLEDGE, ONLY, false, ACKNOWLEDGE, ATOMIC_RESULT),
    RC_COMPARE_AND_SWAP(RELIABLE, 19, Operation.COMPARE_AND_SWAP, ONLY, false, ATOMIC),
    RC_FETCH_AND_ADD(RELIABLE, 20, Operation.FETCH_AND_ADD, ONLY, false, ATOMIC),
    RC_SEND_LAST_INVALIDATE(RELIABLE, 22, SEND, LAST, true, INVALIDATE),
    RC_SEND_ONLY_INVALIDATE(RELIABLE, 23, SEND, ONLY, true, INVALIDATE),
    RC_FLUSH(RELIABLE, 28, Operation.FLUSH, ONLY, false, HeaderKind.FLUSH, RDMA),
    RC_ATOMIC_WRITE(RELIABLE, 29, Operation.ATOMIC_WRITE, ONLY, true, RDMA),

    UC_SEND_FIRST(UNRELIABLE, 0, SEND, FIRST, true),
    UC_SEND_MIDDLE(UNRELIABLE, 1, SEND, MIDDLE, true),
    UC_SEND_LAST(UNRELIABLE, 2, SEND, LAST, true),
    UC_SEND_LAST_IMMEDIATE(UNRELIABLE, 3, SEND, LAST, true, IMMEDIATE),
    UC_SEND_ONLY(UNRELIABLE, 4, SEND, ONLY, true),
    UC_SEND_ONLY_IMMEDIATE(UNRELIABLE, 5, SEND, ONLY, true, IMMEDIATE),
    UC_WRITE_FIRST(UNRELIABLE, 6, WRITE, FIRST, true, RDMA),
    UC_WRITE_MIDDLE(UNRELIABLE, 7, WRITE, MIDDLE, true),
    UC_WRITE_LAST(UNRELIABLE, 8, WRITE, LAST, true),
    UC_WRITE_LAST_IMMEDIATE(UNRELIABLE, 9, WRITE, LAST, true, IMMEDIATE),
    UC_WRITE_ONLY(UNRELIABLE, 10, WRITE, ONLY, true, RDMA),
    UC_WRITE_ONLY_IMMEDIATE(UNRELIABLE, 11, WRITE, ONLY, true, RDMA, IMMEDIATE),

    UD_SEND_ONLY(DATAGRAM, 4, SEND, ONLY, true, HeaderKind.DATAGRAM),
    UD_SEND_ONLY_IMMEDIATE(DATAGRAM, 5, SEND, ONLY, true, HeaderKind.DATAGRAM, IMMEDIATE),

    XRC_SEND_FIRST(Transport.EXTENDED, 0, SEND, FIRST, true, EXTENDED),
    XRC_SEND_MIDDLE(Transport.EXTENDED, 1, SEND, MIDDLE, true, EXTENDED),
    XRC_SEND_LAST(Transport.EXTENDED, 2, SEND, LAST, true, EXTENDED),
    XRC_SEND_LAST_IMMEDIATE(Transport.EXTENDED, 3, SEND, LAST, true, EXTENDED, IMMEDIATE),
    XRC_SEND_ONLY(Transport.EXTENDED, 4, SEND, ONLY, true, EXTENDED),
    XRC_SEND_ONLY_IMMEDIATE(Transport.EXTENDED, 5, SEND, ONLY, true, EXTENDED, IMMEDIATE),
    XRC_WRITE_FIRST(Transport.EXTENDED, 6, WRITE, FIRST, true, EXTENDED, RDMA),
    XRC_WRITE_MIDDLE(Transport.EXTENDED, 7, WRITE, MIDDLE, true, EXTENDED),
    XRC_WRITE_LAST(Transport.EXTENDED, 8, WRITE, LAST, true, EXTENDED),
    XRC_WRITE_LAST_IMMEDIATE(Transport.EXTENDED, 9, WRITE, LAST, true, EXTENDED, IMMEDIATE),
    XRC_WRITE_ONLY(Transport.EXTENDED, 10, WRITE, ONLY, true, EXTENDED, RDMA),
    XRC_WRITE_ONLY_IMMEDIATE(Transport.EXTENDED, 11, WRITE, ONLY, true, EXTENDED, RDMA, IMMEDIATE),
    XRC_READ_REQUEST(Transport.EXTENDED, 12, Operation.READ_REQUEST, ONLY, false, EXTENDED, RDMA),
    XRC_READ_RESPONSE_FIRST(
            Transport.EXTENDED, 13, Operation.READ_RESPONSE, FIRST, true, ACKNOWLEDGE),
    XRC_READ_RESPONSE_MIDDLE(Transport.EXTENDED, 14, Operation.READ_RESPONSE, MIDDLE, true),
    XRC_READ_RESPONSE_LAST(
            Transport.EXTENDED, 15, Operation.READ_RESPONSE, LAST, true, ACKNOWLEDGE),
    XRC_READ_RESPONSE_ONLY(
            Transport.EXTENDED, 16, Operation.READ_RESPONSE, ONLY, true, ACKNOWLEDGE),
    XRC_ACKNOWLEDGE(Transport.EXTENDED, 17, Operation.ACKNOWLEDGE, ONLY, false, ACKNOWLEDGE),
    XRC_ATOMIC_ACKNOWLEDGE(
            Transport.EXTENDED,
            18,
            Operation.ATOMIC_ACKNOWLEDGE,
            ONLY,
            false,
            ACKNOWLEDGE,
            ATOMIC_RESULT),
    XRC_COMPARE_AND_SWAP(
            Transport.EXTENDED, 19, Operation.COMPARE_AND_SWAP, ONLY, false, EXTENDED, ATOMIC),
    XRC_FETCH_AND_ADD(
            Transport.EXTENDED, 20, Operation.FETCH_AND_ADD, ONLY, false, EXTENDED, ATOMIC),
    XRC_SEND_LAST_INVALIDATE(Transport.EXTENDED, 22, SEND, LAST, true, EXTENDED, INVALIDATE),
    XRC_SEND_ONLY_INVALIDATE(Transport.EXTENDED, 23, SEND, ONLY, true, EXTENDED, INVALIDATE);

    private static final @Nullable OpCode[] BY_CODE = new OpCode[256];

    private static final int OPERATIONS = Operation.values().length;

    /**
     * The opcodes by transport, operation, position, and presence of immediate data. Opcodes that
     * invalidate a key are not included.
     */
    private static final @Nullable OpCode[] BY_PROPERTIES =
            new OpCode[Transport.values().length * OPERATIONS * 4 * 2];

    static {
        for (var opCode : values()) {
            BY_CODE[opCode.code] = opCode;
            if (!opCode.invalidate) {
                BY_PROPERTIES[
                                index(
                                        opCode.transport,
                                        opCode.operation,
                                        opCode.position,
                                        opCode.immediate)] =
                        opCode;
            }
        }
    }

    private final int code;
    private final Transport transport;
    private final Operation operation;
    private final Position position;
    private final boolean payload;

    @SuppressWarnings("ImmutableEnumChecker") // List.of creates an immutable list.
    private final List<HeaderKind> headers;

    private final int headerBytes;
    private final boolean immediate;
    private final boolean invalidate;
    private final boolean extended;

    OpCode(
            Transport transport,
            int operationCode,
            Operation operation,
            Position position,
            boolean payload,
            HeaderKind... headers) {
        this.code = transport.bits() | operationCode;
        this.transport = transport;
        this.operation = operation;
        this.position = position;
        this.payload = payload;
        this.headers = List.of(headers);
        this.headerBytes = this.headers.stream().mapToInt(HeaderKind::bytes).sum();
        this.immediate = this.headers.contains(IMMEDIATE);
        this.invalidate = this.headers.contains(INVALIDATE);
        this.extended = this.headers.contains(EXTENDED);
    }

    /**
     * Returns the opcode whose code in a packet is {@code code}.
     *
     * @throws MalformedPacketException if there is no such opcode
     */
    public static OpCode decode(int code) throws MalformedPacketException {
        var opCode = BY_CODE[code];
        if (opCode == null) {
            throw new MalformedPacketException("unknown opcode");
        }
        return opCode;
    }

    /**
     * Returns the opcode with the given properties.
     *
     * @throws IllegalArgumentException if there is no such opcode
     */
    public static OpCode of(
            Transport transport, Operation operation, Position position, boolean immediate) {
        var opCode = BY_PROPERTIES[index(transport, operation, position, immediate)];
        if (opCode == null) {
            throw new IllegalArgumentException(
                    "There is no opcode for %s %s %s.".formatted(transport, operation, position));
        }
        return opCode;
    }

    /**
     * Returns the opcode for the last or only packet of a SEND that invalidates a key of the
     * receiver.
     */
    public static OpCode invalidating(Transport transport, Position position) {
        if (transport == Transport.EXTENDED) {
            return position == ONLY ? XRC_SEND_ONLY_INVALIDATE : XRC_SEND_LAST_INVALIDATE;
        }
        return position == ONLY ? RC_SEND_ONLY_INVALIDATE : RC_SEND_LAST_INVALIDATE;
    }

    /** Returns the opcode for an operation whose message always consists of one packet. */
    public static OpCode of(Transport transport, Operation operation) {
        return of(transport, operation, ONLY, false);
    }

    @SuppressWarnings("EnumOrdinal") // Used only as an index into a table of this class.
    private static int index(
            Transport transport, Operation operation, Position position, boolean immediate) {
        return ((transport.ordinal() * OPERATIONS + operation.ordinal()) * 4 + position.ordinal())
                        * 2
                + (immediate ? 1 : 0);
    }

    /** Returns the code of this opcode on the wire, from 0 to 255. */
    public int code() {
        return code;
    }

    public Transport transport() {
        return transport;
    }

    public Operation operation() {
        return operation;
    }

    public Position position() {
        return position;
    }

    /** Returns true if a payload may follow the headers. */
    public boolean hasPayload() {
        return payload;
    }

    /** Returns the headers that follow the base transport header, in the order on the wire. */
    public List<HeaderKind> headers() {
        return headers;
    }

    /** Returns the total length of {@link #headers()} in bytes. */
    public int headerBytes() {
        return headerBytes;
    }

    /** Returns true if {@link HeaderKind#IMMEDIATE} is the last header. */
    public boolean hasImmediate() {
        return immediate;
    }

    /** Returns true if {@link HeaderKind#INVALIDATE} is the last header. */
    public boolean hasInvalidate() {
        return invalidate;
    }

    /** Returns true if {@link HeaderKind#EXTENDED} is the first header. */
    public boolean hasExtended() {
        return extended;
    }

    /** Returns true if {@link #headers()} contains a header. */
    public boolean has(HeaderKind header) {
        return headers.contains(header);
    }
}
