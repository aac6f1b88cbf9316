package org.jrdma.verbs.cm;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.handle.PrivateDataSizes;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Establishes a connection from a route or a connect request. A failure closes the identifier and
 * the queue pair.
 */
final class Handshake<Q extends QueuePair> {

    private static final int MAX_READS = 254; // The number 255 means the maximum of the device.

    /** The C functions that fail with EINVAL if the peer has withdrawn its request or timed out. */
    private static final Set<String> STEPS =
            Set.of("rdma_init_qp_attr", "rdma_accept", "rdma_establish");

    /** The maximum time to wait for the event with the reason after a C function has failed. */
    private static final Duration REASON_DELAY = Duration.ofMillis(100);

    private final IdentifierOwnership ownership;
    private final Identifier identifier;
    private final ProtectionDomain domain;
    private final ConnectionOptions<Q> options;
    private final boolean isIwarp;
    private final String failure;
    private final Runnable queuePairClosed = this::queuePairClosed;
    private @Nullable Q queuePair;

    /** True after the connect request was sent or received. */
    private boolean requested;

    Handshake(
            IdentifierOwnership ownership, ProtectionDomain domain, ConnectionOptions<Q> options) {
        this.ownership = ownership;
        this.identifier = ownership.identifier();
        this.domain = domain;
        this.options = options;
        this.isIwarp = identifier.isIwarp();
        this.failure =
                "No connection from %s to %s through %s"
                        .formatted(
                                AddressText.of(identifier.localAddress().orElse(null)),
                                AddressText.of(identifier.peerAddress().orElse(null)),
                                domain.device().name());
    }

    private interface Steps<Q extends QueuePair> {
        Connection<Q> run() throws IOException;
    }

    private Connection<Q> runOrAbandon(Steps<Q> steps)
            throws FabricException, InterruptedIOException {
        var done = false;
        try {
            var connection = steps.run();
            done = true;
            return connection;
        } catch (VerbsException e) {
            throw explained(e);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        } catch (FabricException | InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            throw new FabricException(
                    "%s: the preparation of the queue pair failed: %s"
                            .formatted(failure, e.getMessage()),
                    0,
                    e);
        } finally {
            if (!done) {
                abandon();
            }
        }
    }

    /**
     * Returns an exception that contains the reason why the handshake failed. If a function fails
     * because the peer has withdrawn its request or timed out, the reason is in an event. However,
     * the kernel does not send this event if the request was withdrawn before it was accepted.
     */
    private VerbsException explained(VerbsException e) throws InterruptedIOException {
        if (e instanceof CmException
                || e.code() != Errno.EINVAL
                || !STEPS.contains(e.function())
                || !requested) {
            return e;
        }
        try {
            identifier
                    .events()
                    .awaitOutcome(Deadline.after(REASON_DELAY), e.function(), failure, failure);
        } catch (CmException reason) {
            reason.addSuppressed(e);
            return reason;
        } catch (FabricException | IllegalStateException _) {
            // No event with the reason has arrived.
        }
        return new CmException(failure, e);
    }

    private void abandon() {
        identifier.close();
        if (queuePair != null && isIwarp) {
            // The call blocks until the connection has ended.
            BlockingCalls.start(queuePair::close);
        } else if (queuePair != null) {
            queuePair.close();
        }
    }

    Connection<Q> connect(Deadline deadline) throws FabricException, InterruptedIOException {
        return runOrAbandon(() -> {
            setAcknowledgeTimeout();
            var created = prepare();
            var limits = domain.device().attributes();
            request(parameters(created, reads(limits), destinationReads(limits)));
            requested = true;
            var outcome = await(deadline, "rdma_connect", failure + ": the peer has not answered");
            return switch (outcome) {
                case ConnectionEvent.ConnectResponse response -> {
                    // This transition sets the negotiated access rights.
                    transition(created, QueuePairState.INIT);
                    transition(created, QueuePairState.READY_TO_RECEIVE);
                    transition(created, QueuePairState.READY_TO_SEND);
                    identifier.establish();
                    yield connection(created, response.parameters(), response.privateData());
                }
                case ConnectionEvent.Established established -> {
                    created.query(); // The driver has changed the state.
                    yield connection(created, established.parameters(), established.privateData());
                }
                default -> throw unexpected("rdma_connect", outcome);
            };
        });
    }

    Connection<Q> accept(ConnectionEvent.ConnectRequest request, Deadline deadline)
            throws FabricException, InterruptedIOException {
        requested = true;
        return runOrAbandon(() -> {
            options.rejectPathOptions(ownership);
            setAcknowledgeTimeout();
            var created = prepare();
            var limits = domain.device().attributes();
            var requestedLimits = request.parameters();
            var reads = Math.min(reads(limits), requestedLimits.maxReads());
            var destinationReads =
                    Math.min(destinationReads(limits), requestedLimits.maxDestinationReads());
            transition(created, QueuePairState.INIT);
            var change = identifier.queuePairChange(QueuePairState.READY_TO_RECEIVE);
            if (change.attributes().contains(QueuePairAttribute.MAX_DESTINATION_READS)) {
                change =
                        change.maxDestinationReads(destinationReads)
                                .receiverNotReadyTimer(options.receiverNotReadyTimer);
            }
            created.modify(change);
            change = identifier.queuePairChange(QueuePairState.READY_TO_SEND);
            if (change.attributes().contains(QueuePairAttribute.MAX_READS)) {
                change = change.maxReads(reads);
            }
            created.modify(change);
            identifier.accept(parameters(created, reads, destinationReads), options.privateData);
            var outcome = await(deadline, "rdma_accept", failure + ": the peer has not confirmed");
            if (!(outcome instanceof ConnectionEvent.Established)) {
                throw unexpected("rdma_accept", outcome);
            }
            if (isIwarp) {
                created.query(); // The driver has changed the state.
            }
            return connection(created, requestedLimits, request.privateData());
        });
    }

    /**
     * Sets the acknowledge timeout, except on iWARP, where TCP determines the timeout. Rejects the
     * option for queue pairs that receive no acknowledgements, as the kernel would.
     */
    private void setAcknowledgeTimeout() throws VerbsException {
        var timeout = options.acknowledgeTimeout;
        if (timeout.isEmpty() || isIwarp) {
            return;
        }
        var type = identifier.queuePairType();
        if (type != QueuePairType.RELIABLE_CONNECTION && type != QueuePairType.XRC_SEND) {
            throw new IllegalArgumentException(
                    "Cannot set an acknowledge timeout for %s: queue pairs of type %s receive no acknowledgements"
                            .formatted(ownership, type));
        }
        identifier.acknowledgeTimeout(timeout.get());
    }

    /**
     * Creates a queue pair, moves it to the state INIT, and runs the preparation of the program.
     */
    private Q prepare() throws IOException {
        var device = identifier.deviceName().orElse("no device");
        if (!device.equals(domain.device().name())) {
            throw new VerbsException(
                    "rdma_connect",
                    "%s uses device %s, but %s belongs to device %s. Use a protection domain of %2$s, or a local address of %4$s.%5$s"
                            .formatted(
                                    identifier,
                                    device,
                                    domain,
                                    domain.device().name(),
                                    identifier.channel().devices().sentence()));
        }
        var created = options.newQueuePair(identifier.devicePort().orElseThrow(), domain);
        queuePair = created;
        created.onClose(queuePairClosed);
        var type = identifier.queuePairType();
        if (created.type() != type) {
            throw new IllegalArgumentException(
                    "%s has type %s, but the connection requires a queue pair of type %s"
                            .formatted(created, created.type(), type));
        }
        transition(created, QueuePairState.INIT);
        options.preparation.prepare(created);
        return created;
    }

    /**
     * Wakes up the thread that waits for the peer. Called when the close of the queue pair begins.
     */
    private void queuePairClosed() {
        identifier
                .events()
                .close("%s: %s is closed".formatted(failure, domain.isOpen() ? queuePair : domain));
    }

    private void transition(Q created, QueuePairState state) throws VerbsException {
        var change = identifier.queuePairChange(state);
        if (change.attributes().contains(QueuePairAttribute.RECEIVER_NOT_READY_TIMER)) {
            change = change.receiverNotReadyTimer(options.receiverNotReadyTimer);
        }
        created.modify(change);
    }

    /**
     * Sends the connect request. On iWARP, a background thread calls {@code rdma_connect}, because
     * the function blocks there.
     */
    private void request(ConnectionParameters parameters) throws VerbsException {
        if (!isIwarp) {
            identifier.connect(parameters, options.privateData);
            return;
        }
        identifier.check(PrivateDataSizes.REQUEST, options.privateData);
        BlockingCalls.start(() -> {
            try {
                identifier.connect(parameters, options.privateData);
            } catch (VerbsException e) {
                identifier.events().fail(e);
            } catch (IllegalStateException _) {
                // Another thread has closed the rdma_cm_id. Closing has already woken up the thread
                // that waits for the handshake, so there is nothing to report.
            }
        });
    }

    private ConnectionParameters parameters(Q created, int reads, int destinationReads) {
        return new ConnectionParameters(
                created.number(),
                created.sharedReceives().isPresent(),
                destinationReads,
                reads,
                options.retries,
                options.receiverNotReadyRetries);
    }

    private int reads(DeviceAttributes limits) {
        return limited(options.maxReads, limits.maxReadsAsInitiator());
    }

    private int destinationReads(DeviceAttributes limits) {
        return limited(options.maxDestinationReads, limits.maxReadsAsDestination());
    }

    /**
     * Limits a number of reads to the limit of the device and of the protocol. Returns 0 for an
     * unreliable connection, which has no reads.
     */
    private int limited(int count, int limit) {
        return identifier.queuePairType() == QueuePairType.UNRELIABLE_CONNECTION
                ? 0
                : Math.clamp(Math.min(count, limit), 0, MAX_READS);
    }

    private ConnectionEvent await(Deadline deadline, String function, String timedOut)
            throws FabricException, InterruptedIOException {
        return identifier.events().awaitOutcome(deadline, function, failure, timedOut);
    }

    private VerbsException unexpected(String function, ConnectionEvent event) {
        return new VerbsException(function, "%s: unexpected event %s".formatted(failure, event));
    }

    private Connection<Q> connection(
            Q created, ConnectionParameters parameters, PrivateData privateData) {
        created.removeOnClose(queuePairClosed); // From now on, the connection handles the close.
        return ownership.handOver(
                () -> new Connection<>(identifier, created, parameters, privateData, isIwarp));
    }
}
