package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sockets.bypass.BypassListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listener at one port, for one or more addresses of RDMA devices. The listener has one rsocket
 * for each address, because an rsocket at the wildcard address would also claim the addresses of
 * other devices.
 *
 * <p>One thread per rsocket blocks in raccept. The threads do not wait in rpoll, because rpoll
 * would report a connection half a second late: another thread of the library consumes the event
 * for which rpoll waits.
 */
final class RsocketListener extends BypassListener {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketListener.class);
    private static final long PAUSE_NANOS = 10_000_000;

    private final RsocketRuntime runtime;
    private final InetSocketAddress address;
    private final int backlog;
    private final List<Integer> numbers;

    RsocketListener(
            RsocketRuntime runtime, InetSocketAddress address, List<Integer> numbers, int backlog) {
        this.runtime = runtime;
        this.address = address;
        this.backlog = backlog;
        this.numbers = List.copyOf(numbers);
    }

    void open() {
        for (var number : numbers) {
            Thread.ofPlatform()
                    .daemon()
                    .name("jrdma-rsocket-accept-" + address.getPort())
                    .start(() -> acceptAll(number));
        }
    }

    /**
     * Accepts connections until the listener is closed, which also ends a blocking call of raccept.
     */
    private void acceptAll(int listener) {
        while (!isClosed()) {
            try {
                if (awaitQueueSlot() && acceptOne(listener)) {
                    continue;
                }
            } catch (Throwable e) {
                // The thread continues after a failure, because the listener depends on it.
                FailureLog.error(LOG, "Could not accept an rsocket connection", e);
            }
            // The client has disconnected, or the process has run out of memory or descriptors.
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Waits until the accept queue has space. Returns false if the listener is closed. */
    private synchronized boolean awaitQueueSlot() throws InterruptedException {
        while (!isClosed() && queued() >= backlog) {
            wait();
        }
        return !isClosed();
    }

    /** Accepts one connection. Returns false if there was none. */
    private boolean acceptOne(int listener) {
        var number = runtime.accept(listener, () -> !isClosed());
        if (number <= 0) {
            return false;
        }
        enqueue(number);
        return true;
    }

    private void enqueue(int number) {
        Arrival arrival;
        try {
            var stream = new RsocketStream(runtime, number);
            var peer = runtime.calls().peerName(number);
            arrival = new Arrival(stream, stream.localAddress().orElseThrow(), peer);
        } catch (IllegalStateException e) {
            LOG.debug(
                    "A client of {} disconnected before it was accepted: {}",
                    AddressText.of(address),
                    e.getMessage());
            runtime.close(number);
            return;
        } catch (Throwable e) {
            runtime.close(number);
            throw e;
        }
        if (!enqueue(arrival)) {
            arrival.stream().close(true);
        }
    }

    @Override
    protected void release() {
        numbers.forEach(runtime::closeListener);
    }
}
