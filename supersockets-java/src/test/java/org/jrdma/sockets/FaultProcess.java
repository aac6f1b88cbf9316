package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A process that is to be killed: one end of several streams, which it writes or reads without end.
 * Of what it writes it leaves word in a file, which outlives it.
 */
final class FaultProcess {

    /** For each stream: up to where it is writing, and what the channel has taken. */
    private static final int ENTRY = 2 * Long.BYTES;

    private FaultProcess() {}

    private static SocketChannel connect(Implementation implementation, InetSocketAddress peer)
            throws IOException {
        for (var left = implementation.tries(); ; left--) {
            var channel = implementation.provider().openSocketChannel();
            channel.connect(peer);
            if (implementation.isTaken(channel)) {
                return channel;
            }
            if (left == 1) {
                implementation.assertTaken(channel); // fails, and says why
            }
            channel.close();
        }
    }

    /** With the transport, the port, how many streams, the seed, "writes" or "reads", the file. */
    public static void main(String... arguments) throws Exception {
        var implementation = Implementation.valueOf(arguments[0]);
        var peer = new InetSocketAddress(ChannelPair.HERE, Integer.parseInt(arguments[1]));
        var streams = Integer.parseInt(arguments[2]);
        var seed = Long.parseLong(arguments[3]);
        var written = map(Path.of(arguments[5]), streams);
        var channels = new ArrayList<SocketChannel>();
        for (var i = 0; i < streams; i++) {
            var channel = connect(implementation, peer);
            channel.write(ByteBuffer.wrap(new byte[] {(byte) i}));
            channels.add(channel);
        }
        var threads = new ArrayList<Thread>();
        for (var i = 0; i < streams; i++) {
            var stream = i;
            var channel = channels.get(i);
            var random = new Random(seed + i);
            threads.add(
                    Thread.startVirtualThread(() -> {
                        if (arguments[4].equals("writes")) {
                            Transfer.write(
                                    channel,
                                    new Content(seed + stream),
                                    Long.MAX_VALUE,
                                    random,
                                    upTo -> written.putLong(stream * ENTRY, upTo),
                                    taken -> written.putLong(stream * ENTRY + 8, taken));
                        } else {
                            Transfer.read(
                                    channel,
                                    new Content(seed + stream),
                                    Long.MAX_VALUE,
                                    Transfer.Pace.SLOW,
                                    random);
                        }
                    }));
        }
        for (var thread : threads) {
            thread.join();
        }
    }

    private static MappedByteBuffer map(Path file, int streams) throws IOException {
        try (var channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) streams * ENTRY);
        }
    }

    /**
     * What a stream's writer had done when it was killed.
     *
     * @param begun up to where it may have written
     * @param taken up to where it has written for certain
     */
    record Word(long begun, long taken) {}

    /** Of each stream. */
    static List<Word> read(Path file, int streams) throws IOException {
        var written = map(file, streams);
        var words = new ArrayList<Word>();
        for (var i = 0; i < streams; i++) {
            words.add(new Word(written.getLong(i * ENTRY), written.getLong(i * ENTRY + 8)));
        }
        return words;
    }
}
