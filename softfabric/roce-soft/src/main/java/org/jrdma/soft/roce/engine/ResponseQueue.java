package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

import java.util.Objects;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jspecify.annotations.Nullable;

/**
 * The acknowledgements and responses that wait to be sent, in order.
 *
 * <p>The queue cannot overflow: consecutive acknowledgements are merged, the number of original
 * responses to READs and atomics is limited by the number that the peer may have outstanding, and
 * no response is repeated while at least half of the queue is in use.
 */
final class ResponseQueue {

    private enum Kind {
        UNUSED,
        ACKNOWLEDGE,
        READ,
        ATOMIC
    }

    /**
     * An acknowledgement or response that waits in the queue, or that a {@link ReplayCache}
     * records.
     */
    static final class Response {

        private Kind kind = Kind.UNUSED;
        int sequence;
        int syndrome;
        int messages;
        int packets;
        int nextPacket;
        private @Nullable AccessIdentity accessor;
        long address;
        int key;
        long bytes;
        long original;

        /** True if this response is a repetition: some or all of its packets were sent before. */
        boolean repeated;

        void acknowledge(int sequence, int syndrome, int messages) {
            kind = Kind.ACKNOWLEDGE;
            this.sequence = sequence;
            this.syndrome = syndrome;
            this.messages = messages;
        }

        void read(
                int sequence,
                int packets,
                @Nullable AccessIdentity accessor,
                long address,
                int key,
                long bytes,
                int messages) {
            kind = Kind.READ;
            this.sequence = sequence;
            this.syndrome = AcknowledgeHeader.ACKNOWLEDGED;
            this.messages = messages;
            this.packets = packets;
            this.nextPacket = 0;
            this.accessor = accessor;
            this.address = address;
            this.key = key;
            this.bytes = bytes;
            this.repeated = false;
        }

        void atomic(int sequence, long original, int messages) {
            kind = Kind.ATOMIC;
            this.sequence = sequence;
            this.syndrome = AcknowledgeHeader.ACKNOWLEDGED;
            this.messages = messages;
            this.packets = 1;
            this.original = original;
            this.repeated = false;
        }

        private void copyFrom(Response other) {
            kind = other.kind;
            sequence = other.sequence;
            syndrome = other.syndrome;
            messages = other.messages;
            packets = other.packets;
            nextPacket = 0;
            accessor = other.accessor;
            address = other.address;
            key = other.key;
            bytes = other.bytes;
            original = other.original;
            repeated = false;
        }

        boolean isUsed() {
            return kind != Kind.UNUSED;
        }

        boolean isRead() {
            return kind == Kind.READ;
        }

        boolean isAtomic() {
            return kind == Kind.ATOMIC;
        }

        private boolean isOriginal() {
            return !repeated && (kind == Kind.READ || kind == Kind.ATOMIC);
        }

        /**
         * Records that one more packet of this response was sent. Returns true if it was the last
         * one.
         */
        boolean packetSent() {
            nextPacket++;
            return nextPacket == packets;
        }

        /** Returns the identity with which a READ accesses memory. */
        AccessIdentity accessor() {
            return Objects.requireNonNull(accessor, "The response is not a READ response.");
        }
    }

    private final Response[] ring;
    private int first;
    private int size;
    private int originalResponses;

    /**
     * @param maxReads the maximum number of READs and atomics that the peer may have outstanding
     */
    ResponseQueue(int maxReads) {
        ring = new Response[4 * maxReads + 8];
        for (var i = 0; i < ring.length; i++) {
            ring[i] = new Response();
        }
    }

    /** Returns the number of queued responses to READs and atomics that are not repetitions. */
    int originalResponses() {
        return originalResponses;
    }

    /**
     * Returns true if at least half of the entries are in use. The free entries are then reserved
     * for original responses.
     */
    boolean isHalfFull() {
        return size >= ring.length / 2;
    }

    @Nullable Response first() {
        return size == 0 ? null : ring[first];
    }

    void removeFirst() {
        if (ring[first].isOriginal()) {
            originalResponses--;
        }
        first = (first + 1) % ring.length;
        size--;
    }

    void clear() {
        size = 0;
        originalResponses = 0;
    }

    private Response at(int index) {
        return ring[(first + index) % ring.length];
    }

    private Response append() {
        if (size == ring.length) {
            throw new IllegalStateException("The response queue is full.");
        }
        size++;
        return at(size - 1);
    }

    /**
     * Adds an ACK or NAK for {@code sequence}, which also acknowledges all earlier packets.
     * Replaces the last entry if that is an older acknowledgement.
     */
    void acknowledge(int sequence, int syndrome, int messages) {
        if (size > 0 && at(size - 1).kind == Kind.ACKNOWLEDGE) {
            var last = at(size - 1);
            if (distance(last.sequence, sequence) >= 0) {
                last.acknowledge(sequence, syndrome, messages);
            }
        } else {
            append().acknowledge(sequence, syndrome, messages);
        }
    }

    /** Adds the original response to a READ or atomic. */
    void add(Response original) {
        append().copyFrom(original);
        originalResponses++;
    }

    /** Adds a repetition of the response to an atomic. */
    void addRepeated(Response original) {
        var response = append();
        response.copyFrom(original);
        response.repeated = true;
    }

    /**
     * Adds a repetition of the response to a READ, or only of its packets from {@code sequence} on.
     * If the queue already contains a response to the same READ, that response is sent again from
     * {@code sequence} instead.
     */
    void repeatRead(Response known, int sequence, int packets, long address, long bytes) {
        for (var i = 0; i < size; i++) {
            var waiting = at(i);
            var skipped = distance(waiting.sequence, sequence);
            if (waiting.kind == Kind.READ
                    && waiting.key == known.key
                    && skipped >= 0
                    && skipped + packets == waiting.packets
                    && waiting.address + waiting.bytes == address + bytes) {
                if (waiting.nextPacket > skipped) {
                    waiting.nextPacket = skipped;
                    if (!waiting.repeated) {
                        waiting.repeated = true;
                        originalResponses--;
                    }
                }
                return;
            }
        }
        var response = append();
        response.read(sequence, packets, known.accessor, address, known.key, bytes, known.messages);
        response.repeated = true;
    }
}
