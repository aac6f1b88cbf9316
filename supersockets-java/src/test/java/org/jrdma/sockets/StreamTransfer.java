package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A completed transfer of one direction of a stream. The static methods perform the transfer and
 * check the bytes.
 *
 * @param bytes the number of correct bytes that were read, or that the channel has accepted
 * @param failure the exception that ended the transfer; null if it ended with the end of the
 *     stream, or if all bytes were written
 */
record StreamTransfer(long bytes, @Nullable IOException failure) {

    private static final int MAX_SIZE = 64 * 1024;

    /** The speed of a reader or writer. */
    enum Pace {
        QUICK,
        SLOW
    }

    /**
     * Reads until the end of the stream, an exception, or {@code limit} bytes, and checks each
     * byte.
     */
    static StreamTransfer read(
            SocketChannel channel, StreamContent content, long limit, Pace pace, Random random) {
        var total = 0L;
        try (var ready = new Readiness(channel, SelectionKey.OP_READ)) {
            while (total < limit) {
                var buffer = ByteBuffer.allocate(size(pace, random, limit - total));
                var count = channel.read(buffer);
                if (count < 0) {
                    return new StreamTransfer(total, null);
                }
                content.check(buffer, total);
                total += count;
                pause(pace, random);
                if (count == 0) {
                    ready.await();
                }
            }
            return new StreamTransfer(total, null);
        } catch (IOException e) {
            return new StreamTransfer(total, e);
        }
    }

    static StreamTransfer write(
            SocketChannel channel, StreamContent content, long bytes, Random random) {
        return write(channel, content, bytes, random, _ -> {}, _ -> {});
    }

    /**
     * Writes bytes until all of them are written or a write throws an exception.
     *
     * @param before receives, before each write, the position up to which the write may go
     * @param after receives, after each write, the number of bytes that the channel has accepted
     */
    static StreamTransfer write(
            SocketChannel channel,
            StreamContent content,
            long bytes,
            Random random,
            LongConsumer before,
            LongConsumer after) {
        var total = 0L;
        try (var ready = new Readiness(channel, SelectionKey.OP_WRITE)) {
            while (total < bytes) {
                var size = size(Pace.QUICK, random, bytes - total);
                before.accept(total + size);
                var count = channel.write(content.bytes(total, size, random.nextBoolean()));
                total += count;
                after.accept(total);
                if (count == 0) {
                    ready.await();
                }
            }
            return new StreamTransfer(total, null);
        } catch (IOException e) {
            return new StreamTransfer(total, e);
        }
    }

    private static int size(Pace pace, Random random, long limit) {
        var size = 1 + random.nextInt(pace == Pace.SLOW ? MAX_SIZE / 16 : MAX_SIZE);
        return (int) Math.min(size, limit);
    }

    private static void pause(Pace pace, Random random) {
        if (pace == Pace.SLOW && random.nextInt(8) == 0) {
            LockSupport.parkNanos(random.nextInt(2_000_000));
        }
    }

    /**
     * Checks that this transfer has read all bytes that were written, or a prefix of them before an
     * exception.
     */
    void assertAllOrAPrefixOf(StreamTransfer written) {
        if (failure == null) {
            assertThat(bytes).as("bytes before the end").isEqualTo(written.bytes);
        } else {
            assertThat(bytes).as("bytes before %s", failure).isLessThanOrEqualTo(written.bytes);
        }
    }

    /** Waits until a non-blocking channel is ready for an operation. */
    private static final class Readiness implements AutoCloseable {

        private final SocketChannel channel;
        private final int operation;
        private @Nullable Selector selector;

        Readiness(SocketChannel channel, int operation) {
            this.channel = channel;
            this.operation = operation;
        }

        void await() throws IOException {
            if (selector == null) {
                selector = channel.provider().openSelector();
                channel.register(selector, operation);
            }
            selector.select();
            selector.selectedKeys().clear();
        }

        @Override
        public void close() throws IOException {
            if (selector != null) {
                selector.close();
            }
        }
    }
}
