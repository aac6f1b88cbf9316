package org.jrdma.volume.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jrdma.ffi.Deadline;

/** A request handler for tests: the first byte of a request selects what the handler does. */
final class TestRequestHandler implements RequestHandler {

    /** Returns the rest of the request. */
    static final byte ECHO = 1;

    /** Waits for {@link #gate}. */
    static final byte WAIT = 2;

    /** Makes a call to the caller with the rest of the request, and returns its reply. */
    static final byte CALL_BACK = 3;

    /** Returns the checksum of the bulk data. */
    static final byte SUM = 4;

    /** Fills the bulk data with bytes generated from the seed in the request. */
    static final byte FILL = 5;

    /** Fails with the rest of the request as its message. */
    static final byte FAIL = 6;

    /** Calls the caller with bulk data to the caller, and returns the checksum that it replies. */
    static final byte SEND_BACK = 7;

    final CountDownLatch gate = new CountDownLatch(1);
    final CountDownLatch waiting = new CountDownLatch(1);
    final CountDownLatch disconnected = new CountDownLatch(1);
    final AtomicInteger handled = new AtomicInteger();

    @Override
    public ByteBuffer handle(Request request) throws IOException {
        handled.incrementAndGet();
        var message = request.message();
        return switch (message.get()) {
            case ECHO -> message;
            case WAIT -> {
                waiting.countDown();
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                yield message;
            }
            case CALL_BACK -> request.connection().call(echo(message), deadline());
            case SUM -> longValue(sum(request.bulk()));
            case FILL -> {
                fill(request.bulk(), message.getLong());
                yield ByteBuffer.allocate(0);
            }
            case FAIL -> throw new IOException(StandardCharsets.UTF_8.decode(message).toString());
            case SEND_BACK -> {
                try (var buffer = request.connection().newBuffer(message.getInt())) {
                    fill(buffer.memory(), message.getLong());
                    yield request.connection()
                            .call(
                                    ByteBuffer.wrap(new byte[] {SUM}),
                                    buffer.toPeer(0, buffer.byteSize()),
                                    deadline());
                }
            }
            default -> throw new IOException("unknown request");
        };
    }

    @Override
    public void disconnected(NodeConnection connection, ConnectionLostException reason) {
        disconnected.countDown();
    }

    static Deadline deadline() {
        return Deadline.after(Duration.ofSeconds(20));
    }

    static ByteBuffer echo(ByteBuffer content) {
        return request(ECHO, content);
    }

    static ByteBuffer request(byte kind, ByteBuffer content) {
        return ByteBuffer.allocate(1 + content.remaining()).put(kind).put(content.slice()).flip();
    }

    static ByteBuffer request(byte kind) {
        return request(kind, ByteBuffer.allocate(0));
    }

    static ByteBuffer longValue(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).flip();
    }

    static void fill(MemorySegment memory, long seed) {
        var bytes = new byte[(int) memory.byteSize()];
        new SplittableRandom(seed).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    static long sum(MemorySegment memory) {
        var checksum = new CRC32C();
        checksum.update(memory.asByteBuffer());
        return checksum.getValue();
    }

    /** Returns the checksum of memory that was filled with a seed. */
    static long sum(int bytes, long seed) {
        var content = new byte[bytes];
        new SplittableRandom(seed).nextBytes(content);
        var checksum = new CRC32C();
        checksum.update(content);
        return checksum.getValue();
    }
}
