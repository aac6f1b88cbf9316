package org.jrdma.sockets;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;

/** A pipe within this process, both of whose ends can be selected. In C: {@code pipe2}. */
final class FabricPipe extends Pipe {

    private final Source source;
    private final Sink sink;

    private FabricPipe(Source source, Sink sink) {
        this.source = source;
        this.sink = sink;
    }

    static FabricPipe open(SelectorProvider provider) throws IOException {
        try (var scratch = Scratch.take()) {
            var ends = scratch.value(2 * Integer.BYTES);
            SocketFailure.check(SocketCalls.pipe(ends));
            return new FabricPipe(
                    new Source(provider, ends.getAtIndex(JAVA_INT, 0)),
                    new Sink(provider, ends.getAtIndex(JAVA_INT, 1)));
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

    /** The bytes that a call has moved, none if it would have had to wait. */
    private static long transferred(long result) throws IOException {
        if (result == SocketCalls.AGAIN) {
            return 0;
        }
        if (result < 0) {
            throw SocketFailure.ofTransfer((int) -result);
        }
        return result;
    }

    private static final class Source extends SourceChannel implements Selectable {

        private final Endpoint endpoint;

        Source(SelectorProvider provider, int descriptor) {
            super(provider);
            endpoint = new Endpoint(this, descriptor, this::begin, this::end);
        }

        @Override
        public Endpoint endpoint() {
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
            var end = offset + length;
            var input = endpoint.input();
            input.lock();
            try {
                endpoint.ensureOpen();
                if (Transfers.remaining(targets, offset, end) == 0) {
                    return 0;
                }
                var count =
                        input.attempt(() ->
                                Transfers.receive(
                                        SocketCalls::read,
                                        endpoint.descriptor(),
                                        targets,
                                        offset,
                                        end));
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

    private static final class Sink extends SinkChannel implements Selectable {

        private final Endpoint endpoint;

        Sink(SelectorProvider provider, int descriptor) {
            super(provider);
            endpoint = new Endpoint(this, descriptor, this::begin, this::end);
        }

        @Override
        public Endpoint endpoint() {
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
            var end = offset + length;
            var output = endpoint.output();
            output.lock();
            try {
                endpoint.ensureOpen();
                return transferred(
                        output.attemptAll(
                                Transfers.remaining(sources, offset, end),
                                () ->
                                        Transfers.send(
                                                SocketCalls::write,
                                                endpoint.descriptor(),
                                                sources,
                                                offset,
                                                end)));
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
