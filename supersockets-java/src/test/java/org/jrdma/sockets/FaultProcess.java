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
 * A program that connects several streams, and either reads or writes all of them until a test
 * kills its process. A writing process records its progress in a file, which the test reads
 * afterwards.
 */
final class FaultProcess {

    /**
     * The size of the entry for one stream in the file. An entry contains the position up to which
     * the process may have written, and the position up to which the channel has accepted bytes.
     */
    private static final int ENTRY = 2 * Long.BYTES;

    private FaultProcess() {}

    private static SocketChannel connect(Implementation implementation, InetSocketAddress peer)
            throws IOException {
        for (var left = implementation.tries(); ; left--) {
            var channel = implementation.provider().openSocketChannel();
            channel.connect(peer);
            if (implementation.usesTransport(channel)) {
                return channel;
            }
            if (left == 1) {
                implementation.assertTransport(channel); // Fails with the reason.
            }
            channel.close();
        }
    }

    /**
     * Arguments: the implementation, the port of the listener, the number of streams, the seed,
     * "writes" or "reads", and the path of the file for the progress.
     */
    public static void main(String... arguments) throws Exception {
        var implementation = Implementation.valueOf(arguments[0]);
        var peer = new InetSocketAddress(ChannelPair.ADDRESS, Integer.parseInt(arguments[1]));
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
                            StreamTransfer.write(
                                    channel,
                                    new StreamContent(seed + stream),
                                    Long.MAX_VALUE,
                                    random,
                                    upTo -> written.putLong(stream * ENTRY, upTo),
                                    taken -> written.putLong(stream * ENTRY + 8, taken));
                        } else {
                            StreamTransfer.read(
                                    channel,
                                    new StreamContent(seed + stream),
                                    Long.MAX_VALUE,
                                    StreamTransfer.Pace.SLOW,
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
     * The recorded progress of the writer of one stream.
     *
     * @param begun the position up to which the process may have written
     * @param taken the position up to which the channel has accepted bytes
     */
    record Progress(long begun, long taken) {}

    /** Reads the recorded progress of all streams. */
    static List<Progress> read(Path file, int streams) throws IOException {
        var written = map(file, streams);
        var progress = new ArrayList<Progress>();
        for (var i = 0; i < streams; i++) {
            progress.add(new Progress(written.getLong(i * ENTRY), written.getLong(i * ENTRY + 8)));
        }
        return progress;
    }
}
