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
 * The result of one direction of a stream.
 *
 * @param bytes the number of correct bytes that were read, or that the channel has taken
 * @param failure the exception that ended the transfer; null if it ended with the end of the
 *     stream, or if all bytes were written
 */
record Transfer(long bytes, @Nullable IOException failure) {

    private static final int LARGEST = 64 * 1024;

    /** The speed of a reader or writer. */
    enum Pace {
        QUICK,
        SLOW
    }

    /** Reads until the end, an exception, or {@code most} bytes, and checks each byte. */
    static Transfer read(
            SocketChannel channel, Content content, long most, Pace pace, Random random) {
        var done = 0L;
        try (var ready = new Readiness(channel, SelectionKey.OP_READ)) {
            while (done < most) {
                var buffer = ByteBuffer.allocate(size(pace, random, most - done));
                var count = channel.read(buffer);
                if (count < 0) {
                    return new Transfer(done, null);
                }
                content.check(buffer, done);
                done += count;
                pause(pace, random);
                if (count == 0) {
                    ready.await();
                }
            }
            return new Transfer(done, null);
        } catch (IOException e) {
            return new Transfer(done, e);
        }
    }

    static Transfer write(SocketChannel channel, Content content, long bytes, Random random) {
        return write(channel, content, bytes, random, _ -> {}, _ -> {});
    }

    /**
     * Writes all bytes, or until an exception.
     *
     * @param before receives the position up to which the next write goes
     * @param after receives the number of bytes that the channel has taken
     */
    static Transfer write(
            SocketChannel channel,
            Content content,
            long bytes,
            Random random,
            LongConsumer before,
            LongConsumer after) {
        var done = 0L;
        try (var ready = new Readiness(channel, SelectionKey.OP_WRITE)) {
            while (done < bytes) {
                var size = size(Pace.QUICK, random, bytes - done);
                before.accept(done + size);
                var count = channel.write(content.bytes(done, size, random.nextBoolean()));
                done += count;
                after.accept(done);
                if (count == 0) {
                    ready.await();
                }
            }
            return new Transfer(done, null);
        } catch (IOException e) {
            return new Transfer(done, e);
        }
    }

    private static int size(Pace pace, Random random, long most) {
        var size = 1 + random.nextInt(pace == Pace.SLOW ? LARGEST / 16 : LARGEST);
        return (int) Math.min(size, most);
    }

    private static void pause(Pace pace, Random random) {
        if (pace == Pace.SLOW && random.nextInt(8) == 0) {
            LockSupport.parkNanos(random.nextInt(2_000_000));
        }
    }

    /**
     * Checks that this end has read all bytes that were written, or a prefix followed by an
     * exception.
     */
    void assertAllOrAPrefixOf(Transfer written) {
        if (failure == null) {
            assertThat(bytes).as("bytes before the end").isEqualTo(written.bytes);
        } else {
            assertThat(bytes).as("bytes before %s", failure).isLessThanOrEqualTo(written.bytes);
        }
    }

    /** Waits for a non-blocking channel. */
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
