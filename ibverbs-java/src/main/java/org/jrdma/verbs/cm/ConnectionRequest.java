package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/** A peer's connect request. The program accepts, rejects or closes it. */
public final class ConnectionRequest extends IncomingRequest {

    private final ConnectionEvent.ConnectRequest request;

    ConnectionRequest(ConnectionEvent.ConnectRequest request) {
        super(request, "request");
        this.request = request;
    }

    /** The queue pair number of the peer, and the parameters that the peer requests. */
    public ConnectionParameters parameters() {
        return request.parameters();
    }

    /**
     * Accepts the request, and waits until the peer has confirmed the connection. On iWARP, the
     * peer does not send a confirmation, and the peer must send the first message on the
     * connection.
     *
     * @param domain a protection domain of the request's device
     * @throws CmException if the peer has timed out or withdrawn its request
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this request or the protection domain is closed before or
     *     during the call
     * @throws IllegalArgumentException if the options specify a local address or a type of service
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        return accept(domain, options, Deadline.after(timeout));
    }

    /**
     * Accepts the request without blocking; see {@link #accept(ProtectionDomain, ConnectionOptions,
     * Duration)}. Canceling the future rejects the request and closes all objects that the call
     * created.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> acceptAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return CancellableCall.start(
                "jrdma-accept-async", () -> accept(domain, options, timeout), Connection::close);
    }

    /**
     * Accepts the request as a channel if the peer requested a channel, and rejects the request
     * otherwise. This method closes the request in every case. On iWARP, this side cannot send
     * before a first header has arrived from the peer, which the channel at the peer sends
     * automatically.
     *
     * @param domain a protection domain of the request's device
     * @throws IllegalArgumentException if the private data is too long
     * @throws VerbsException if the request is not for a channel
     * @throws CmException if the peer has timed out or withdrawn its request
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public RdmaChannel acceptChannel(
            ProtectionDomain domain, RdmaChannelOptions options, Duration timeout)
            throws FabricException, InterruptedIOException {
        return RdmaChannelOpener.accept(this, domain, options, timeout);
    }

    /**
     * The private data of a request for a channel, which the peer's program set with {@link
     * RdmaChannelOptions#privateData}; empty if the request is not for a channel.
     */
    public Optional<PrivateData> channelPrivateData() {
        return ChannelParameters.decode(privateData())
                .map(_ -> ChannelParameters.programData(privateData()));
    }

    <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return new Handshake<>(ownership, domain, options).accept(request, deadline);
        } finally {
            Reference.reachabilityFence(this); // Prevents a leak report during the call.
        }
    }
}
