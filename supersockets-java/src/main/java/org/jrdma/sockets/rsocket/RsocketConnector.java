package org.jrdma.sockets.rsocket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;

/** A connection attempt over an rsocket. */
public final class RsocketConnector extends BypassConnector {

    private final RsocketRuntime runtime;
    private final InetSocketAddress target;
    private final int receiveBuffer;
    private final LazyBinding binding;

    public RsocketConnector(
            RsocketRuntime runtime,
            InetSocketAddress target,
            int receiveBuffer,
            LazyBinding binding,
            Consumer<String> onFailure) {
        super(runtime.threads(), onFailure);
        this.runtime = runtime;
        this.target = target;
        this.receiveBuffer = receiveBuffer;
        this.binding = binding;
    }

    @Override
    protected BypassStream connect(Deadline deadline) throws IOException {
        var source = binding.source();
        if (!runtime.addresses().has(source)) {
            throw new FabricException(
                    "%s is reached from %s, which is not an address of an RDMA device"
                            .formatted(
                                    target.getAddress().getHostAddress(), source.getHostAddress()));
        }
        var number = runtime.socket(RsocketCalls.familyOf(target.getAddress()), receiveBuffer);
        var attempt = new Attempt(number);
        try {
            connect(attempt, deadline);
            runtime.poller().forget(attempt);
            return new RsocketStream(runtime, number);
        } catch (Throwable e) {
            runtime.poller().forget(attempt);
            runtime.close(number);
            throw e;
        }
    }

    private void connect(Attempt attempt, Deadline deadline) throws IOException {
        var number = attempt.number;
        var calls = runtime.calls();
        var bound = binding.bound();
        if (bound.isPresent()) {
            RsocketRuntime.check("rbind", calls.bind(number, bound.get()));
        }
        var result = calls.connect(number, target);
        if (result == -Errno.EINPROGRESS) {
            result = awaitResponse(attempt, deadline);
        }
        if (result == -Errno.ECONNREFUSED) {
            throw new FabricException(
                    "Connection refused: no rsocket listens there", Errno.ECONNREFUSED, null);
        }
        RsocketRuntime.check("rconnect", result);
    }

    private int awaitResponse(Attempt attempt, Deadline deadline) throws IOException {
        var waiting = new ReadinessWaiting(attempt, SocketCalls.POLLOUT, 0);
        try (var listener = runtime.awaited().enter(target)) {
            while (!waiting.await(listener.deadline(deadline))) {
                if (isAbandoned() || listener.deadline(deadline).hasPassed()) {
                    throw new FabricException(
                            "%s did not respond in time"
                                    .formatted(target.getAddress().getHostAddress()));
                }
            }
            var result = -attempt.outcome();
            if (result == 0 || result == -Errno.ECONNREFUSED) {
                listener.responded();
            }
            return result;
        }
    }

    /**
     * The rsocket of an attempt. It is ready for POLLOUT when the connection is established or the
     * attempt has failed.
     */
    private final class Attempt extends ReadinessSource implements RsocketPoller.Watched {

        private final int number;

        Attempt(int number) {
            this.number = number;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public void eventOccurred() {
            changed();
        }

        @Override
        public int ready() {
            return runtime.calls().ready(number, SocketCalls.POLLOUT) == 0
                    ? 0
                    : SocketCalls.POLLOUT;
        }

        @Override
        protected void arm(int events, boolean parks) {
            runtime.poller().watch(this, events);
        }

        /**
         * Returns 0 if the rsocket is connected, otherwise the errno with which the attempt has
         * failed.
         */
        int outcome() {
            var events = runtime.calls().ready(number, SocketCalls.POLLOUT);
            if ((events & RsocketCalls.POLLERR) == 0) {
                return 0;
            }
            var errno = runtime.calls().error(number);
            return errno == 0 ? Errno.ECONNRESET : errno;
        }
    }
}
