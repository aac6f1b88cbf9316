package org.jrdma.soft.sisci.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.linkage.SeqPacketSocket.Packet;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * A message between processes of a fabric.
 *
 * @param kind the kind, which determines the meaning of the other fields
 * @param correlation the number that a request and its response have in common; 0 for other
 *     messages
 * @param subject the id of a segment, the number of an interrupt or the number of a connection
 * @param first the first 32-bit argument
 * @param second the second 32-bit argument
 * @param value the 64-bit argument
 * @param data the payload
 * @param descriptor the descriptor that the message carries, which belongs to the message; or
 *     {@link Packet#NO_DESCRIPTOR}
 */
// An array as a component is acceptable, because messages are never compared.
@SuppressWarnings("ArrayRecordComponent")
public record Message(
        Kind kind,
        int correlation,
        int subject,
        int first,
        int second,
        long value,
        byte[] data,
        int descriptor) {

    /** The maximum size of the payload. */
    public static final int MAX_DATA = 4096;

    private static final int HEADER_BYTES = 32;

    static final long MAX_BYTES = HEADER_BYTES + MAX_DATA;

    private static final byte[] NO_DATA = {};
    private static final List<Kind> KINDS = List.of(Kind.values());

    /** The kind of a message. */
    public enum Kind {
        /**
         * The first message of a connection. subject: node of the sender. first: number of its
         * process.
         */
        HELLO,
        /** The response to a request. subject: an error code. value: the result. */
        RESPONSE,
        /**
         * Requests a connection to a segment. subject: segment. first: adapter. second: connection.
         * value: 1 if the segment is connected as a member of a group. The response carries the
         * memory of the segment, and its value is the size.
         */
        CONNECT_SEGMENT,
        /**
         * Requests the id of the segment at an address. value: the address; in the response, the
         * id.
         */
        FIND_SPACE,
        /** Ends a connection to a segment. subject: connection. */
        DISCONNECT_SEGMENT,
        /**
         * Requests that the receiver disconnects. subject: connection. first: 1 if the sender has
         * already disconnected the receiver.
         */
        SEGMENT_GONE,
        /**
         * Requests an attachment to a shared segment. subject: segment. first: connection. The
         * response is that to CONNECT_SEGMENT.
         */
        ATTACH_SEGMENT,
        /** Detaches from a shared segment. subject: connection. */
        DETACH_SEGMENT,
        /**
         * Requests an operation on a shared segment. subject: segment. first: operation. second:
         * adapter. value: flags.
         */
        SEGMENT_OPERATION,
        /**
         * Reports an event of a shared segment. subject: connection. first: reason. second: node.
         * value: adapter.
         */
        SEGMENT_EVENT,
        /**
         * Requests a connection to an interrupt. subject: interrupt number. first: adapter. second:
         * connection. value: 1 for a data interrupt. The response may carry a socket, by which the
         * sender triggers the interrupt instead of by messages.
         */
        CONNECT_INTERRUPT,
        /** Ends a connection to an interrupt. subject: connection. */
        DISCONNECT_INTERRUPT,
        /** Reports that an interrupt was removed. subject: connection. */
        INTERRUPT_GONE,
        /** Triggers an interrupt. subject: connection. first: the number of triggers. */
        TRIGGER,
        /** Triggers a data interrupt. subject: connection. data: the payload. */
        TRIGGER_WITH_DATA,
        /**
         * Reports a store to an interrupt flag. subject: connection. first: 1 if the store was made
         * through a map with conditional interrupts. value: offset of the flag in the segment.
         */
        FLAG_STORED,
        /** Reports that the program has taken the data of a trigger. subject: connection. */
        TAKEN,
        /** Requests that the receiver reads the directory again. */
        REFRESH,
        /**
         * Requests the description of a device. subject: slot. data of the response: the number of
         * borrows, their nodes and the identity. Its value has flags: whether the device is
         * available and borrowed exclusively.
         */
        IDENTIFY_DEVICE,
        /**
         * Requests that the lender of a device permits or refuses new borrows. subject: slot.
         * first: 1 to permit them.
         */
        MAKE_DEVICE_AVAILABLE,
        /**
         * Requests to borrow a device. subject: number of the borrow, which the sender has chosen.
         * first: slot. second: 1 for an exclusive borrow.
         */
        BORROW_DEVICE,
        /**
         * Ends a borrow, if it exists. subject: borrow. The response arrives when the device does
         * not access memory of the sender any more.
         */
        RETURN_DEVICE,
        /**
         * Requests the memory of a BAR or of a device segment. subject: borrow. first: number of
         * the BAR, or id of the segment. second: memory type. The response is that to
         * CONNECT_SEGMENT.
         */
        CONNECT_DEVICE_SEGMENT,
        /**
         * Requests memory at a device. subject: borrow. first: id of the segment. second: memory
         * type. value: size.
         */
        CREATE_DEVICE_SEGMENT,
        /**
         * Maps memory for a device, which the message carries. subject: borrow. first: number of
         * the window, which the sender has chosen. second: adapter. value: offset in the memory.
         * data: size and node of the memory. The value of the response is the I/O address.
         */
        MAP_FOR_DEVICE,
        /**
         * Unmaps memory, if it is mapped. subject: borrow. first: window. The response arrives when
         * the device does not access the memory any more.
         */
        UNMAP_FOR_DEVICE,
        /**
         * Reports an interrupt that a device has signaled. subject: borrow. first: window. value:
         * offset in the window.
         */
        DEVICE_SIGNAL,
        /** Reports that a device is not lent any more. subject: borrow. */
        DEVICE_GONE
    }

    public static Message of(Kind kind, int subject, int first, int second, long value) {
        return new Message(kind, 0, subject, first, second, value, NO_DATA, Packet.NO_DESCRIPTOR);
    }

    /** Returns a message about a connection, without arguments. */
    public static Message about(Kind kind, int connection) {
        return of(kind, connection, 0, 0, 0);
    }

    /** Returns a message about a connection, with a payload. */
    public static Message carrying(Kind kind, int connection, byte[] data) {
        return about(kind, connection).withData(data);
    }

    /** Returns a copy of this message with a payload. */
    public Message withData(byte[] newData) {
        return new Message(kind, correlation, subject, first, second, value, newData, descriptor);
    }

    Message withFirst(int newFirst) {
        return new Message(kind, correlation, subject, newFirst, second, value, data, descriptor);
    }

    Message numbered(int newCorrelation) {
        return new Message(kind, newCorrelation, subject, first, second, value, data, descriptor);
    }

    /** Returns a copy of this message that carries a descriptor, which belongs to the copy. */
    public Message withDescriptor(int newDescriptor) {
        return new Message(kind, correlation, subject, first, second, value, data, newDescriptor);
    }

    /** Closes the descriptor that the message carries, if any. */
    void discard() {
        if (descriptor != Packet.NO_DESCRIPTOR) {
            SystemCalls.close(descriptor);
        }
    }

    int write(MemorySegment target) {
        target.set(JAVA_INT, 0, KINDS.indexOf(kind));
        target.set(JAVA_INT, 4, correlation);
        target.set(JAVA_INT, 8, subject);
        target.set(JAVA_INT, 12, first);
        target.set(JAVA_INT, 16, second);
        target.set(JAVA_LONG, 24, value);
        MemorySegment.copy(data, 0, target, JAVA_BYTE, HEADER_BYTES, data.length);
        return HEADER_BYTES + data.length;
    }

    /**
     * Decodes a message, without its descriptor. Returns empty if the message is malformed, or has
     * a kind that this release of the software fabric does not know.
     */
    static Optional<Message> read(MemorySegment source, long length) {
        var kind = source.get(JAVA_INT, 0);
        if (length < HEADER_BYTES || kind < 0 || kind >= KINDS.size()) {
            return Optional.empty();
        }
        return Optional.of(
                new Message(
                        KINDS.get(kind),
                        source.get(JAVA_INT, 4),
                        source.get(JAVA_INT, 8),
                        source.get(JAVA_INT, 12),
                        source.get(JAVA_INT, 16),
                        source.get(JAVA_LONG, 24),
                        source.asSlice(HEADER_BYTES, length - HEADER_BYTES).toArray(JAVA_BYTE),
                        Packet.NO_DESCRIPTOR));
    }
}
