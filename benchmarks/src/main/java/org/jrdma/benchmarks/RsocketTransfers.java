package org.jrdma.benchmarks;

import static java.time.Duration.ofSeconds;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.Transports;

/**
 * Performs the same transfers over rsockets as {@code rstream -S SIZE -C COUNT -I ITERATIONS} of
 * rdmacm-utils: in each iteration, a number of transfers in one direction, and then the same number
 * in the other direction. Prints gigabits per second, and microseconds per transfer.
 *
 * <p>Arguments: the size of a transfer, the number of transfers, the number of iterations, the
 * port, and for the client the address of the server.
 */
final class RsocketTransfers {

    private static final long PAUSE_NANOS = 100_000_000;
    private static final FabricSelectorProvider PROVIDER =
            new FabricSelectorProvider(List.of(Transports.rsocket()));

    /** The size of the receive buffer in bytes, which is the size that rstream uses. */
    private static final int RING = 512 * 1024;

    private final SocketChannel channel;
    private final ByteBuffer buffer;

    private RsocketTransfers(SocketChannel channel, int size) {
        this.channel = channel;
        this.buffer = ByteBuffer.allocateDirect(size);
    }

    public static void main(String... arguments) throws IOException {
        var size = Integer.parseInt(arguments[0]);
        var count = Integer.parseInt(arguments[1]);
        var iterations = Integer.parseInt(arguments[2]);
        var port = Integer.parseInt(arguments[3]);
        if (arguments.length > 4) {
            try (var channel = connect(new InetSocketAddress(arguments[4], port))) {
                new RsocketTransfers(channel, size).run(count, iterations, true);
            }
            return;
        }
        try (var listener =
                        PROVIDER.openServerSocketChannel()
                                .setOption(StandardSocketOptions.SO_RCVBUF, RING)
                                .bind(new InetSocketAddress("0.0.0.0", port));
                var channel = listener.accept()) {
            new RsocketTransfers(channel, size).run(count, iterations, false);
        }
    }

    /**
     * Connects with retries, because the server may open its TCP port, for which the caller waits,
     * before it listens over rsockets.
     */
    private static SocketChannel connect(InetSocketAddress server) throws IOException {
        var deadline = Deadline.after(ofSeconds(60));
        while (true) {
            var channel = PROVIDER.openSocketChannel();
            try {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, RING).connect(server);
                return channel;
            } catch (ConnectException e) {
                if (deadline.hasPassed()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private void run(int count, int iterations, boolean first) throws IOException {
        exchange(count, iterations, first); // to warm up
        var start = System.nanoTime();
        exchange(count, iterations, first);
        var seconds = (System.nanoTime() - start) / 1e9;
        var transfers = 2.0 * count * iterations;
        System.out.printf(
                Locale.ROOT,
                "%.3f Gb/sec %.1f usec/xfer%n",
                transfers * buffer.capacity() * 8 / seconds / 1e9,
                seconds * 1e6 / transfers);
    }

    private void exchange(int count, int iterations, boolean first) throws IOException {
        for (var i = 0; i < iterations; i++) {
            exchange(count, first);
        }
    }

    private void exchange(int count, boolean first) throws IOException {
        if (first) {
            send(count);
            receive(count);
        } else {
            receive(count);
            send(count);
        }
    }

    private void send(int count) throws IOException {
        for (var i = 0; i < count; i++) {
            buffer.clear();
            channel.write(buffer);
        }
    }

    private void receive(int count) throws IOException {
        for (var i = 0; i < count; i++) {
            buffer.clear();
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new IOException("The peer closed the connection.");
                }
            }
        }
    }
}
