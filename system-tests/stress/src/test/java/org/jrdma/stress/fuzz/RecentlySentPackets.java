package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.random.RandomGenerator;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * The packets that a program has sent most recently, in a memory-mapped file. {@link PacketFlood}
 * forges packets with the numbers of queue pairs and connections, the sequence numbers and the keys
 * in these packets. Reader and writer are not synchronized: the reader may see a mixture of two
 * packets.
 */
final class RecentlySentPackets {

    /** The system property that contains the name of the file. */
    static final String PROPERTY = "jrdma.fuzz.samples";

    private static final int MESSAGES = 32;
    private static final int PACKETS = 32;
    private static final int SLOT = Integer.BYTES + PacketBuffer.MAX_BYTES;

    private final ByteBuffer memory;
    private int messages;
    private int packets;

    private RecentlySentPackets(ByteBuffer memory) {
        this.memory = memory;
    }

    /** Creates the file if it does not exist. */
    static RecentlySentPackets create(Path file) throws IOException {
        try (var channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            return new RecentlySentPackets(
                    channel.map(
                            FileChannel.MapMode.READ_WRITE, 0, (long) SLOT * (MESSAGES + PACKETS)));
        }
    }

    /**
     * Adds a packet that the program has sent. Messages of the connection manager have separate
     * slots, so that they do not replace other packets.
     */
    void add(TracedPacket packet) {
        var length = packet.bytes().remaining();
        if (packet.direction() == TracedPacket.Direction.SENT && length <= PacketBuffer.MAX_BYTES) {
            var slot =
                    packet.destinationQueuePair() == 1
                            ? messages++ % MESSAGES
                            : MESSAGES + packets++ % PACKETS;
            memory.putInt(slot * SLOT, length);
            memory.put(
                    slot * SLOT + Integer.BYTES, packet.bytes(), packet.bytes().position(), length);
        }
    }

    /**
     * Copies a packet, without its checksum, to the start of a segment.
     *
     * @return the number of bytes, or 0 if the slot that was chosen is empty
     */
    int copy(RandomGenerator random, MemorySegment target, int checksumBytes) {
        var slot = random.nextInt(MESSAGES + PACKETS);
        var length = memory.getInt(slot * SLOT) - checksumBytes;
        if (length <= 0 || length > PacketBuffer.MAX_BYTES) {
            return 0;
        }
        MemorySegment.copy(
                MemorySegment.ofBuffer(memory),
                (long) slot * SLOT + Integer.BYTES,
                target,
                0,
                length);
        return length;
    }
}
