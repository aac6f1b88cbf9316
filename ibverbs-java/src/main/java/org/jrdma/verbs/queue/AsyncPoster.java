package org.jrdma.verbs.queue;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.PostException;
import org.jspecify.annotations.Nullable;

/**
 * Posts requests of the asynchronous API to one send or receive queue. A post has three steps.
 * {@link #begin} waits for a free slot, locks the queue and returns the request object, which all
 * posts reuse. {@link #post} posts the request. {@link #end} releases the lock and the lifetimes
 * that {@code begin} has held. The caller must call {@code end} in a finally block after a
 * successful {@code begin}. Safe for use by multiple threads.
 *
 * @param <R> the type of the request
 */
public final class AsyncPoster<R extends WorkRequest> {

    /** The additional lifetimes of a request that uses no other objects than memory regions. */
    public static final Lifetime[] NO_LIFETIMES = {};

    private static final int MAX_ADDITIONAL_LIFETIMES = 2;

    /** The functions of the provider that post requests, one for each kind of queue. */
    public enum Function {
        /** {@code ibv_post_send} or extended posts. */
        SEND,
        /** {@code ibv_post_recv}. */
        RECEIVE,
        /** {@code ibv_post_srq_recv}. */
        SHARED_RECEIVE
    }

    /**
     * The queue that requests are posted to.
     *
     * @param lifetime the lifetime of the queue pair or shared receive queue
     * @param address the address of the native queue pair or shared receive queue
     * @param functionName the name of the C function in messages
     * @param name the name of the queue in messages
     * @param slotTimeout the maximum time that a post waits for a free slot
     */
    public record Target(
            Lifetime lifetime,
            long address,
            PostAndPollFunctions hotPath,
            Function function,
            String functionName,
            String name,
            Duration slotTimeout) {}

    private final Target target;
    private final AsyncWorkQueueSlots queue;

    // The fields below are accessed only by the thread that holds the lock of the queue.

    private final R request;
    private final Lifetime[] held;
    private int heldCount;
    private @Nullable PendingTransfer transfer;
    private boolean posted;

    /** Creates a poster that uses the same request object for all posts. */
    public AsyncPoster(Target target, AsyncWorkQueueSlots queue, R request) {
        this.target = target;
        this.queue = queue;
        this.request = request;
        this.held = new Lifetime[1 + MAX_ADDITIONAL_LIFETIMES + request.maxElements()];
    }

    /**
     * Begins the post of a request that uses no native objects except the queue and memory regions.
     *
     * @param operation the name of the operation in messages
     * @param local the memory slices of the request
     */
    public R begin(String operation, List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        return begin(operation, local, NO_LIFETIMES);
    }

    /**
     * Begins a post. May wait for a free slot. Holds the lifetimes of all objects that the request
     * uses until {@link #end}.
     *
     * @param operation the name of the operation in messages
     * @param local the memory slices of the request
     * @param additionalLifetimes the lifetimes of the other objects that the request uses
     * @return the request, with its memory slices set
     */
    public R begin(String operation, List<MemorySlice> local, Lifetime... additionalLifetimes)
            throws FabricException, InterruptedIOException {
        if (local.size() > request.maxElements()) {
            throw new IllegalArgumentException(
                    "A request of %s can have at most %d slices of memory, but has %d"
                            .formatted(target.lifetime, request.maxElements(), local.size()));
        }
        queue.awaitSlot(Deadline.after(target.slotTimeout), target.name);
        // The queue is locked before the lifetimes are held. In the other order, this thread would
        // hold the lifetimes while it waits for the lock, and close() would wait for this thread.
        queue.lock.lock();
        var started = false;
        try {
            posted = false;
            hold(target.lifetime);
            for (var lifetime : additionalLifetimes) {
                hold(lifetime);
            }
            for (var index = 0; index < local.size(); index++) {
                hold(
                        MemoryPackageInternals.get()
                                .registration(local.get(index).region())
                                .lifetime());
            }
            queue.checkNotFailed();
            RequestWriter.slices(request, local);
            transfer = new PendingTransfer(target.lifetime.toString(), operation);
            started = true;
            return request;
        } finally {
            if (!started) {
                end();
            }
        }
    }

    private void hold(Lifetime lifetime) {
        lifetime.hold();
        held[heldCount++] = lifetime;
    }

    /**
     * Posts the request.
     *
     * @throws PostException if the provider rejects the request
     */
    public PendingTransfer post() throws PostException {
        return post(null, null);
    }

    /**
     * Posts the request.
     *
     * @param window the memory window that the request binds or invalidates; null for other
     *     requests
     * @param before the state of the window before the request; null for other requests
     * @throws PostException if the provider rejects the request
     */
    public PendingTransfer post(@Nullable NativeWindow window, NativeWindow.@Nullable State before)
            throws PostException {
        try {
            var position = queue.nextPosition();
            request.number(queue.requestNumber(position));
            target.hotPath.ensureStack();
            queue.remember(position, transfer);
            queue.take(1);
            var errno = window == null ? call() : callFor(window);
            if (errno != 0) {
                if (request.takeRefused() != 0) {
                    queue.undoTake(1);
                    queue.forget(position);
                    if (window != null) {
                        window.restore(Objects.requireNonNull(before));
                    }
                } else {
                    // Rxe reports the failure of its doorbell although it has queued the request.
                    posted = true;
                }
                throw new PostException(target.functionName, "on the " + target.name, 0, errno);
            }
            posted = true;
            return transfer;
        } finally {
            Reference.reachabilityFence(request);
        }
    }

    private int call() {
        var address = request.address();
        var refused = request.refusedAddress();
        return switch (target.function) {
            case SEND -> target.hotPath.postSend(target.address, address, refused);
            case RECEIVE -> target.hotPath.postReceive(target.address, address, refused);
            case SHARED_RECEIVE ->
                    target.hotPath.postSharedReceive(target.address, address, refused);
        };
    }

    private int callFor(NativeWindow window) {
        return window.post(target.hotPath, target.address, (WorkRequest.Send) request);
    }

    /** Ends a post. Frees the slot if the request was not posted. */
    public void end() {
        var isPosted = posted;
        while (heldCount > 0) {
            held[--heldCount].release();
        }
        transfer = null;
        queue.lock.unlock();
        if (!isPosted) {
            queue.returnSlot();
        }
    }
}
