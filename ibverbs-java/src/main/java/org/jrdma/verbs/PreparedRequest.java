package org.jrdma.verbs;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A work request that is prepared once in native memory and posted any number of times without
 * allocating. The program can change the request after each post, because a post copies it.
 *
 * <p>A prepared request is confined to the thread that prepared it. Only that thread may prepare
 * and post requests of the same send queue, receive queue or shared receive queue; other threads
 * get a WrongThreadException. The request need not be closed, because the garbage collector frees
 * its memory.
 *
 * @param <S> the type of the request
 */
public abstract class PreparedRequest<S extends PreparedRequest<S>> {

    /**
     * A list of prepared requests that one call posts in order. The requests of a chain can be
     * changed, but they cannot be posted individually. A chain is confined to the thread that
     * prepared its requests.
     */
    public static final class Chain {

        private final PreparedRequest<?>[] requests;

        Chain(PreparedRequest<?>... requests) {
            if (requests.length == 0) {
                throw new IllegalArgumentException("A chain must have at least one request");
            }
            this.requests = requests.clone();
            link(this.requests);
        }

        /**
         * Posts all requests if there are enough free slots. Does not wait. In C: {@code
         * ibv_post_send}, {@code ibv_post_recv}, {@code ibv_post_srq_recv}.
         *
         * @return false if there are not enough free slots; in that case nothing is posted
         * @throws PostException if the provider rejects a request. The exception contains the index
         *     of that request, and the requests before it are in flight. With {@link
         *     QueuePairOptions#extendedPosts}, none of the requests is in flight, and the index in
         *     the exception is always 0
         * @throws VerbsException if the state of the queue pair does not allow the requests
         * @throws IllegalStateException if the queue pair or a region is closed, or if a request
         *     invalidates a memory window that is not bound at that point of the chain; in these
         *     cases nothing is posted
         */
        public boolean tryPost() throws VerbsException {
            return requests[0].tryPostChain(requests);
        }
    }

    /**
     * Returned by a guarded call instead of an errno if an object is closed. No provider returns
     * this value as errno.
     */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Thread owner = Thread.currentThread();
    private final CallGuard guard = CallGuard.ofCurrentThread();
    private final NativeObject target;
    private final Lifetime lifetime;
    private final PostAndPollFunctions hotPath;
    private final long targetAddress;
    private final PolledWorkQueueSlots queue;
    private final WorkRequest request;

    /**
     * The lifetimes of the objects that this request uses: first the additional lifetimes, then
     * those of the memory regions.
     */
    private Lifetime[] used = {};

    private int additionalCount;
    private long id;
    private boolean chained;

    PreparedRequest(PostTarget<?> post, WorkRequest request) {
        this.target = post.target();
        this.lifetime = post.lifetime();
        this.hotPath = post.hotPath();
        this.targetAddress = post.address();
        this.queue = post.queueForCurrentThread();
        this.request = request;
    }

    /** Sets the id of the request, which its completion contains; 0 by default. */
    public final S id(long number) {
        checkThread();
        this.id = number;
        return self();
    }

    /** The id of the request, which its completion contains. */
    public final long id() {
        return id;
    }

    /** Selects one slice as the local memory of the request. Does not allocate. */
    public final S local(MemorySlice slice) {
        return local(slice.region(), slice.offset(), slice.length());
    }

    /**
     * Selects a part of a region as the local memory of the request. Does not allocate.
     *
     * @throws IndexOutOfBoundsException if the range is not within the region
     */
    public final S local(MemoryRegion region, long offset, long length) {
        checkThread();
        Objects.checkFromIndexSize(offset, length, region.length());
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "A work request can transfer less than 2 GiB, but the length is " + length);
        }
        var registration = MemoryPackageInternals.get().registration(region);
        checkCount(1);
        checkSlices(1, length, registration.isInPlace());
        request.element(0, region.startAddress() + offset, (int) length, region.localKey());
        request.elements(1);
        if (used.length == additionalCount + 1) {
            used[additionalCount] = registration.lifetime();
        } else {
            use(Stream.of(registration.lifetime()));
        }
        return self();
    }

    /**
     * Selects several slices as the local memory of the request.
     *
     * @throws IllegalArgumentException if there are more slices than the options of the queue allow
     *     for a request
     */
    public final S local(List<MemorySlice> slices) {
        checkThread();
        checkCount(slices.size());
        checkSlices(
                slices.size(), RequestWriter.totalLength(slices), RequestWriter.areInPlace(slices));
        RequestWriter.slices(request, slices);
        use(
                slices.stream()
                        .map(slice ->
                                MemoryPackageInternals.get()
                                        .registration(slice.region())
                                        .lifetime())
                        .distinct());
        return self();
    }

    private void checkCount(int slices) {
        if (slices > request.maxElements()) {
            throw new IllegalArgumentException(
                    "A request of %s can have at most %d slices of memory, but has %d"
                            .formatted(target, request.maxElements(), slices));
        }
    }

    private void use(Stream<Lifetime> regions) {
        var additional = additionalLifetimes().toList();
        additionalCount = additional.size();
        used = Stream.concat(additional.stream(), regions).toArray(Lifetime[]::new);
    }

    /**
     * Posts the request if there is a free slot. Does not wait. In C: {@code ibv_post_send}, {@code
     * ibv_post_recv}, {@code ibv_post_srq_recv}; for a queue pair with {@link
     * QueuePairOptions#extendedPosts}, {@code ibv_wr_start}, {@code ibv_wr_complete}, {@code
     * ibv_wr_abort}, {@code ibv_wr_set_sge}, {@code ibv_wr_set_sge_list}, {@code
     * ibv_wr_set_inline_data}, {@code ibv_wr_set_inline_data_list}.
     *
     * @return false if the queue is full; the program must then poll completions first. The
     *     completion of a signaled request also frees the slots of earlier unsignaled requests, so
     *     a program that signals no request never frees slots
     * @throws PostException if the provider rejects the request
     * @throws VerbsException if the state of the queue pair does not allow the request
     * @throws IllegalStateException if the queue or a region is closed
     */
    public final boolean tryPost() throws VerbsException {
        checkThread();
        checkState();
        checkComplete();
        if (chained) {
            throw new IllegalStateException("A request of a chain can only be posted by its chain");
        }
        if (!queue.hasFreeSlots(1)) {
            return false; // Checked here because the provider's ENOMEM would cost a native call.
        }
        fillSlot(0);
        hotPath.ensureStack();
        queue.take(1);
        var errno = callGuarded(this);
        if (errno == CLOSED) {
            queue.undoTake(1);
            throw closedException(this);
        }
        if (errno != 0) {
            if (request.takeRefused() != 0) {
                queue.undoTake(1);
                undoBeforePost();
            }
            throw refused(errno, 0, 1);
        }
        return true;
    }

    /** Posts a chain that starts with this request. */
    final boolean tryPostChain(PreparedRequest<?>[] chain) throws VerbsException {
        checkThread();
        checkState();
        if (!queue.hasFreeSlots(chain.length)) {
            return false;
        }
        for (var index = 0; index < chain.length; index++) {
            chain[index].checkComplete();
            chain[index].checkWindow(chain, index);
            chain[index].fillSlot(index);
        }
        hotPath.ensureStack();
        queue.take(chain.length);
        var errno = callGuarded(chain);
        if (errno == CLOSED) {
            queue.undoTake(chain.length);
            throw closedException(chain);
        }
        if (errno != 0) {
            var failed = indexOfRefused(chain);
            queue.undoTake(chain.length - failed);
            for (var index = chain.length - 1; index >= failed; index--) {
                chain[index].undoBeforePost();
            }
            throw chain[Math.min(failed, chain.length - 1)].refused(errno, failed, chain.length);
        }
        return true;
    }

    /** Checks and links the requests of a chain. */
    static void link(PreparedRequest<?>[] chain) {
        var queue = chain[0].queue;
        if (chain.length > queue.capacity()) {
            throw new IllegalArgumentException(
                    "A chain of %d requests cannot fit into a queue with %d slots"
                            .formatted(chain.length, queue.capacity()));
        }
        for (var link : chain) {
            link.checkThread();
            if (link.queue != queue) {
                throw new IllegalArgumentException(
                        "All requests of a chain must be for the same send queue, receive queue or shared receive queue");
            }
            if (link.chained || Arrays.stream(chain).filter(other -> other == link).count() > 1) {
                throw new IllegalArgumentException(
                        "A request can be in only one chain and only once");
            }
        }
        for (var link : chain) {
            link.checkChain(chain);
        }
        for (var link : chain) {
            link.chained = true;
        }
        for (var index = 1; index < chain.length; index++) {
            chain[index - 1].request.next(chain[index].request.address());
        }
    }

    private void fillSlot(int offset) {
        request.number(queue.number(queue.nextPosition() + offset, id));
    }

    private int callGuarded(PreparedRequest<?>[] chain) {
        guard.enter();
        try {
            for (var link : chain) {
                if (link.isClosed()) {
                    return CLOSED;
                }
            }
            for (var link : chain) {
                link.beforePost();
            }
            return call(hotPath, targetAddress, request);
        } finally {
            guard.exit();
            Reference.reachabilityFence(chain);
        }
    }

    private int callGuarded(PreparedRequest<S> single) {
        guard.enter();
        try {
            if (isClosed()) {
                return CLOSED;
            }
            beforePost();
            return call(hotPath, targetAddress, request);
        } finally {
            guard.exit();
            Reference.reachabilityFence(single);
        }
    }

    private boolean isClosed() {
        if (lifetime.isClosed()) {
            return true;
        }
        for (var object : used) {
            if (object.isClosed()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Creates the exception for a post that was not attempted because one of the requests uses a
     * closed object.
     */
    private static IllegalStateException closedException(PreparedRequest<?>... requests) {
        for (var request : requests) {
            if (request.lifetime.isClosed()) {
                return request.lifetime.closedException();
            }
            for (var object : request.used) {
                if (object.isClosed()) {
                    return object.closedException();
                }
            }
        }
        throw new AssertionError("No object is closed");
    }

    private VerbsException refused(int errno, int index, int chainLength) {
        var place = chainLength == 1 ? "" : ", request %d of %d".formatted(index + 1, chainLength);
        return new PostException(
                function(), "for a %s on %s%s".formatted(describe(), target, place), index, errno);
    }

    /**
     * The index of the request that the provider rejected, or the length of the chain if the
     * provider accepted all requests. The latter occurs with rxe, which reports an error of its
     * doorbell after it has queued the requests.
     */
    private int indexOfRefused(PreparedRequest<?>[] chain) {
        var address = request.takeRefused();
        for (var index = 0; index < chain.length; index++) {
            if (chain[index].request.address() == address) {
                return index;
            }
        }
        return chain.length;
    }

    final void checkThread() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException(
                    "This request is confined to the thread that prepared it: " + owner);
        }
    }

    /**
     * Returns this request as its own type. The cast is safe, because all subclasses are in this
     * package and pass themselves as the type argument.
     */
    @SuppressWarnings("unchecked")
    final S self() {
        return (S) this;
    }

    /** The lifetimes of the objects that the request uses, except for those of memory regions. */
    Stream<Lifetime> additionalLifetimes() {
        return Stream.empty();
    }

    /** Replaces the additional lifetime at an index. */
    final void used(int index, Lifetime object) {
        used[index] = object;
    }

    /** Checks that all attributes that the request requires have been set. */
    void checkComplete() {}

    /** Checks that the request can be part of a chain. */
    void checkChain(PreparedRequest<?>[] chain) {}

    /**
     * Checks that the memory window of this request will be in the required state after the
     * requests of the chain before {@code index}, which is the index of this request.
     */
    void checkWindow(PreparedRequest<?>[] chain, int index) {}

    /**
     * Sets the attributes of the request that are known only at the time of a post. Runs within the
     * guarded call, in which the native objects that the request uses cannot be destroyed.
     */
    void beforePost() {}

    /** Reverts {@link #beforePost} after the provider rejected the request. */
    void undoBeforePost() {}

    /**
     * Checks that the memory slices are allowed for the request.
     *
     * @param inPlace true if the address of each slice in requests equals its virtual address, as
     *     the {@code IBV_SEND_INLINE} flag requires
     */
    abstract void checkSlices(int count, long bytes, boolean inPlace);

    /** Checks that the state of the queue pair allows the request. */
    abstract void checkState() throws VerbsException;

    /** Calls the provider's function for posting and returns the errno. */
    abstract int call(PostAndPollFunctions hotPath, long targetAddress, WorkRequest request);

    abstract String function();

    abstract String describe();
}
