package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A native memory window, with its current key and the memory range of the last bind that was
 * posted. Only one thread at a time may bind or invalidate the window.
 */
public final class NativeWindow {

    /**
     * The bits of a key that the program chooses for a type 2 window. The device chooses the other
     * bits.
     */
    private static final int PROGRAM_BITS = 0xff;

    /**
     * The key and the bound range of a window at one moment, for restoring them. Reused, because
     * posts must not allocate.
     */
    public static final class State {
        private int key;
        private long start;
        private long length;
    }

    private final DomainHandle domain;
    private final NativeResource window;
    private final boolean type2;
    private int key;
    private long start;

    /** The length of the bound range in bytes; 0 if the window is not bound. */
    private long length;

    private NativeWindow(DomainHandle domain, NativeResource window, boolean type2) {
        this.domain = domain;
        this.window = window;
        this.type2 = type2;
        this.key = MemoryFunctions.windowKey(window.address());
    }

    public static NativeWindow allocate(DomainHandle domain, boolean type2) throws VerbsException {
        var device = domain.device();
        var context = device.context();
        var memory = device.library().memory();
        return GuardedCalls.call(
                domain.lifetime(),
                () -> {
                    var address =
                            memory.allocateWindow(
                                    context,
                                    domain.address(),
                                    type2,
                                    CheckedCall.to("ibv_alloc_mw", () -> "on " + device.name()));
                    var name =
                            "memory window %x of type %d of %s"
                                    .formatted(address.address(), type2 ? 2 : 1, device.name());
                    return new NativeWindow(
                            domain,
                            NativeResource.of(
                                    address,
                                    name,
                                    List.of(domain.lifetime()),
                                    "ibv_dealloc_mw",
                                    (made, attempt) ->
                                            memory.deallocateWindow(context, made, attempt)),
                            type2);
                });
    }

    public MemorySegment address() {
        return window.address();
    }

    public Lifetime lifetime() {
        return window.lifetime();
    }

    public boolean isType2() {
        return type2;
    }

    public int key() {
        return key;
    }

    /**
     * Returns the memory that the last posted bind makes accessible to peers.
     *
     * @throws IllegalStateException if the window is not bound
     */
    public RemoteMemory remote() {
        checkBound();
        return new RemoteMemory(start, key, length);
    }

    /**
     * Prepares the window for bind requests with a memory region on a queue pair. From now on,
     * closing the region closes the window first. For a window of type 2, closing the queue pair
     * also closes the window first.
     *
     * @throws IllegalArgumentException if the window, the queue pair and the region do not belong
     *     to the same protection domain
     */
    public void prepare(
            DomainHandle queuePairDomain, Lifetime queuePair, MemoryRegistration region) {
        if (!domain.isSameAs(queuePairDomain) || !domain.isSameAs(region.domain())) {
            throw new IllegalArgumentException(
                    "The protection domains differ: %s is in %s, %s in %s, and %s in %s"
                            .formatted(
                                    this,
                                    domain,
                                    region,
                                    region.domain(),
                                    queuePair,
                                    queuePairDomain));
        }
        var held = List.of(lifetime(), region.lifetime(), queuePair);
        try (var _ = Lifetime.holdAll(held)) {
            lifetime().addOwner(region.lifetime());
            if (type2) {
                lifetime().addOwner(queuePair);
            }
        }
    }

    /**
     * Records the key and the range of a bind request that is about to be posted. The caller must
     * {@linkplain Lifetime#hold hold} the lifetime of the window. A window of type 2 gets a new
     * key, which makes the previous key invalid.
     *
     * @param request the request that contains the bind
     * @param shownStart the address by which peers access the first byte of the range
     */
    public void bind(WorkRequest.Send request, long shownStart) {
        start = shownStart;
        length = request.boundLength();
        if (type2) {
            // Sets the key in the request, where the provider reads it.
            MemoryFunctions.windowKey(address(), key);
            key = (key & ~PROGRAM_BITS) | (key + 1 & PROGRAM_BITS);
            request.newKey(key);
        }
    }

    /** Posts a bind. Returns 0 or an errno. The provider chooses the new key of a type 1 window. */
    public int post(PostAndPollFunctions hotPath, long queuePair, WorkRequest.Send request) {
        if (type2) {
            return hotPath.postSend(queuePair, request.address(), request.refusedAddress());
        }
        var errno = hotPath.bindWindow(queuePair, address().address(), request.bindRequest());
        if (errno == 0) {
            key = MemoryFunctions.windowKey(address());
        } else {
            request.refused();
        }
        return errno;
    }

    /**
     * Checks that the window is bound. An unbound window must not be invalidated, because this
     * fails on some devices and crashes the kernel with rxe.
     *
     * @throws IllegalStateException if the window is not bound
     */
    public void checkBound() {
        if (length == 0) {
            throw notBoundException();
        }
    }

    public IllegalStateException notBoundException() {
        return new IllegalStateException(this + " is not bound");
    }

    /** Records that an invalidation of the window is about to be posted. */
    public void unbind() {
        length = 0;
    }

    /** Stores the state before a bind or an invalidation, whose request may be rejected. */
    public void save(State before) {
        before.key = key;
        before.start = start;
        before.length = length;
    }

    /** Restores the state before a request that was rejected. */
    public void restore(State before) {
        key = before.key;
        start = before.start;
        length = before.length;
    }

    @Override
    public String toString() {
        return lifetime().toString();
    }
}
