package org.jrdma.volume.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;

/** The calls of this node that wait for their replies, within the limits of the peer. */
final class OutgoingCalls {

    private final Wire wire;
    private final Semaphore permits;
    private final PeerAreaAllocator peerArea;
    private final AtomicLong lastNumber = new AtomicLong();
    private final ConcurrentHashMap<Long, PendingCall> pending = new ConcurrentHashMap<>();
    private volatile @Nullable ConnectionLostException end;

    /**
     * @param calls the maximum number of calls that wait at the same time
     * @param areaBytes the number of bytes for bulk data at the peer
     */
    OutgoingCalls(Wire wire, int calls, int areaBytes) {
        this.wire = wire;
        this.permits = new Semaphore(calls, true);
        this.peerArea = new PeerAreaAllocator(areaBytes);
    }

    /** Returns the maximum length of the bulk data of a call. */
    int maxBulkBytes() {
        return peerArea.maxBytes();
    }

    /**
     * Sends a request when the limits of the peer permit it.
     *
     * @throws FabricException if the deadline passes before the request is sent
     * @throws IOException if the transport fails; the caller must end the connection
     */
    PendingCall send(ByteBuffer message, @Nullable BulkData bulk, Deadline deadline)
            throws IOException {
        acquirePermit(deadline);
        PendingCall call;
        try {
            call = begin(message, bulk, deadline);
        } catch (IOException | RuntimeException e) {
            permits.release();
            throw e;
        }
        try {
            checkOpen();
            wire.send(
                    call.request(),
                    message,
                    bulk == null ? MemorySegment.NULL : bulk.memory(),
                    deadline);
        } catch (IOException | RuntimeException e) {
            if (pending.remove(call.request().call(), call)) {
                finish(call);
            }
            throw e;
        }
        return call;
    }

    private void acquirePermit(Deadline deadline) throws FabricException, InterruptedIOException {
        try {
            if (!permits.tryAcquire(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw deadline.missed("No call was possible over %s".formatted(wire));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting to make a call");
        }
    }

    private PendingCall begin(ByteBuffer message, @Nullable BulkData bulk, Deadline deadline)
            throws FabricException, InterruptedIOException {
        checkOpen();
        var number = lastNumber.incrementAndGet();
        FrameHeader header;
        if (bulk == null) {
            header = new FrameHeader(Kind.REQUEST, null, message.remaining(), number, 0, 0, 0, 0);
        } else {
            var offset = allocate(bulk, deadline);
            header =
                    new FrameHeader(
                            Kind.REQUEST,
                            bulk.direction(),
                            message.remaining(),
                            number,
                            offset,
                            bulk.bytes(),
                            bulk.buffer().address() + bulk.offset(),
                            bulk.buffer().key());
        }
        var call = new PendingCall(header, bulk);
        pending.put(number, call);
        return call;
    }

    /** Allocates a range in the bulk area of the peer, and starts the use of the buffer. */
    private int allocate(BulkData bulk, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var offset = peerArea.allocate(bulk.bytes(), deadline);
        try {
            checkOpen();
            bulk.buffer().begin();
            return offset;
        } catch (FabricException | RuntimeException e) {
            peerArea.free(Math.max(0, offset), bulk.bytes());
            throw e;
        }
    }

    private void checkOpen() throws ConnectionLostException {
        var ended = end;
        if (ended != null) {
            throw new ConnectionLostException(ended.getMessage(), ended);
        }
    }

    /** Handles a reply. Called only by the receiving thread. */
    void replied(Frame frame) throws IOException {
        var header = frame.header();
        var call = pending.get(header.call());
        if (call == null) {
            throw new ProtocolException("the peer replied to a call that does not exist");
        }
        var bulk = call.bulk();
        if (header.kind() == Kind.REPLY) {
            var expected =
                    bulk != null && bulk.direction() == Direction.FROM_PEER ? bulk.bytes() : 0;
            if (header.bulkBytes() != expected) {
                throw new ProtocolException("the peer sent bulk data of the wrong length");
            }
            if (bulk != null && expected > 0) {
                wire.receiveData(bulk.memory());
            }
        }
        if (!pending.remove(header.call(), call)) {
            return; // the connection has ended
        }
        finish(call);
        if (header.kind() == Kind.REPLY) {
            call.complete(frame.payload());
        } else {
            var reason = StandardCharsets.UTF_8.decode(frame.payload()).toString();
            call.fail(new RequestFailedException(reason));
        }
    }

    private void finish(PendingCall call) {
        var request = call.request();
        if (request.direction() != null) {
            peerArea.free(request.areaOffset(), request.bulkBytes());
        }
        call.finish();
        permits.release();
    }

    /** Fails all calls, and rejects further ones. */
    void end(ConnectionLostException reason) {
        end = reason;
        peerArea.close();
        for (var call : pending.values()) {
            if (pending.remove(call.request().call(), call)) {
                finish(call);
                call.fail(reason);
            }
        }
        permits.release(Integer.MAX_VALUE / 2); // wakes up all waiting callers
    }
}
