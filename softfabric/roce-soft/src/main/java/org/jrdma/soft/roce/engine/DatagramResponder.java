package org.jrdma.soft.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.RouteHeader;

/**
 * Receives datagrams. A datagram is dropped silently if it has the wrong queue key, exceeds the
 * path MTU, or finds no posted receive that is large enough.
 */
final class DatagramResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;
    private final MemorySegment routeHeader = Arena.ofAuto().allocate(RouteHeader.BYTES);

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
                || bytes > queuePair.route().pathMtu()
                || next == null
                || RouteHeader.BYTES + bytes > next.buffers.bytes()
                || !queue.take(receive)) {
            return;
        }
        RouteHeader.write(packet.buffer(), routeHeader);
        if (!receive.buffers.scatter(
                        engine.memory(), queue.domain(), 0, routeHeader, 0, RouteHeader.BYTES)
                || !receive.scatter(engine.memory(), queue.domain(), RouteHeader.BYTES, packet)) {
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

    @Override
    public void flush() {
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {}
}
