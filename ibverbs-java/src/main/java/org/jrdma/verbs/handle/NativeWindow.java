package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * A native memory window, with the key that peers name it by and the range that the last bind
 * posted shows. One thread at a time may bind or invalidate it.
 */
public final class NativeWindow {

    /** The bits of the key of a type 2 window that its owner chooses. */
    private static final int OWNERS_BITS = 0xff;

    private final DomainHandle domain;
    private final NativeResource window;
    private final boolean ofSecondType;
    private int key;
    private long start;

    /** 0 if the window shows nothing. */
    private long length;

    private NativeWindow(DomainHandle domain, NativeResource window, boolean ofSecondType) {
        this.domain = domain;
        this.window = window;
        this.ofSecondType = ofSecondType;
        this.key = MemoryFunctions.windowKey(window.address());
    }

    /** Makes a window of type 1 or 2. */
    public static NativeWindow allocate(DomainHandle domain, boolean ofSecondType)
            throws VerbsException {
        var device = domain.device();
        var context = device.context();
        var memory = device.library().memory();
        return HeldCalls.call(
                domain.lifetime(),
                () -> {
                    var address =
                            memory.allocateWindow(
                                    context,
                                    domain.address(),
                                    ofSecondType,
                                    Attempt.to("ibv_alloc_mw", () -> "on " + device.name()));
                    var name =
                            "memory window %x of type %d of %s"
                                    .formatted(
                                            address.address(), ofSecondType ? 2 : 1, device.name());
                    return new NativeWindow(
                            domain,
                            NativeResource.of(
                                    address,
                                    name,
                                    List.of(domain.lifetime()),
                                    "ibv_dealloc_mw",
                                    (made, attempt) ->
                                            memory.deallocateWindow(context, made, attempt)),
                            ofSecondType);
                });
    }

    public MemorySegment address() {
        return window.address();
    }

    public Lifetime lifetime() {
        return window.lifetime();
    }

    public boolean isOfSecondType() {
        return ofSecondType;
    }

    public int key() {
        return key;
    }

    /**
     * The memory that the last bind posted shows.
     *
     * @throws IllegalStateException if it shows nothing
     */
    public RemoteMemory remote() {
        checkBound();
        return new RemoteMemory(start, key, length);
    }

    /**
     * Prepares for binds to a region that are posted to a queue pair: the window is closed before
     * the region from now on and, if only the queue pair that binds it can use it, before the queue
     * pair.
     *
     * @throws IllegalArgumentException if the three are not of one domain
     */
    public void prepare(DomainHandle queuePairDomain, Lifetime queuePair, Registration region) {
        if (!domain.isSameAs(queuePairDomain) || !domain.isSameAs(region.domain())) {
            throw new IllegalArgumentException(
                    "%s is of %s, %s of %s, and %s of %s"
                            .formatted(
                                    this,
                                    domain,
                                    region,
                                    region.domain(),
                                    queuePair,
                                    queuePairDomain));
        }
        var held = List.of(lifetime(), region.lifetime(), queuePair);
        Lifetime.holdAll(held);
        try {
            lifetime().endWith(region.lifetime());
            if (ofSecondType) {
                lifetime().endWith(queuePair);
            }
        } finally {
            held.forEach(Lifetime::release);
        }
    }

    /**
     * Notes a bind that is about to be posted. For a caller that close() waits for.
     *
     * <p>A window of type 2 gets its next key, so that a peer with the last one is refused.
     */
    public void bind(WorkRequest.Send request, long shownStart) {
        start = shownStart;
        length = request.boundLength();
        if (ofSecondType) {
            MemoryFunctions.windowKey(address(), key); // where the provider looks for it
            key = (key & ~OWNERS_BITS) | (key + 1 & OWNERS_BITS);
            request.newKey(key);
        }
    }

    /** Posts a bind, and returns the errno. The provider chooses the key of a type 1 window. */
    public int post(HotPath hotPath, long queuePair, WorkRequest.Send request) {
        if (ofSecondType) {
            return hotPath.postSend(queuePair, request.address(), request.refusedAddress());
        }
        var errno = hotPath.bindWindow(queuePair, address().address(), request.verbOfBind());
        if (errno == 0) {
            key = MemoryFunctions.windowKey(address());
        } else {
            request.refused();
        }
        return errno;
    }

    /**
     * Refuses to invalidate a window that is not bound: some devices fail at it, and rxe with the
     * system.
     */
    public void checkBound() {
        if (length == 0) {
            throw new IllegalStateException(this + " is not bound");
        }
    }

    /** Notes that the window is about to be invalidated. */
    public void unbind() {
        length = 0;
    }

    /** The name of the window in messages. */
    @Override
    public String toString() {
        return lifetime().toString();
    }
}
