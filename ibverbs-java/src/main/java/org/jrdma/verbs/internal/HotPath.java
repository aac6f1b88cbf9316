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
import org.jrdma.ffi.guard.StackSpace;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The functions called for every transfer. Their addresses are those of the provider, read from its
 * context. They return errors as values, so no errno is captured.
 *
 * <p>Pointers are passed as longs. A segment of a shared arena would be kept alive by an atomic
 * instruction in each call, which is unnecessary because of the SDK's own guard.
 */
public sealed class HotPath permits HotPath.JavaHotPath, ExtendedPosts {

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
     * Returns the functions of a device's context.
     *
     * @param critical true to link the functions as critical
     * @param provided true if the functions may be written in Java
     */
    public static HotPath of(VerbsContext context, boolean critical, boolean provided) {
        return provided ? new JavaHotPath(context) : new HotPath(context, critical);
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
     * Returns the functions for a queue pair created by {@code ibv_create_qp_ex}.
     *
     * @param queuePair an {@code ibv_qp_ex}
     * @param maxPieces the maximum number of memory pieces in a send request
     * @param newer see {@link QueuePairFunctions.Specification}
     * @param faulty see {@link ProviderFaults#inExtendedPosts}
     */
    public HotPath extended(
            MemorySegment queuePair,
            QueuePairType type,
            int maxPieces,
            Set<WorkRequest.Operation> newer,
            boolean faulty) {
        return new ExtendedPosts(this, queuePair, type, maxPieces, newer, faulty);
    }

    /**
     * Returns the errno. On failure, the address of the rejected request is written to {@code
     * failed}.
     */
    public int postSend(long queuePair, long request, long failed) {
        return post(postSend, queuePair, request, failed);
    }

    /**
     * Returns the errno. On failure, the address of the rejected request is written to {@code
     * failed}.
     */
    public int postReceive(long queuePair, long request, long failed) {
        return post(postReceive, queuePair, request, failed);
    }

    /**
     * Returns the errno. On failure, the address of the rejected request is written to {@code
     * failed}.
     */
    public int postSharedReceive(long sharedQueue, long request, long failed) {
        return post(postSharedReceive, sharedQueue, request, failed);
    }

    /** Posts an {@code ibv_mw_bind}. Returns the errno. */
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

    /** Requests an event for the next completion. Returns the errno. */
    public int requestNotification(long queue, boolean solicitedOnly) {
        try {
            return (int)
                    PLAIN_NOTIFY.invokeExact(requestNotification, queue, solicitedOnly ? 1 : 0);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Ensures that enough stack is left for a library written in Java. To be called before a post
     * and before any state is changed for it, because it may throw {@link StackOverflowError}.
     */
    public void ensureStack() {}

    /** Reports to a library written in Java that a call processed work. */
    void recordWork() {}

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

    /** Linked only if a program requests critical calls. */
    private static final class Critical {
        static final MethodHandle POST = Downcalls.critical(HotPath.POST);
        static final MethodHandle POLL = Downcalls.critical(HotPath.POLL);
    }

    /**
     * Calls of a library written in Java. A separate class, so that calls of C libraries need no
     * check.
     */
    static final class JavaHotPath extends HotPath {

        JavaHotPath(VerbsContext context) {
            super(context, false);
        }

        @Override
        public void ensureStack() {
            StackSpace.ensureForHotPath();
        }

        @Override
        void recordWork() {
            StackSpace.recordWork();
        }

        @Override
        int post(MemorySegment function, long queue, long request, long failed) {
            recordWork();
            return super.post(function, queue, request, failed);
        }

        @Override
        public int poll(long queue, int capacity, long completions) {
            ensureStack();
            var count = super.poll(queue, capacity, completions);
            if (count > 0) {
                recordWork();
            }
            return count;
        }

        @Override
        public int requestNotification(long queue, boolean solicitedOnly) {
            ensureStack();
            return super.requestNotification(queue, solicitedOnly);
        }
    }
}
