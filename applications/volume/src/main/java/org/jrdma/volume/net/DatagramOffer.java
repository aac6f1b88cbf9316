package org.jrdma.volume.net;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;

/**
 * The offer of a connecting node to receive the data of its reads by datagrams, in the private data
 * of its connect request. A node without this feature ignores the offer and does not answer it.
 *
 * @param endpoint the queue pair that receives the datagrams
 * @param queueKey the queue key of this queue pair
 * @param maxDatagramBytes the maximum length of a datagram
 * @param firstTransfer the number that, added to the number of a call, is the number of its
 *     transfer
 */
record DatagramOffer(Endpoint endpoint, int queueKey, int maxDatagramBytes, long firstTransfer) {

    private static final int MAGIC = 0x6a72_6467;
    private static final int BYTES = Endpoint.BYTES + 3 * Integer.BYTES + Long.BYTES;
    private static final int MIN_DATAGRAM_BYTES = 256;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put(endpoint.toBytes())
                .putInt(queueKey)
                .putInt(maxDatagramBytes)
                .putLong(firstTransfer)
                .array();
    }

    /** Decodes an offer. Returns an empty result if the data contains no valid offer. */
    static Optional<DatagramOffer> decode(PrivateData data) {
        var bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.remaining() < BYTES || bytes.getInt() != MAGIC) {
            return Optional.empty();
        }
        try {
            var offer =
                    new DatagramOffer(
                            Endpoint.from(bytes), bytes.getInt(), bytes.getInt(), bytes.getLong());
            return Optional.of(offer).filter(it -> it.maxDatagramBytes >= MIN_DATAGRAM_BYTES);
        } catch (IllegalArgumentException _) { // the number of a queue pair has 24 bits
            return Optional.empty();
        }
    }

    /**
     * Returns true if the GID of the offer is an IP address, so that datagrams go only to the host
     * with this address. A LID would select another port of an InfiniBand subnet.
     */
    boolean isFor(InetAddress address) {
        return endpoint.gid().equals(Gid.of(address)) && endpoint.lid() == 0;
    }

    /**
     * Returns the answer of the accepting node, in the private data of its reply.
     *
     * @param maxDatagramBytes the maximum length of the datagrams that the node sends
     */
    static byte[] answer(int maxDatagramBytes) {
        return ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(MAGIC)
                .putInt(maxDatagramBytes)
                .array();
    }

    /** Returns the maximum length of the datagrams that the peer sends; 0 if it sends none. */
    static int decodeAnswer(PrivateData data) {
        var bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.remaining() < 2 * Integer.BYTES || bytes.getInt() != MAGIC) {
            return 0;
        }
        var max = bytes.getInt();
        return max < MIN_DATAGRAM_BYTES ? 0 : max;
    }
}
