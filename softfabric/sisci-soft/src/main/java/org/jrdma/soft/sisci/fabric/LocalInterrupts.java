package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jspecify.annotations.Nullable;

/** The interrupts of a process and their connections. Safe for use by multiple threads. */
public final class LocalInterrupts {

    private static final int FLAGS =
            SCI_FLAG_USE_CALLBACK()
                    | SCI_FLAG_FIXED_INTNO()
                    | SCI_FLAG_SHARED_INT()
                    | SCI_FLAG_COUNTING_INT();

    private final ProcessContext context;
    private final PeerLookupAndRequests fabric;
    private final Map<TypedInterruptNumber, Shared> byNumber = new HashMap<>();
    private final Map<Caller, Called> callers = new ConcurrentHashMap<>();

    /**
     * A process that is connected to an interrupt, with the number that it has chosen for the
     * connection.
     */
    private record Caller(Connection connection, int number) {}

    /** The interrupts of this process that have the same number. */
    private record Shared(
            ObjectAnnouncementFile entry,
            int adapter,
            boolean isShared,
            List<LocalInterrupt> interrupts) {}

    /**
     * The interrupts to which a process is connected.
     *
     * @param shared the interrupts
     * @param socket the key of the socket by which the process triggers the only interrupt; {@link
     *     #NO_SOCKET} if it sends messages
     */
    private record Called(Shared shared, long socket) {}

    private static final long NO_SOCKET = -1;

    LocalInterrupts(ProcessContext context) {
        this.context = context;
        this.fabric = context.fabric();
    }

    /** Creates an interrupt. In C: {@code SCICreateInterrupt}, {@code SCICreateDataInterrupt}. */
    public LocalInterrupt create(
            SciDescriptor descriptor,
            boolean carriesData,
            int adapter,
            int requestedNumber,
            EventQueue.@Nullable Callback<LocalInterrupt.Trigger> callback,
            int flags) {
        throwIf(
                FlagChecks.has(flags, SCI_FLAG_CONDITIONAL_INTERRUPT()),
                SCI_ERR_FLAG_NOT_IMPLEMENTED());
        FlagChecks.checkAllowed(flags, FLAGS);
        context.topology().checkAdapter(adapter);
        return descriptor.add(() ->
                fabric.directory()
                        .locked(() -> {
                            var fixed = FlagChecks.has(flags, SCI_FLAG_FIXED_INTNO());
                            var shared = FlagChecks.has(flags, SCI_FLAG_SHARED_INT());
                            var number =
                                    new TypedInterruptNumber(
                                            carriesData,
                                            fixed ? requestedNumber : freeNumber(carriesData));
                            var interrupt =
                                    new LocalInterrupt(
                                            this,
                                            descriptor,
                                            number,
                                            FlagChecks.has(flags, SCI_FLAG_COUNTING_INT()),
                                            EventQueue.unbounded(context.callbacks(), callback),
                                            isAwaited(carriesData, flags)
                                                    ? new InterruptTriggerWaiter()
                                                    : null);
                            try {
                                add(interrupt, adapter, shared);
                                return interrupt;
                            } catch (Throwable e) {
                                interrupt.endWaits();
                                throw e;
                            }
                        }));
    }

    /**
     * Returns true if only threads that wait for an interrupt receive its triggers, and need not
     * receive each trigger.
     */
    private static boolean isAwaited(boolean carriesData, int flags) {
        return !carriesData
                && !FlagChecks.has(flags, SCI_FLAG_USE_CALLBACK())
                && !FlagChecks.has(flags, SCI_FLAG_COUNTING_INT());
    }

    private int freeNumber(boolean carriesData) {
        var kind = new TypedInterruptNumber(carriesData, 0).kind();
        var used =
                fabric.entries().stream()
                        .filter(entry -> entry.node() == fabric.node() && entry.kind() == kind)
                        .map(ObjectAnnouncementFile::number)
                        .collect(Collectors.toSet());
        var free = 0;
        while (used.contains(free)) {
            free++;
        }
        return free;
    }

    private synchronized void add(LocalInterrupt interrupt, int adapter, boolean isShared)
            throws FabricException {
        var number = interrupt.identity();
        var existing = byNumber.get(number);
        if (existing != null) {
            throwIf(
                    !isShared || !existing.isShared() || existing.adapter() != adapter,
                    // SCI_ERR_NOSPC is also the error code for an interrupt number that is in use.
                    SCI_ERR_SEGMENTID_USED());
            existing.interrupts().add(interrupt);
            return;
        }
        if (fabric.find(fabric.node(), number.kind(), number.number()).isPresent()) {
            fabric.directory().sweep(); // The process that owns the file may have been killed.
            throwIf(
                    fabric.find(fabric.node(), number.kind(), number.number()).isPresent(),
                    SCI_ERR_SEGMENTID_USED());
        }
        var entry =
                new ObjectAnnouncementFile(
                        fabric.node(), number.kind(), number.number(), fabric.number());
        fabric.directory().mark(entry);
        byNumber.put(
                number,
                new Shared(
                        entry, adapter, isShared, new CopyOnWriteArrayList<>(List.of(interrupt))));
    }

    synchronized void remove(LocalInterrupt interrupt) {
        var shared = byNumber.get(interrupt.identity());
        if (shared == null) {
            return;
        }
        shared.interrupts().remove(interrupt);
        if (!shared.interrupts().isEmpty()) {
            return;
        }
        byNumber.remove(interrupt.identity());
        callers.forEach((caller, called) -> {
            if (called.shared() == shared) {
                callers.remove(caller);
                caller.connection().send(Message.about(Kind.INTERRUPT_GONE, caller.number()));
            }
        });
        fabric.delete(shared.entry());
    }

    void received(Connection from, Message message) {
        switch (message.kind()) {
            case CONNECT_INTERRUPT ->
                    PeerLookupAndRequests.handle(from, message, () -> connect(from, message));
            case DISCONNECT_INTERRUPT ->
                    closeSocket(callers.remove(new Caller(from, message.subject())));
            case TRIGGER, TRIGGER_WITH_DATA -> trigger(from, message);
            default -> throw new AssertionError(message);
        }
    }

    /**
     * Connects a process to an interrupt, and responds. The response carries a socket if the
     * process can trigger the interrupt without messages.
     */
    private synchronized void connect(Connection from, Message message) {
        var shared =
                byNumber.get(new TypedInterruptNumber(message.value() != 0, message.subject()));
        throwIf(shared == null || shared.adapter() != message.first(), SCI_ERR_NO_SUCH_INTNO());
        var caller = new Caller(from, message.second());
        closeSocket(callers.put(caller, new Called(shared, NO_SOCKET)));
        var socket =
                shared.isShared()
                        ? Optional.<InterruptTriggerWaiter.PeerSocket>empty()
                        : shared.interrupts().getFirst().openSocket(from);
        if (socket.isPresent()) {
            callers.put(caller, new Called(shared, socket.get().key()));
            from.respondWithDescriptor(message, 0, socket.get().sender());
        } else {
            from.respond(message, SCI_ERR_OK(), 0);
        }
    }

    private static void closeSocket(@Nullable Called called) {
        if (called != null && called.socket() != NO_SOCKET) {
            called.shared()
                    .interrupts()
                    .forEach(interrupt -> interrupt.closeSocket(called.socket()));
        }
    }

    void lost(Connection connection) {
        callers.keySet()
                .removeIf(caller -> {
                    var matches = caller.connection() == connection;
                    if (matches) {
                        closeSocket(callers.get(caller));
                    }
                    return matches;
                });
    }

    /** Ends all waits, because this process leaves the fabric. */
    synchronized void abandon() {
        for (var shared : byNumber.values()) {
            shared.interrupts().forEach(LocalInterrupt::endWaits);
        }
    }

    private void trigger(Connection from, Message message) {
        var called = callers.get(new Caller(from, message.subject()));
        if (called == null) {
            return; // The interrupt was removed in the meantime.
        }
        var shared = called.shared();
        if (message.kind() == Kind.TRIGGER) {
            shared.interrupts().forEach(interrupt -> interrupt.trigger(message.first()));
            return;
        }
        Runnable taken = () -> from.send(Message.about(Kind.TAKEN, message.subject()));
        for (var interrupt : shared.interrupts()) {
            interrupt.trigger(new LocalInterrupt.Trigger(message.data(), taken));
            taken = () -> {}; // Only the first of the interrupts acknowledges the message.
        }
    }
}
