package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.LockedMemoryAdvice;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.ProviderDefects;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Creates a native queue pair and attaches its work queues to their completion queues. */
public final class QueuePairCreation {

    private final DomainHandle domain;
    private final QueuePairConfig config;
    private final QueuePairFunctions functions;

    private QueuePairCreation(DomainHandle domain, QueuePairConfig config) {
        this.domain = domain;
        this.config = config;
        this.functions = domain.device().library().queuePairs();
    }

    /**
     * One direction of a new queue pair: its sends or its receives.
     *
     * @param completions the completion queue of the requests
     * @param sharedReservations the reservations of the shared receive queue that is used instead
     *     of {@code queue}; null if {@code queue} is used
     */
    private record Direction<W extends WorkQueueSlots>(
            NativeCompletionQueue<W> completions,
            W queue,
            @Nullable SharedReceiveCompletionReservations<W> sharedReservations) {

        private void attach(boolean mayOverrun) throws VerbsException {
            var reservations = completions.reservations();
            if (sharedReservations == null
                    ? !reservations.attach(queue, mayOverrun)
                    : !sharedReservations.attach(reservations, mayOverrun)) {
                throw new VerbsException(
                        "ibv_create_qp",
                        String.format(
                                Locale.ROOT,
                                "A queue pair with %,d requests could overrun the %s, which has a remaining capacity of %,d. Increase its capacity, reduce the number of sends and receives, or call completionQueueMayOverrun().",
                                sharedReservations == null
                                        ? queue.capacity()
                                        : sharedReservations.capacity(),
                                completions.lifetime(),
                                reservations.remainingCapacity()));
            }
        }

        private void detach() {
            if (sharedReservations == null) {
                completions.reservations().detach(queue);
            } else {
                sharedReservations.detach(completions.reservations());
            }
        }
    }

    /**
     * Creates a queue pair. Its native send queue has one slot more than configured, for the marker
     * of {@code drain}.
     *
     * @param receives the receive queue; ignored for a queue pair that cannot receive
     * @param shared the shared receive queue; null to use {@code receives}
     * @param onDestroyed the action to run after the native queue pair is destroyed
     */
    public static <W extends WorkQueueSlots> NativeQueuePair create(
            DomainHandle domain,
            QueuePairConfig config,
            NativeCompletionQueue<W> sendCompletions,
            W sends,
            NativeCompletionQueue<W> receiveCompletions,
            W receives,
            @Nullable NativeSharedReceiveQueue<W> shared,
            Runnable onDestroyed)
            throws VerbsException {
        var directions = new ArrayList<Direction<W>>();
        directions.add(new Direction<>(sendCompletions, sends, null));
        if (config.type() != QueuePairType.XRC_SEND) {
            directions.add(
                    new Direction<>(
                            receiveCompletions,
                            receives,
                            shared == null ? null : shared.sharedReservations()));
        }
        return new QueuePairCreation(domain, config).create(directions, shared, onDestroyed);
    }

    private <W extends WorkQueueSlots> NativeQueuePair create(
            List<Direction<W>> directions,
            @Nullable NativeSharedReceiveQueue<W> shared,
            Runnable onDestroyed)
            throws VerbsException {
        var device = domain.device();
        var sends = directions.getFirst();
        var receives = directions.size() > 1 ? directions.get(1) : null;
        var owners = new ArrayList<Lifetime>();
        owners.add(domain.lifetime());
        for (var direction : directions) {
            if (!direction.completions.isOf(device)) {
                throw new IllegalArgumentException(
                        "%s and the completion queues must belong to the same device"
                                .formatted(domain));
            }
            owners.add(direction.completions.lifetime());
        }
        if (shared != null) {
            checkShared(shared, receives != null);
            owners.add(shared.lifetime());
        }
        Lifetime.holdAll(owners);
        var undo = new ArrayList<Runnable>();
        try {
            for (var direction : directions) {
                direction.attach(config.mayOverrun());
                undo.add(direction::detach);
            }
            var local = SourceAddress.at(device, config.port(), config.gidIndex());
            if (config.type() == QueuePairType.RAW_PACKET
                    && local.port().linkLayer() != LinkLayer.ETHERNET) {
                throw new VerbsException(
                        "ibv_create_qp",
                        "Raw packet queue pairs require an Ethernet port, but port %d of %s is %s."
                                .formatted(config.port(), device.name(), local.port().linkLayer()));
            }
            var specification =
                    specification(
                            sends.completions.address(),
                            receives == null ? MemorySegment.NULL : receives.completions.address(),
                            shared == null ? MemorySegment.NULL : shared.address());
            // The device is checked before the queue pair is created, because the query fails if
            // the device is closing.
            var faulty =
                    config.extendedPosts() && ProviderDefects.inExtendedPosts(device.attributes());
            var created = BlockingCalls.call(() -> create(specification, faulty));
            var address = created.queuePair;
            var number = QueuePairFunctions.number(address);
            var sharedReservations = receives == null ? null : receives.sharedReservations;
            if (sharedReservations != null) {
                sharedReservations.addQueuePair(number, config.type());
                undo.add(() -> sharedReservations.removeQueuePair(number));
            }
            var name = NativeQueuePair.name(number, device);
            var groups = new MulticastGroups(device.library().datagrams(), address, name);
            var destruction = destruction(functions, address, name, groups, undo, onDestroyed);
            var forget = device.events().deregistration(address.address());
            var lifetime =
                    new Lifetime(
                            name,
                            owners.stream().distinct().toList(),
                            () -> {
                                forget.run();
                                destruction.destroy();
                            });
            return new NativeQueuePair(
                    device,
                    domain,
                    config,
                    new NativeResource(address, lifetime),
                    local,
                    groups,
                    created.hotPath,
                    created.inlineBytes,
                    directions.stream().map(Direction::queue).toList(),
                    shared != null);
        } catch (VerbsException | RuntimeException | Error e) {
            undo.forEach(Runnable::run);
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    /**
     * Returns the destructor of a queue pair. The method is static, because the lifetime refers to
     * the destructor and must not keep this object and its handles reachable.
     *
     * @param undo the actions that detach the work queues from the completion queues
     */
    private static Lifetime.Destructor destruction(
            QueuePairFunctions functions,
            MemorySegment address,
            String name,
            MulticastGroups groups,
            List<Runnable> undo,
            Runnable onDestroyed) {
        return () -> {
            // A queue pair that is attached to a multicast group cannot be destroyed.
            groups.detachAll();
            try {
                functions.destroy(address, CheckedCall.to("ibv_destroy_qp", () -> "for " + name));
            } finally {
                undo.forEach(Runnable::run);
                onDestroyed.run();
            }
        };
    }

    private void checkShared(NativeSharedReceiveQueue<?> shared, boolean receives) {
        if (!receives) {
            throw new IllegalArgumentException(
                    "%s cannot be used by a %s queue pair, which cannot receive"
                            .formatted(shared.lifetime(), config.type().description()));
        }
        if (shared.number().isPresent()) {
            throw new IllegalArgumentException(
                    "%s cannot be assigned to a queue pair, because senders select it by its number"
                            .formatted(shared.lifetime()));
        }
        if (!shared.domain().isSameAs(domain)) {
            throw new IllegalArgumentException(
                    "%s belongs to %s and cannot be used by queue pairs of %s"
                            .formatted(shared.lifetime(), shared.domain(), domain));
        }
    }

    private QueuePairFunctions.Specification specification(
            MemorySegment sendCompletions,
            MemorySegment receiveCompletions,
            MemorySegment sharedReceives) {
        return new QueuePairFunctions.Specification(
                config.type(),
                domain.address(),
                sendCompletions,
                receiveCompletions,
                sharedReceives,
                new QueuePairFunctions.Capacities(
                        config.sends() + 1,
                        config.receives(),
                        config.sendElements(),
                        config.receiveElements(),
                        config.inlineBytes()),
                config.newerOperations());
    }

    /** A new native queue pair and the functions that post to it. */
    private record Created(
            MemorySegment queuePair, int inlineBytes, PostAndPollFunctions hotPath) {}

    private Created create(QueuePairFunctions.Specification specification, boolean faulty)
            throws VerbsException {
        var device = domain.device();
        var subject =
                (Supplier<String>)
                        () ->
                                "for %s with %s on %s"
                                        .formatted(
                                                config.type().description(),
                                                specification.capacities(),
                                                device.name());
        if (!config.extendedPosts()) {
            var created =
                    functions.create(
                            device.context(),
                            specification,
                            new CheckedCall("ibv_create_qp", subject, this::advice));
            return new Created(
                    created.queuePair(), created.granted().inlineBytes(), device.hotPath());
        }
        var attempt =
                new CheckedCall(
                        "ibv_create_qp_ex",
                        subject,
                        errno ->
                                errno == Errno.EOPNOTSUPP
                                        ? "The device does not support extended posts for this queue pair type%s."
                                                .formatted(orUnsupported(config.newerOperations()))
                                        : advice(errno));
        var created = functions.createExtended(device.context(), specification, attempt);
        try {
            var hotPath =
                    device.hotPath()
                            .extended(
                                    functions.extended(created.queuePair(), attempt),
                                    config.type(),
                                    config.sendElements(),
                                    config.newerOperations(),
                                    faulty);
            return new Created(created.queuePair(), created.granted().inlineBytes(), hotPath);
        } catch (VerbsException | RuntimeException | Error e) {
            try {
                functions.destroy(created.queuePair(), CheckedCall.to("ibv_destroy_qp", subject));
            } catch (VerbsException destroyFailure) {
                e.addSuppressed(destroyFailure);
            }
            throw e;
        }
    }

    private static String orUnsupported(Set<Operation> operations) {
        return operations.isEmpty() ? "" : ", or it does not support all of " + operations;
    }

    private String advice(int errno) {
        if (config.type() != QueuePairType.RAW_PACKET) {
            return LockedMemoryAdvice.advice(errno);
        }
        return switch (errno) {
            case Errno.EPERM -> "Raw packet queue pairs require the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP -> "The device does not support raw packet queue pairs.";
            default -> LockedMemoryAdvice.advice(errno);
        };
    }
}
