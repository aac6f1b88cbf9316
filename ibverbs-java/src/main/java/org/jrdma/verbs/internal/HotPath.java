package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.StackRoom;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The functions called for every transfer: a provider's own, whose addresses stand in its context.
 * They return their error as their value, so nothing is captured.
 *
 * <p>Pointers are passed as numbers: a segment of a shared arena would be kept alive by an atomic
 * instruction in each call, which the SDK's guard makes needless.
 */
public sealed class HotPath permits HotPath.IntoJava, ExtendedPosts {

    private static final FunctionDescriptor POST =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor POLL =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor NOTIFY =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT);

    private static final MethodHandle PLAIN_POST = Downcalls.plain(POST);
    private static final MethodHandle PLAIN_POLL = Downcalls.plain(POLL);
    private static final MethodHandle PLAIN_NOTIFY = Downcalls.plain(NOTIFY);

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment postSharedReceive;
    private final MemorySegment bindWindow;
    private final MemorySegment pollCompletions;
    private final MemorySegment requestNotification;
    private final boolean critical;

    /**
     * The functions of a device's context.
     *
     * @param critical whether they are called critically
     * @param provided whether they may be Java
     */
    public static HotPath of(VerbsContext context, boolean critical, boolean provided) {
        return provided ? new IntoJava(context) : new HotPath(context, critical);
    }

    private HotPath(VerbsContext context, boolean critical) {
        var ops = ibv_context.ops(context.address());
        this.postSend = ops.get(ADDRESS, ibv_context_ops.post_send$offset());
        this.postReceive = ops.get(ADDRESS, ibv_context_ops.post_recv$offset());
        this.postSharedReceive = ops.get(ADDRESS, ibv_context_ops.post_srq_recv$offset());
        this.bindWindow = ops.get(ADDRESS, ibv_context_ops.bind_mw$offset());
        this.pollCompletions = ops.get(ADDRESS, ibv_context_ops.poll_cq$offset());
        this.requestNotification = ops.get(ADDRESS, ibv_context_ops.req_notify_cq$offset());
        this.critical = critical;
    }

    /** The same functions again. */
    HotPath(HotPath other) {
        this.postSend = other.postSend;
        this.postReceive = other.postReceive;
        this.postSharedReceive = other.postSharedReceive;
        this.bindWindow = other.bindWindow;
        this.pollCompletions = other.pollCompletions;
        this.requestNotification = other.requestNotification;
        this.critical = other.critical;
    }

    /**
     * For a queue pair that {@code ibv_create_qp_ex} made, and no other.
     *
     * @param queuePair an {@code ibv_qp_ex}
     * @param maxPieces how many pieces of memory a request to send can have
     * @param newer as {@link QueuePairFunctions.Wanted} says
     * @param faulty as {@link ProviderFaults#inExtendedPosts} says
     */
    public HotPath extended(
            MemorySegment queuePair,
            QueuePairType type,
            int maxPieces,
            Set<WorkRequest.Operation> newer,
            boolean faulty) {
        return new ExtendedPosts(this, queuePair, type, maxPieces, newer, faulty);
    }

    /** Returns the errno; the address of the request that failed is written to {@code failed}. */
    public int postSend(long queuePair, long request, long failed) {
        return post(postSend, queuePair, request, failed);
    }

    /** Returns the errno; the address of the request that failed is written to {@code failed}. */
    public int postReceive(long queuePair, long request, long failed) {
        return post(postReceive, queuePair, request, failed);
    }

    /** Returns the errno; the address of the request that failed is written to {@code failed}. */
    public int postSharedReceive(long sharedQueue, long request, long failed) {
        return post(postSharedReceive, sharedQueue, request, failed);
    }

    /** Posts a bind, which is an {@code ibv_mw_bind}. Returns the errno. */
    public int bindWindow(long queuePair, long window, long bind) {
        return post(bindWindow, queuePair, window, bind);
    }

    /** Returns the number of completions written, or a negative number. */
    public int poll(long queue, int capacity, long completions) {
        try {
            return critical
                    ? (int) Critical.POLL.invokeExact(pollCompletions, queue, capacity, completions)
                    : (int) PLAIN_POLL.invokeExact(pollCompletions, queue, capacity, completions);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Asks for an event at the next completion. Returns the errno. */
    public int requestNotification(long queue, boolean solicitedOnly) {
        try {
            return (int)
                    PLAIN_NOTIFY.invokeExact(requestNotification, queue, solicitedOnly ? 1 : 0);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Makes sure of room on the stack for a library that is Java. To be called before a post, and
     * before anything is noted of it: it may throw a {@link StackOverflowError}.
     */
    public void makeRoom() {}

    /** Tells a library that is Java that a call was not for nothing. */
    void didSomething() {}

    final boolean isCritical() {
        return critical;
    }

    int post(MemorySegment function, long queue, long request, long failed) {
        try {
            return critical
                    ? (int) Critical.POST.invokeExact(function, queue, request, failed)
                    : (int) PLAIN_POST.invokeExact(function, queue, request, failed);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Linked only where a program asks for critical calls. */
    private static final class Critical {
        static final MethodHandle POST = Downcalls.critical(HotPath.POST);
        static final MethodHandle POLL = Downcalls.critical(HotPath.POLL);
    }

    /** A class of its own, so that calls into C do not even ask whether they are. */
    static final class IntoJava extends HotPath {

        IntoJava(VerbsContext context) {
            super(context, false);
        }

        @Override
        public void makeRoom() {
            StackRoom.ensureForHotPath();
        }

        @Override
        void didSomething() {
            StackRoom.didSomething();
        }

        @Override
        int post(MemorySegment function, long queue, long request, long failed) {
            didSomething();
            return super.post(function, queue, request, failed);
        }

        @Override
        public int poll(long queue, int capacity, long completions) {
            makeRoom();
            var count = super.poll(queue, capacity, completions);
            if (count > 0) {
                didSomething();
            }
            return count;
        }

        @Override
        public int requestNotification(long queue, boolean solicitedOnly) {
            makeRoom();
            return super.requestNotification(queue, solicitedOnly);
        }
    }
}
