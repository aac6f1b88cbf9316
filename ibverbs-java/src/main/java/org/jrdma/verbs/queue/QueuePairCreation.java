package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.ProviderFaults;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Makes native queue pairs, and attaches their work queues to completion queues. */
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
     * One direction of a queue pair.
     *
     * @param completions where the requests complete
     * @param sharing of the shared receive queue that receives are taken from; null for {@code
     *     queue}
     */
    private record Direction<W extends WorkQueue>(
            NativeCompletionQueue<W> completions, W queue, @Nullable Sharing<W> sharing) {

        private void attach(boolean mayOverrun) throws VerbsException {
            var attachments = completions.attachments();
            if (sharing == null
                    ? !attachments.attach(queue, mayOverrun)
                    : !sharing.attach(attachments, mayOverrun)) {
                throw new VerbsException(
                        "ibv_create_qp",
                        String.format(
                                Locale.ROOT,
                                "A queue pair with %,d requests could overrun the %s, which has room for %,d more. Make it larger, ask for fewer sends and receives, or say completionQueueMayOverrun().",
                                sharing == null ? queue.capacity() : sharing.capacity(),
                                completions.lifetime(),
                                attachments.room()));
            }
        }

        private void detach() {
            if (sharing == null) {
                completions.attachments().detach(queue);
            } else {
                sharing.detach(completions.attachments());
            }
        }
    }

    /**
     * Makes a queue pair. It gets one slot more than asked, for the marker of {@code drain}.
     *
     * @param receives without meaning for a queue pair that receives nothing
     * @param shared the shared receive queue that it receives from; null for its own
     * @param afterwards is run when the native queue pair is destroyed
     */
    public static <W extends WorkQueue> NativeQueuePair create(
            DomainHandle domain,
            QueuePairConfig config,
            NativeCompletionQueue<W> ofSends,
            W sends,
            NativeCompletionQueue<W> ofReceives,
            W receives,
            @Nullable NativeSharedReceiveQueue<W> shared,
            Runnable afterwards)
            throws VerbsException {
        var directions = new ArrayList<Direction<W>>();
        directions.add(new Direction<>(ofSends, sends, null));
        if (config.type() != QueuePairType.XRC_SEND) {
            directions.add(
                    new Direction<>(
                            ofReceives, receives, shared == null ? null : shared.sharing()));
        }
        return new QueuePairCreation(domain, config).create(directions, shared, afterwards);
    }

    private <W extends WorkQueue> NativeQueuePair create(
            List<Direction<W>> directions,
            @Nullable NativeSharedReceiveQueue<W> shared,
            Runnable afterwards)
            throws VerbsException {
        var device = domain.device();
        var sends = directions.getFirst();
        var receives = directions.size() > 1 ? directions.get(1) : null;
        var owners = new ArrayList<Lifetime>();
        owners.add(domain.lifetime());
        for (var direction : directions) {
            if (!direction.completions.isOf(device)) {
                throw new IllegalArgumentException(
                        "%s and its completion queues are not of one device".formatted(domain));
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
            var local = LocalAddress.at(device, config.port(), config.gidIndex());
            if (config.type() == QueuePairType.RAW_PACKET
                    && local.port().linkLayer() != LinkLayer.ETHERNET) {
                throw new VerbsException(
                        "ibv_create_qp",
                        "Raw packets are those of an Ethernet port; port %d of %s is %s."
                                .formatted(config.port(), device.name(), local.port().linkLayer()));
            }
            var wanted =
                    wanted(
                            sends.completions.address(),
                            receives == null ? MemorySegment.NULL : receives.completions.address(),
                            shared == null ? MemorySegment.NULL : shared.address());
            // Asked before there is something to destroy: the device's close may begin.
            var faulty =
                    config.postedExtended() && ProviderFaults.inExtendedPosts(device.attributes());
            var created = PlatformCalls.call(() -> create(wanted, faulty));
            var address = created.queuePair;
            var number = QueuePairFunctions.number(address);
            var sharing = receives == null ? null : receives.sharing;
            if (sharing != null) {
                sharing.joined(number, config.type());
                undo.add(() -> sharing.left(number));
            }
            var name = NativeQueuePair.name(number, device);
            var groups = new MulticastGroups(device.library().datagrams(), address, name);
            var destruction = destruction(functions, address, name, groups, undo, afterwards);
            var forget = device.events().forgetting(address.address());
            var lifetime =
                    new Lifetime(
                            name,
                            owners.stream().distinct().toList(),
                            () -> {
                                forget.run();
                                destruction.destroy();
                            });
            return new NativeQueuePair(
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

    /** Refers to no handle, since a lifetime keeps it. */
    private static Lifetime.Destructor destruction(
            QueuePairFunctions functions,
            MemorySegment address,
            String name,
            MulticastGroups groups,
            List<Runnable> undo,
            Runnable afterwards) {
        return () -> {
            groups.detachAll(); // a queue pair in a group could not be destroyed
            try {
                functions.destroy(address, Attempt.to("ibv_destroy_qp", () -> "for " + name));
            } finally {
                undo.forEach(Runnable::run);
                afterwards.run();
            }
        };
    }

    private void checkShared(NativeSharedReceiveQueue<?> shared, boolean receives) {
        if (!receives) {
            throw new IllegalArgumentException(
                    "%s is of no use to a %s, which receives nothing"
                            .formatted(shared.lifetime(), config.type().description()));
        }
        if (shared.number().isPresent()) {
            throw new IllegalArgumentException(
                    "%s cannot be given to a queue pair: who sends to it names it"
                            .formatted(shared.lifetime()));
        }
        if (!shared.domain().isSameAs(domain)) {
            throw new IllegalArgumentException(
                    "%s is of %s, and cannot be used by queue pairs of %s"
                            .formatted(shared.lifetime(), shared.domain(), domain));
        }
    }

    private QueuePairFunctions.Wanted wanted(
            MemorySegment sendCompletions,
            MemorySegment receiveCompletions,
            MemorySegment sharedReceives) {
        return new QueuePairFunctions.Wanted(
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

    /** The queue pair that the library created, and the functions that post to it. */
    private record Created(MemorySegment queuePair, int inlineBytes, HotPath hotPath) {}

    private Created create(QueuePairFunctions.Wanted wanted, boolean faulty) throws VerbsException {
        var device = domain.device();
        var subject =
                (Supplier<String>)
                        () ->
                                "for %s with %s on %s"
                                        .formatted(
                                                config.type().description(),
                                                wanted.capacities(),
                                                device.name());
        if (!config.postedExtended()) {
            var created =
                    functions.create(
                            device.context(),
                            wanted,
                            new Attempt("ibv_create_qp", subject, this::advice));
            return new Created(
                    created.queuePair(), created.granted().inlineBytes(), device.hotPath());
        }
        var attempt =
                new Attempt(
                        "ibv_create_qp_ex",
                        subject,
                        errno ->
                                errno == Errno.EOPNOTSUPP
                                        ? "It has no extended posts for that type%s."
                                                .formatted(orNoneOf(config.newerOperations()))
                                        : advice(errno));
        var created = functions.createExtended(device.context(), wanted, attempt);
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
                functions.destroy(created.queuePair(), Attempt.to("ibv_destroy_qp", subject));
            } catch (VerbsException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private static String orNoneOf(Set<Operation> operations) {
        return operations.isEmpty() ? "" : ", or none of " + operations;
    }

    private String advice(int errno) {
        if (config.type() != QueuePairType.RAW_PACKET) {
            return LockedMemory.advice(errno);
        }
        return switch (errno) {
            case Errno.EPERM -> "Raw packets need the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP -> "The device has no queue pairs of raw packets.";
            default -> LockedMemory.advice(errno);
        };
    }
}
