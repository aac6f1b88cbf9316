package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.util.List;
import org.jrdma.sockets.bypass.BypassListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listener at a port of RDMA devices: one rsocket for each address, since one for all addresses
 * would claim those of other devices too.
 *
 * <p>A thread for each rsocket blocks in raccept: rpoll reports a connection half a second late,
 * because it waits for what another thread of the library takes away.
 */
final class RsocketListener extends BypassListener {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketListener.class);
    private static final long PAUSE_MILLIS = 10;

    private final RsocketFabric fabric;
    private final InetSocketAddress address;
    private final int backlog;
    private final List<Integer> numbers;

    /** Of rsockets that listen. */
    RsocketListener(
            RsocketFabric fabric, InetSocketAddress address, List<Integer> numbers, int backlog) {
        this.fabric = fabric;
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

    /** Until the rsocket is closed, which ends the wait in it. */
    private void acceptAll(int listener) {
        try {
            while (awaitRoom()) {
                var number = fabric.accept(listener, () -> !isClosed());
                if (number > 0) {
                    arrive(number);
                } else {
                    Thread.sleep(PAUSE_MILLIS); // a client that has gone, or no descriptor is left
                }
            }
        } catch (InterruptedException e) {
            LOG.error("Nobody is accepted at {} any more", address, e);
        }
    }

    private synchronized boolean awaitRoom() throws InterruptedException {
        while (!isClosed() && queued() >= backlog) {
            wait();
        }
        return !isClosed();
    }

    private void arrive(int number) {
        Arrival arrival;
        try {
            var stream = new RsocketStream(fabric, number);
            var peer = fabric.calls().peerName(number);
            arrival = new Arrival(stream, stream.localAddress().orElseThrow(), peer);
        } catch (IllegalStateException e) {
            LOG.debug("A client of {} has gone: {}", address, e.getMessage());
            fabric.close(number);
            return;
        }
        if (!enqueue(arrival)) {
            arrival.stream().close(true);
        }
    }

    @Override
    protected void release() {
        numbers.forEach(fabric::closeListener);
    }
}
