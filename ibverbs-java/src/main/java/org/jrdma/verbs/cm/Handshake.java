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
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** From a route or a request to a connection. Whatever fails, nothing is left open. */
final class Handshake<Q extends QueuePair> {

    private static final int MOST_READS = 254; // 255 means something else

    /** The steps that need the peer not to have given up. */
    private static final Set<String> STEPS =
            Set.of("rdma_init_qp_attr", "rdma_accept", "rdma_establish");

    /** How long the reason may come behind the step that fails for it. */
    private static final Duration BEHIND = Duration.ofMillis(100);

    private final Custody custody;
    private final Identifier identifier;
    private final ProtectionDomain domain;
    private final ConnectionOptions<Q> options;
    private final boolean isWarp;
    private final String attempt;
    private final Runnable queuePairClosed = this::queuePairClosed;
    private @Nullable Q queuePair;

    /** Whether one side has asked the other. */
    private boolean asked;

    Handshake(Custody custody, ProtectionDomain domain, ConnectionOptions<Q> options) {
        this.custody = custody;
        this.identifier = custody.identifier();
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
            throw custody.explained(e);
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
     * A step that is taken when the peer has given up is just refused; the reason is among the
     * events. The kernel has none for a request that was withdrawn before it was accepted.
     */
    private VerbsException explained(VerbsException e) throws InterruptedIOException {
        if (e instanceof CmException
                || e.code() != Errno.EINVAL
                || !STEPS.contains(e.function())
                || !asked) {
            return e;
        }
        try {
            identifier.awaitAnswer(Deadline.after(BEHIND), e.function(), attempt, attempt);
        } catch (CmException reason) {
            reason.addSuppressed(e);
            return reason;
        } catch (FabricException | IllegalStateException _) {
            // there is none
        }
        return new CmException(attempt, e);
    }

    /** On iWARP a queue pair's end waits for that of its connection. Nobody else need wait. */
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
            asked = true;
            var answer = await(deadline, "rdma_connect", attempt + ": the peer has not answered");
            return switch (answer) {
                case ConnectionEvent.ConnectResponse response -> {
                    bring(made, QueuePairState.INIT); // with the rights that have been agreed upon
                    bring(made, QueuePairState.READY_TO_RECEIVE);
                    bring(made, QueuePairState.READY_TO_SEND);
                    identifier.establish();
                    yield connection(made, response.parameters(), response.privateData());
                }
                case ConnectionEvent.Established established -> {
                    made.query(); // its driver has brought it to where it is
                    yield connection(made, established.parameters(), established.privateData());
                }
                default -> throw unexpected("rdma_connect", answer);
            };
        });
    }

    Connection<Q> accept(ConnectionEvent.ConnectRequest request, Deadline deadline)
            throws FabricException, InterruptedIOException {
        asked = true;
        return takeOrAbandon(() -> {
            options.refuseWayToPeer(custody);
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
                        .receiverNotReadyTimer(options.receiverNotReadyTimer());
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
     * iWARP has TCP's instead. The kernel refuses it where nothing is acknowledged to this side.
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
                            .formatted(custody, type));
        }
        identifier.acknowledgeTimeout(timeout.getAsInt());
    }

    /** A queue pair that takes receives, and has those that the program posts. */
    private Q prepare() throws IOException {
        var device = identifier.deviceName().orElse("no device");
        if (!device.equals(domain.device().name())) {
            throw new VerbsException(
                    "rdma_connect",
                    "%s leads through %s, and %s is of %s: open the other"
                            .formatted(identifier, device, domain, domain.device().name()));
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

    /** Whoever waits for the peer waits in vain. */
    private void queuePairClosed() {
        identifier
                .inbox()
                .close("%s: %s is closed".formatted(attempt, domain.isOpen() ? queuePair : domain));
    }

    private void bring(Q made, QueuePairState state) throws VerbsException {
        var change = identifier.queuePairChange(state);
        if (change.attributes().contains(QueuePairAttribute.RECEIVER_NOT_READY_TIMER)) {
            change.receiverNotReadyTimer(options.receiverNotReadyTimer());
        }
        made.modify(change);
    }

    /** On iWARP on a thread of its own, since the call waits for TCP. */
    private void request(ConnectionParameters parameters) throws VerbsException {
        if (!isWarp) {
            identifier.connect(parameters, options.privateData());
            return;
        }
        identifier.checkRequestData(options.privateData());
        PlatformCalls.start(() -> {
            try {
                identifier.connect(parameters, options.privateData());
            } catch (VerbsException e) {
                identifier.inbox().fail(e);
            } catch (IllegalStateException _) {
                // closed: whoever waits is told
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

    /** An unreliable connection has no reads. */
    private int most(int wanted, int limit) {
        return identifier.queuePairType() == QueuePairType.UNRELIABLE_CONNECTION
                ? 0
                : Math.clamp(Math.min(wanted, limit), 0, MOST_READS);
    }

    private ConnectionEvent await(Deadline deadline, String function, String missed)
            throws FabricException, InterruptedIOException {
        return identifier.awaitAnswer(deadline, function, attempt, missed);
    }

    private VerbsException unexpected(String function, ConnectionEvent event) {
        return new VerbsException(function, "%s: %s".formatted(attempt, event));
    }

    private Connection<Q> connection(Q made, ConnectionParameters parameters, PrivateData data) {
        made.noLongerOnClose(queuePairClosed); // the connection is told instead
        return custody.handOver(() -> new Connection<>(identifier, made, parameters, data, isWarp));
    }
}
