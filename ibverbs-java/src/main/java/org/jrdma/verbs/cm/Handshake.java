package org.jrdma.verbs.cm;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.handle.PrivateDataField;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The steps from a route or a request to a connection. If a step fails, nothing is left open. */
final class Handshake<Q extends QueuePair> {

    private static final int MOST_READS = 254; // 255 stands for the maximum of the device

    /** The functions that fail if the peer has given up. */
    private static final Set<String> STEPS =
            Set.of("rdma_init_qp_attr", "rdma_accept", "rdma_establish");

    /** The time that the event with the reason may arrive after the failure of a function. */
    private static final Duration REASON_DELAY = Duration.ofMillis(100);

    private final IdentifierOwnership ownership;
    private final Identifier identifier;
    private final ProtectionDomain domain;
    private final ConnectionOptions<Q> options;
    private final boolean isWarp;
    private final String attempt;
    private final Runnable queuePairClosed = this::queuePairClosed;
    private @Nullable Q queuePair;

    /** Whether the request was sent or received. */
    private boolean requested;

    Handshake(
            IdentifierOwnership ownership, ProtectionDomain domain, ConnectionOptions<Q> options) {
        this.ownership = ownership;
        this.identifier = ownership.identifier();
        this.domain = domain;
        this.options = options;
        this.isWarp = identifier.isWarp();
        this.attempt =
                "No connection from %s to %s through %s"
                        .formatted(
                                identifier.localAddress().orElse(null),
                                identifier.peerAddress().orElse(null),
                                domain.device().name());
    }

    private interface Steps<Q extends QueuePair> {
        Connection<Q> take() throws IOException;
    }

    private Connection<Q> takeOrAbandon(Steps<Q> steps)
            throws FabricException, InterruptedIOException {
        var done = false;
        try {
            var connection = steps.take();
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
                    "%s: it was not prepared: %s".formatted(attempt, e.getMessage()), 0, e);
        } finally {
            if (!done) {
                abandon();
            }
        }
    }

    /**
     * Adds the reason to the failure of a function that was called after the peer had given up. The
     * reason is in an event; the kernel sends none for a request that was withdrawn before it was
     * accepted.
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
                    .awaitAnswer(Deadline.after(REASON_DELAY), e.function(), attempt, attempt);
        } catch (CmException reason) {
            reason.addSuppressed(e);
            return reason;
        } catch (FabricException | IllegalStateException _) {
            // there is no event
        }
        return new CmException(attempt, e);
    }

    /** On iWARP, closing a queue pair blocks until the connection has ended. */
    private void abandon() {
        identifier.close();
        if (queuePair != null && isWarp) {
            PlatformCalls.start(queuePair::close);
        } else if (queuePair != null) {
            queuePair.close();
        }
    }

    Connection<Q> connect(Deadline deadline) throws FabricException, InterruptedIOException {
        return takeOrAbandon(() -> {
            setAcknowledgeTimeout();
            var made = prepare();
            var limits = domain.device().attributes();
            request(parameters(made, reads(limits), destinationReads(limits)));
            requested = true;
            var answer = await(deadline, "rdma_connect", attempt + ": the peer has not answered");
            return switch (answer) {
                case ConnectionEvent.ConnectResponse response -> {
                    bring(made, QueuePairState.INIT); // with the access rights that were negotiated
                    bring(made, QueuePairState.READY_TO_RECEIVE);
                    bring(made, QueuePairState.READY_TO_SEND);
                    identifier.establish();
                    yield connection(made, response.parameters(), response.privateData());
                }
                case ConnectionEvent.Established established -> {
                    made.query(); // the driver has changed its state
                    yield connection(made, established.parameters(), established.privateData());
                }
                default -> throw unexpected("rdma_connect", answer);
            };
        });
    }

    Connection<Q> accept(ConnectionEvent.ConnectRequest request, Deadline deadline)
            throws FabricException, InterruptedIOException {
        requested = true;
        return takeOrAbandon(() -> {
            options.refusePath(ownership);
            setAcknowledgeTimeout();
            var made = prepare();
            var limits = domain.device().attributes();
            var wanted = request.parameters();
            var reads = Math.min(reads(limits), wanted.maxReads());
            var answered = Math.min(destinationReads(limits), wanted.maxDestinationReads());
            bring(made, QueuePairState.INIT);
            var change = identifier.queuePairChange(QueuePairState.READY_TO_RECEIVE);
            if (change.attributes().contains(QueuePairAttribute.MAX_DESTINATION_READS)) {
                change.maxDestinationReads(answered)
                        .receiverNotReadyTimer(options.receiverNotReadyTimerCode());
            }
            made.modify(change);
            change = identifier.queuePairChange(QueuePairState.READY_TO_SEND);
            if (change.attributes().contains(QueuePairAttribute.MAX_READS)) {
                change.maxReads(reads);
            }
            made.modify(change);
            identifier.accept(parameters(made, reads, answered), options.privateData());
            var answer = await(deadline, "rdma_accept", attempt + ": the peer has not confirmed");
            if (!(answer instanceof ConnectionEvent.Established)) {
                throw unexpected("rdma_accept", answer);
            }
            if (isWarp) {
                made.query();
            }
            return connection(made, wanted, request.privateData());
        });
    }

    /**
     * Sets the timeout except on iWARP, where TCP determines it. The kernel rejects it for queue
     * pairs that get no acknowledgements.
     */
    private void setAcknowledgeTimeout() throws VerbsException {
        var timeout = options.acknowledgeTimeout();
        if (timeout.isEmpty() || isWarp) {
            return;
        }
        var type = identifier.queuePairType();
        if (type != QueuePairType.RELIABLE_CONNECTION && type != QueuePairType.XRC_SEND) {
            throw new IllegalArgumentException(
                    "%s takes no acknowledge timeout: its queue pair is of the type %s, which waits for no acknowledgement"
                            .formatted(ownership, type));
        }
        identifier.acknowledgeTimeout(timeout.get());
    }

    /** Creates a queue pair that accepts receives, and runs the program's preparation. */
    private Q prepare() throws IOException {
        var device = identifier.deviceName().orElse("no device");
        if (!device.equals(domain.device().name())) {
            throw new VerbsException(
                    "rdma_connect",
                    "%s leads through %s, and %s is of %s: open the other device, or connect from a local address of this one.%s"
                            .formatted(
                                    identifier,
                                    device,
                                    domain,
                                    domain.device().name(),
                                    identifier.channel().devices().sentence()));
        }
        var made = options.newQueuePair(identifier.devicePort().orElseThrow(), domain);
        queuePair = made;
        made.onClose(queuePairClosed);
        var wanted = identifier.queuePairType();
        if (made.type() != wanted) {
            throw new IllegalArgumentException(
                    "%s is of the type %s, and cannot be connected so: it takes one of the type %s"
                            .formatted(made, made.type(), wanted));
        }
        bring(made, QueuePairState.INIT);
        options.preparation().prepare(made);
        return made;
    }

    /** Wakes up the thread that waits for the peer. */
    private void queuePairClosed() {
        identifier
                .events()
                .close("%s: %s is closed".formatted(attempt, domain.isOpen() ? queuePair : domain));
    }

    private void bring(Q made, QueuePairState state) throws VerbsException {
        var change = identifier.queuePairChange(state);
        if (change.attributes().contains(QueuePairAttribute.RECEIVER_NOT_READY_TIMER)) {
            change.receiverNotReadyTimer(options.receiverNotReadyTimerCode());
        }
        made.modify(change);
    }

    /** Sends the request; on iWARP on a thread of its own, because the call blocks for TCP. */
    private void request(ConnectionParameters parameters) throws VerbsException {
        if (!isWarp) {
            identifier.connect(parameters, options.privateData());
            return;
        }
        identifier.check(PrivateDataField.REQUEST, options.privateData());
        PlatformCalls.start(() -> {
            try {
                identifier.connect(parameters, options.privateData());
            } catch (VerbsException e) {
                identifier.events().fail(e);
            } catch (IllegalStateException _) {
                // closed: the close has woken up the waiting thread
            }
        });
    }

    private ConnectionParameters parameters(Q made, int reads, int destinationReads) {
        return new ConnectionParameters(
                made.number(),
                made.sharedReceives().isPresent(),
                destinationReads,
                reads,
                options.retries(),
                options.receiverNotReadyRetries());
    }

    private int reads(DeviceAttributes limits) {
        return most(options.maxReads(), limits.maxReadsAsInitiator());
    }

    private int destinationReads(DeviceAttributes limits) {
        return most(options.maxDestinationReads(), limits.maxReadsAsDestination());
    }

    /** Limits a number of reads; an unreliable connection has none. */
    private int most(int wanted, int limit) {
        return identifier.queuePairType() == QueuePairType.UNRELIABLE_CONNECTION
                ? 0
                : Math.clamp(Math.min(wanted, limit), 0, MOST_READS);
    }

    private ConnectionEvent await(Deadline deadline, String function, String missed)
            throws FabricException, InterruptedIOException {
        return identifier.events().awaitAnswer(deadline, function, attempt, missed);
    }

    private VerbsException unexpected(String function, ConnectionEvent event) {
        return new VerbsException(function, "%s: %s".formatted(attempt, event));
    }

    private Connection<Q> connection(Q made, ConnectionParameters parameters, PrivateData data) {
        made.noLongerOnClose(queuePairClosed); // the connection handles the close instead
        return ownership.handOver(
                () -> new Connection<>(identifier, made, parameters, data, isWarp));
    }
}
