package org.jrdma.sockets.channel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.jrdma.sockets.internal.NonBlockingTransfer;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;

/**
 * A {@link Pipe} whose two ends can be registered with a {@link FabricSelector}. In C: {@code
 * pipe2}.
 */
public final class SelectablePipe extends Pipe {

    private final PipeSource source;
    private final PipeSink sink;

    private SelectablePipe(PipeSource source, PipeSink sink) {
        this.source = source;
        this.sink = sink;
    }

    public static SelectablePipe open(SelectorProvider provider) throws IOException {
        try (var scratch = Scratch.take()) {
            var ends = scratch.value(2 * Integer.BYTES);
            SocketFailure.check(SocketCalls.pipe(ends));
            return new SelectablePipe(
                    new PipeSource(provider, ends.getAtIndex(JAVA_INT, 0)),
                    new PipeSink(provider, ends.getAtIndex(JAVA_INT, 1)));
        }
    }

    @Override
    public SourceChannel source() {
        return source;
    }

    @Override
    public SinkChannel sink() {
        return sink;
    }

    /**
     * Converts the result of a system call to the return value of a channel: the number of bytes,
     * or 0 if the call would have waited. Throws an exception for another negative errno.
     */
    private static long transferred(long result) throws IOException {
        if (result == SocketCalls.AGAIN) {
            return 0;
        }
        if (result < 0) {
            throw SocketFailure.ofTransfer((int) -result);
        }
        return result;
    }

    private record PipeEnd(int descriptor) implements NonBlockingTransfer {
        @Override
        public int receive(MemorySegment target, long maxBytes) {
            return SocketCalls.read(descriptor, target, maxBytes);
        }

        @Override
        public int send(MemorySegment source, long bytes) {
            return SocketCalls.write(descriptor, source, bytes);
        }
    }

    private static final class PipeSource extends SourceChannel implements Selectable {

        private final ChannelDescriptor endpoint;
        private final PipeEnd end;

        PipeSource(SelectorProvider provider, int descriptor) {
            super(provider);
            endpoint = new ChannelDescriptor(this, descriptor);
            end = new PipeEnd(descriptor);
        }

        @Override
        public ChannelDescriptor endpoint() {
            return endpoint;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return (int) read(new ByteBuffer[] {target});
        }

        @Override
        public long read(ByteBuffer[] targets) throws IOException {
            return read(targets, 0, targets.length);
        }

        @Override
        public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, targets.length);
            var to = offset + length;
            BufferTransfers.requireWritable(targets, offset, to);
            var input = endpoint.input();
            input.lock();
            try {
                endpoint.ensureOpen();
                if (BufferTransfers.remaining(targets, offset, to) == 0) {
                    return 0;
                }
                var count = SocketCalls.AGAIN;
                var blocking = isBlocking();
                if (blocking) {
                    begin(); // A pending interrupt closes the channel here.
                }
                try {
                    if (input.enter(blocking)) {
                        do {
                            count = BufferTransfers.receive(end, targets, offset, to);
                        } while (input.retry(count));
                    }
                } finally {
                    if (input.leave()) {
                        end(count > 0);
                    }
                }
                return count == 0 ? -1 : transferred(count);
            } finally {
                input.unlock();
            }
        }

        @Override
        protected void implCloseSelectableChannel() throws IOException {
            endpoint.close();
        }

        @Override
        protected void implConfigureBlocking(boolean block) {
            endpoint.lockBoth();
            endpoint.unlockBoth();
        }
    }

    private static final class PipeSink extends SinkChannel implements Selectable {

        private final ChannelDescriptor endpoint;
        private final PipeEnd end;

        PipeSink(SelectorProvider provider, int descriptor) {
            super(provider);
            endpoint = new ChannelDescriptor(this, descriptor);
            end = new PipeEnd(descriptor);
        }

        @Override
        public ChannelDescriptor endpoint() {
            return endpoint;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            return (int) write(new ByteBuffer[] {source});
        }

        @Override
        public long write(ByteBuffer[] sources) throws IOException {
            return write(sources, 0, sources.length);
        }

        @Override
        public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, sources.length);
            var to = offset + length;
            var output = endpoint.output();
            output.lock();
            try {
                endpoint.ensureOpen();
                var result = (long) SocketCalls.AGAIN;
                var blocking = isBlocking();
                if (blocking) {
                    begin(); // A pending interrupt closes the channel here.
                }
                try {
                    if (output.enter(blocking)) {
                        result = BufferTransfers.sendAll(end, output, sources, offset, to);
                    }
                } finally {
                    if (output.leave()) {
                        end(result >= 0);
                    }
                }
                return transferred(result);
            } finally {
                output.unlock();
            }
        }

        @Override
        protected void implCloseSelectableChannel() throws IOException {
            endpoint.close();
        }

        @Override
        protected void implConfigureBlocking(boolean block) {
            endpoint.lockBoth();
            endpoint.unlockBoth();
        }
    }
}
