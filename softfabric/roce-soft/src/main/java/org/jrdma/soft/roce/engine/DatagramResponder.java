package org.jrdma.soft.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.RouteHeader;

/** Takes datagrams. What does not fit, or has the wrong key, is dropped without a word. */
final class DatagramResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;
    private final MemorySegment route = Arena.ofAuto().allocate(RouteHeader.BYTES);

    DatagramResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.reporter = queuePair.completions();
        this.receive = new ReceiveWork(queuePair.receives().maxBuffers());
    }

    @Override
    public void start(ReceiveParameters parameters) {}

    @Override
    public void receive(IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        var queue = queuePair.receives();
        var next = queue.peek();
        if (packet.datagram().queueKey() != queuePair.queueKey()
                || bytes > queuePair.link().pathMtu()
                || next == null
                || RouteHeader.BYTES + bytes > next.buffers.bytes()
                || !queue.take(receive)) {
            return;
        }
        RouteHeader.write(packet.buffer(), route);
        if (!scatter(0, route, 0, RouteHeader.BYTES)
                || (bytes > 0
                        && !scatter(
                                RouteHeader.BYTES,
                                packet.buffer().memory(),
                                packet.payloadOffset(),
                                bytes))) {
            reporter.failReceive(
                    reporter.receives(), receive, CompletionStatus.LOCAL_PROTECTION_ERROR);
            queuePair.fail();
            return;
        }
        reporter.completeReceive(
                reporter.receives(),
                receive,
                CompletionKind.RECEIVE,
                packet,
                RouteHeader.BYTES + bytes);
    }

    private boolean scatter(long offset, MemorySegment source, long sourceOffset, long length) {
        return receive.buffers.scatter(
                engine.memory(),
                queuePair.receives().domain(),
                offset,
                source,
                sourceOffset,
                length);
    }

    @Override
    public void flush() {
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {}
}
