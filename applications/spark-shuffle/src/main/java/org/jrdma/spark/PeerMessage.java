package org.jrdma.spark;

import java.net.ProtocolException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.verbs.model.RemoteMemory;

/** A message between two executors. The reading executor sends requests, the other one replies. */
sealed interface PeerMessage {

    /** The maximum number of blocks in a message. */
    int MAX_BLOCKS = 128;

    /** The maximum number of requests whose memory a reading executor has not released. */
    int MAX_OPEN_REQUESTS = 256;

    /** The maximum length of a message. */
    int MAX_BYTES = 9 + MAX_BLOCKS * (1 + RemoteMemory.BYTES);

    /**
     * Asks where blocks are. The replying executor keeps their memory registered until it receives
     * {@link Release}.
     */
    record Locate(int request, List<PartitionRange> blocks) implements PeerMessage {}

    /** The reading executor has finished its reads of the blocks of a request. */
    record Release(int request) implements PeerMessage {}

    /**
     * The reply to {@link Locate}.
     *
     * @param locations the memory of each block; empty if a block is not registered
     */
    record Located(int request, List<Optional<RemoteMemory>> locations) implements PeerMessage {}

    /** Encodes this message. */
    default ByteBuffer encode() {
        var bytes = ByteBuffer.allocate(MAX_BYTES);
        switch (this) {
            case Locate(var request, var blocks) -> {
                bytes.put((byte) 1).putInt(request).putInt(blocks.size());
                blocks.forEach(block -> block.encode(bytes));
            }
            case Release(var request) -> bytes.put((byte) 2).putInt(request);
            case Located(var request, var locations) -> {
                bytes.put((byte) 3).putInt(request).putInt(locations.size());
                for (var location : locations) {
                    bytes.put((byte) (location.isPresent() ? 1 : 0));
                    location.ifPresent(memory -> bytes.put(memory.toBytes()));
                }
            }
        }
        return bytes.flip();
    }

    /**
     * Decodes a message of another executor.
     *
     * @throws ProtocolException if the message is malformed
     */
    static PeerMessage decode(ByteBuffer bytes) throws ProtocolException {
        try {
            var type = bytes.get();
            var request = bytes.getInt();
            return switch (type) {
                case 1 -> {
                    var blocks = new ArrayList<PartitionRange>();
                    for (var left = count(bytes); left > 0; left--) {
                        blocks.add(PartitionRange.decode(bytes));
                    }
                    yield new Locate(request, blocks);
                }
                case 2 -> new Release(request);
                case 3 -> {
                    var locations = new ArrayList<Optional<RemoteMemory>>();
                    for (var left = count(bytes); left > 0; left--) {
                        var isPresent = bytes.get() != 0;
                        locations.add(
                                isPresent
                                        ? Optional.of(RemoteMemory.from(bytes))
                                        : Optional.empty());
                    }
                    yield new Located(request, locations);
                }
                default -> throw new ProtocolException("Unknown type of message: " + type);
            };
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new ProtocolException("A message of another executor is malformed: " + e);
        }
    }

    private static int count(ByteBuffer bytes) throws ProtocolException {
        var count = bytes.getInt();
        if (count < 0 || count > MAX_BLOCKS) {
            throw new ProtocolException(
                    "A message has %d blocks; the maximum is %d".formatted(count, MAX_BLOCKS));
        }
        return count;
    }
}
