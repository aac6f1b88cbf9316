package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A key that opens a part of a {@link MemoryRegion} to peers, with rights of its own, and is given
 * and taken by requests on a send queue: quickly, and in order with what is sent before and after.
 * The region needs {@link Access#MEMORY_WINDOW_BIND}, and {@link Access#LOCAL_WRITE} if peers may
 * change it, but no right for peers.
 *
 * <p>Owned by its {@link ProtectionDomain}. Closed, too, before each region that a bind of it was
 * prepared to or posted to, and before each queue pair that, by the type's rules, it can be bound
 * to: the system would not let go of them. Only one thread at a time may bind it or take it away.
 * After a bind that did not succeed it is good for nothing but to be closed. In C: {@code struct
 * ibv_mw}; {@link #close()} is {@code ibv_dealloc_mw}, and takes away what peers have of it.
 */
public abstract sealed class MemoryWindow extends NativeObject permits Type1Window, Type2Window {

    private final ProtectionDomain domain;
    private final MemorySegment address;
    private int key;
    private long start;

    /** 0 if it shows nothing. */
    private long length;

    MemoryWindow(ProtectionDomain domain, boolean ofSecondType) throws VerbsException {
        var device = domain.device();
        var made = device.inCall(() -> allocate(domain, ofSecondType));
        super(made.address, made.lifetime);
        this.domain = domain;
        this.address = made.address;
        this.key = MemoryFunctions.windowKey(made.address);
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static Made allocate(ProtectionDomain domain, boolean ofSecondType)
            throws VerbsException {
        var device = domain.device();
        var context = device.context();
        var memory = device.library().memory();
        domain.ownLifetime().hold();
        try {
            var window =
                    memory.allocateWindow(
                            context,
                            domain.address(),
                            ofSecondType,
                            Attempt.to("ibv_alloc_mw", () -> "on " + device.name()));
            var name =
                    "memory window %x of type %d of %s"
                            .formatted(window.address(), ofSecondType ? 2 : 1, device.name());
            return new Made(
                    window,
                    new Lifetime(
                            name,
                            List.of(domain.ownLifetime()),
                            () ->
                                    memory.deallocateWindow(
                                            context,
                                            window,
                                            Attempt.to("ibv_dealloc_mw", () -> "for " + name))));
        } finally {
            domain.ownLifetime().release();
        }
    }

    /** The domain it was made in. */
    public final ProtectionDomain domain() {
        return domain;
    }

    /**
     * The key by which peers name it, since the last bind that was posted. Each bind gives it
     * another. In C: {@code rkey}, {@code ibv_inc_rkey}.
     */
    public final int key() {
        return key;
    }

    /**
     * What a peer needs to know to reach what the last bind that was posted shows, when that bind
     * is completed. A message on the same queue pair may tell the peer at once.
     *
     * @throws IllegalStateException if it shows nothing
     */
    public final RemoteMemory remote() {
        checkBound();
        return new RemoteMemory(start, key, length);
    }

    /**
     * Gets ready for binds to a region that are posted to a queue pair, both of which are not
     * closed before this window from now on.
     */
    final void prepare(QueuePair queuePair, MemoryRegion region) {
        if (!domain.isSameAs(queuePair.protection()) || !domain.isSameAs(region.domain())) {
            throw new IllegalArgumentException(
                    "%s is of %s, %s of %s, and %s of %s"
                            .formatted(
                                    this,
                                    domain,
                                    region,
                                    region.domain(),
                                    queuePair,
                                    queuePair.protection()));
        }
        var held = List.of(lifetime(), region.ownLifetime(), queuePair.ownLifetime());
        Lifetime.holdAll(held);
        try {
            lifetime().endWith(region.ownLifetime());
            if (isOfBinder()) {
                lifetime().endWith(queuePair.ownLifetime());
            }
        } finally {
            held.forEach(Lifetime::release);
        }
    }

    /** Whether only the queue pair that bound it has it. */
    abstract boolean isOfBinder();

    /** A bind is about to be posted. For a caller whom close() waits for. */
    void bind(WorkRequest.Send request, long shownStart) {
        start = shownStart;
        length = request.boundLength();
    }

    /** Refuses to take away what is not given: some devices fail at it, and rxe with the system. */
    final void checkBound() {
        if (length == 0) {
            throw new IllegalStateException(this + " is not bound");
        }
    }

    /** It is about to be taken away. */
    final void unbind() {
        length = 0;
    }

    /** Posts a bind. Returns the errno. */
    abstract int post(HotPath hotPath, long queuePair, WorkRequest.Send request);

    final void key(int next) {
        key = next;
    }

    final MemorySegment nativeAddress() {
        return address;
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }
}
