package org.jrdma.verbs;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A request written out once, in native memory of its own, and posted any number of times without
 * allocating. It can be changed between posts: a post copies it.
 *
 * <p>Belongs to the thread that prepared it, which also is the only one to prepare and post
 * requests of this direction of its queue pair, or of its shared receive queue; others get
 * WrongThreadException. It needs no closing.
 *
 * @param <S> the request itself
 */
public abstract class PreparedRequest<S extends PreparedRequest<S>> {

    /**
     * Several prepared requests that are posted by one call, in their order. They cannot be posted
     * one by one any more, but still be changed. Belongs to the thread that prepared them.
     */
    public static final class Chain {

        private final PreparedRequest<?>[] requests;

        Chain(PreparedRequest<?>... requests) {
            if (requests.length == 0) {
                throw new IllegalArgumentException("A chain has at least one request");
            }
            this.requests = requests.clone();
            link(this.requests);
        }

        /**
         * Posts all of them, if there are as many free slots. Does not wait. In C: {@code
         * ibv_post_send}, {@code ibv_post_recv}, {@code ibv_post_srq_recv}.
         *
         * @return false if there are not so many free slots; nothing is posted then
         * @throws PostException if the provider refuses one; it says which. Those before it are
         *     under way; none is where the queue pair has {@link QueuePairOptions#extendedPosts},
         *     and then it does not say which
         * @throws VerbsException if the queue pair is not in a state to take them
         * @throws IllegalStateException if the queue pair or a region is closed; nothing is posted
         *     then
         */
        public boolean tryPost() throws VerbsException {
            return requests[0].tryPostChain(requests);
        }
    }

    /** Sentinel that no provider returns. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Thread owner = Thread.currentThread();
    private final CallGuard guard = CallGuard.ofCurrentThread();
    private final NativeObject target;
    private final Lifetime lifetime;
    private final HotPath hotPath;
    private final long targetAddress;
    private final PolledWorkQueue queue;
    private final WorkRequest request;

    /** What it uses besides regions, and then those. */
    private Lifetime[] used = {};

    private int countBeside;
    private long id;
    private boolean chained;

    PreparedRequest(PolledPost<?> post, WorkRequest request) {
        this.target = post.target();
        this.lifetime = post.lifetime();
        this.hotPath = post.hotPath();
        this.targetAddress = post.address();
        this.queue = post.queueOfThisThread();
        this.request = request;
    }

    /** Gives the request a number, by which its completion will be known. 0 if there is none. */
    public final S id(long number) {
        checkThread();
        this.id = number;
        return self();
    }

    /** The request's number. */
    public final long id() {
        return id;
    }

    /** Takes another piece of memory, instead of all there were. Allocates nothing. */
    public final S local(MemorySlice piece) {
        return local(piece.region(), piece.offset(), piece.length());
    }

    /**
     * Takes a part of a region, instead of all pieces there were; the same as with a slice of it.
     * Allocates nothing.
     *
     * @throws IndexOutOfBoundsException if the part is not within
     */
    public final S local(MemoryRegion region, long offset, long length) {
        checkThread();
        Objects.checkFromIndexSize(offset, length, region.length());
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("A work request moves 2 GiB at most: " + length);
        }
        var registration = MemoryAccess.get().registration(region);
        checkCount(1);
        checkPieces(1, length, registration.isInPlace());
        request.element(0, region.startAddress() + offset, (int) length, region.localKey());
        request.elements(1);
        if (used.length == countBeside + 1) {
            used[countBeside] = registration.lifetime();
        } else {
            use(Stream.of(registration.lifetime()));
        }
        return self();
    }

    /**
     * Takes other pieces of memory.
     *
     * @throws IllegalArgumentException if they are more than the queue was made for
     */
    public final S local(List<MemorySlice> pieces) {
        checkThread();
        checkCount(pieces.size());
        checkPieces(
                pieces.size(), RequestWriter.totalLength(pieces), RequestWriter.areInPlace(pieces));
        RequestWriter.pieces(request, pieces);
        use(
                pieces.stream()
                        .map(piece -> MemoryAccess.get().registration(piece.region()).lifetime())
                        .distinct());
        return self();
    }

    private void checkCount(int pieces) {
        if (pieces > request.maxElements()) {
            throw new IllegalArgumentException(
                    "%s takes %d pieces of memory at most, not %d"
                            .formatted(target, request.maxElements(), pieces));
        }
    }

    private void use(Stream<Lifetime> regions) {
        var beside = usedBeside().toList();
        countBeside = beside.size();
        used = Stream.concat(beside.stream(), regions).toArray(Lifetime[]::new);
    }

    /**
     * Posts the request, if there is a free slot. Does not wait. In C: {@code ibv_post_send},
     * {@code ibv_post_recv}, {@code ibv_post_srq_recv}; of a queue pair with {@link
     * QueuePairOptions#extendedPosts}, {@code ibv_wr_start}, {@code ibv_wr_complete}, {@code
     * ibv_wr_abort}, {@code ibv_wr_set_sge}, {@code ibv_wr_set_sge_list}, {@code
     * ibv_wr_set_inline_data}, {@code ibv_wr_set_inline_data_list}.
     *
     * @return false if every slot is taken: then take completions first. Slots of unsignalled
     *     requests become free by a later signalled one's completion, so if none is signalled they
     *     never do
     * @throws PostException if the provider refuses the request
     * @throws VerbsException if the queue pair is not in a state to take it
     * @throws IllegalStateException if the queue or a region is closed
     */
    public final boolean tryPost() throws VerbsException {
        checkThread();
        checkState();
        checkComplete();
        if (chained) {
            throw new IllegalStateException("This request is posted by its chain");
        }
        if (queue.freeSlots() <= 0) {
            return false; // asked here: the provider's answer would cost a call, and is ENOMEM
        }
        fillSlot(0);
        hotPath.makeRoom();
        queue.take(1);
        var errno = callGuarded(this);
        if (errno == CLOSED) {
            queue.giveBack(1);
            throw closedException(this);
        }
        if (errno != 0) {
            queue.giveBack(request.takeRefused() != 0 ? 1 : 0);
            throw refused(errno, 0, 1);
        }
        return true;
    }

    /** Posts a chain, whose first request this is. */
    final boolean tryPostChain(PreparedRequest<?>[] chain) throws VerbsException {
        checkThread();
        checkState();
        if (queue.freeSlots() < chain.length) {
            return false;
        }
        for (var index = 0; index < chain.length; index++) {
            chain[index].checkComplete();
            chain[index].fillSlot(index);
        }
        hotPath.makeRoom();
        queue.take(chain.length);
        var errno = callGuarded(chain);
        if (errno == CLOSED) {
            queue.giveBack(chain.length);
            throw closedException(chain);
        }
        if (errno != 0) {
            var failed = indexOfRefused(chain);
            queue.giveBack(chain.length - failed);
            throw chain[Math.min(failed, chain.length - 1)].refused(errno, failed, chain.length);
        }
        return true;
    }

    /** Refuses what cannot be chained, and links what can. */
    static void link(PreparedRequest<?>[] chain) {
        var queue = chain[0].queue;
        if (chain.length > queue.capacity()) {
            throw new IllegalArgumentException(
                    "A chain of %d never fits into %d slots"
                            .formatted(chain.length, queue.capacity()));
        }
        for (var link : chain) {
            link.checkThread();
            if (link.queue != queue) {
                throw new IllegalArgumentException(
                        "A chain is posted to one direction of one queue pair, or to one shared receive queue");
            }
            if (link.chained || Arrays.stream(chain).filter(other -> other == link).count() > 1) {
                throw new IllegalArgumentException(
                        "A request can be in one chain only, and only once");
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
                link.aboutToPost();
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
            aboutToPost();
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

    /** Of requests one of which is, or uses, what is closed. */
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
        throw new AssertionError("nothing is closed");
    }

    private VerbsException refused(int errno, int index, int chainLength) {
        var place = chainLength == 1 ? "" : ", request %d of %d".formatted(index + 1, chainLength);
        return new PostException(
                function(), "for a %s on %s%s".formatted(describe(), target, place), index, errno);
    }

    /**
     * Which request of a chain the provider refused; beyond the last if it took them all. rxe does
     * that: an error of its doorbell comes as an errno, when the requests are in the queue already.
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
            throw new WrongThreadException("This request belongs to " + owner);
        }
    }

    /** The type argument is the class itself: all that can extend this are in this package. */
    @SuppressWarnings("unchecked")
    final S self() {
        return (S) this;
    }

    /** What it uses besides the regions of its pieces, and before them. */
    Stream<Lifetime> usedBeside() {
        return Stream.empty();
    }

    /** Uses another thing instead. */
    final void used(int index, Lifetime object) {
        used[index] = object;
    }

    /** Refuses to post a request that lacks something. */
    void checkComplete() {}

    /** Refuses a chain that it cannot be in. */
    void checkChain(PreparedRequest<?>[] chain) {}

    /** Writes what is known only now. While nothing that it uses can be closed. */
    void aboutToPost() {}

    /**
     * Refuses pieces that do not suit the request.
     *
     * @param inPlace whether requests name all pieces by their own addresses
     */
    abstract void checkPieces(int count, long bytes, boolean inPlace);

    /** Refuses a target that is not in a state to take the request. */
    abstract void checkState() throws VerbsException;

    /** Calls the provider. Returns the errno. */
    abstract int call(HotPath hotPath, long targetAddress, WorkRequest request);

    abstract String function();

    abstract String describe();
}
