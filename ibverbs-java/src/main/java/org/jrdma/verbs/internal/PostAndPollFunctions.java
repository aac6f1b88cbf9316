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
 * Calls the native functions that are needed for every transfer: posting requests, polling
 * completions and requesting notifications. Their addresses are read from the provider's {@code
 * ibv_context}. The functions return errors as values, so the calls capture no errno.
 *
 * <p>Pointers are passed as longs. If they were passed as segments of a shared arena, each call
 * would keep the arena alive by an atomic instruction. That is unnecessary, because the callers
 * already prevent the memory from being freed during a call.
 */
public sealed class PostAndPollFunctions permits PostAndPollFunctions.JavaHotPath, ExtendedPosts {

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
     * Returns the hot-path functions of a device's context.
     *
     * @param critical true to link the functions with {@code Linker.Option.critical}
     * @param provided true if the library may be written in Java
     */
    public static PostAndPollFunctions of(
            VerbsContext context, boolean critical, boolean provided) {
        return provided ? new JavaHotPath(context) : new PostAndPollFunctions(context, critical);
    }

    private PostAndPollFunctions(VerbsContext context, boolean critical) {
        var ops = ibv_context.ops(context.address());
        this.postSend = ops.get(ADDRESS, ibv_context_ops.post_send$offset());
        this.postReceive = ops.get(ADDRESS, ibv_context_ops.post_recv$offset());
        this.postSharedReceive = ops.get(ADDRESS, ibv_context_ops.post_srq_recv$offset());
        this.bindWindow = ops.get(ADDRESS, ibv_context_ops.bind_mw$offset());
        this.pollCompletions = ops.get(ADDRESS, ibv_context_ops.poll_cq$offset());
        this.requestNotification = ops.get(ADDRESS, ibv_context_ops.req_notify_cq$offset());
        this.critical = critical;
    }

    PostAndPollFunctions(PostAndPollFunctions other) {
        this.postSend = other.postSend;
        this.postReceive = other.postReceive;
        this.postSharedReceive = other.postSharedReceive;
        this.bindWindow = other.bindWindow;
        this.pollCompletions = other.pollCompletions;
        this.requestNotification = other.requestNotification;
        this.critical = other.critical;
    }

    /**
     * Returns the functions for a queue pair that was created by {@code ibv_create_qp_ex}.
     *
     * @param queuePair the {@code ibv_qp_ex} of the queue pair
     * @param maxElements the maximum number of memory slices in a send request
     * @param newer see {@link QueuePairFunctions.Specification}
     * @param faulty the result of {@link ProviderDefects#inExtendedPosts}
     */
    public PostAndPollFunctions extended(
            MemorySegment queuePair,
            QueuePairType type,
            int maxElements,
            Set<WorkRequest.Operation> newer,
            boolean faulty) {
        return new ExtendedPosts(this, queuePair, type, maxElements, newer, faulty);
    }

    /**
     * Posts a chain of send requests. Returns 0 or an errno. On failure, the provider writes the
     * address of the rejected request to the location {@code failed}.
     */
    public int postSend(long queuePair, long request, long failed) {
        return post(postSend, queuePair, request, failed);
    }

    /**
     * Posts a chain of receive requests. Returns 0 or an errno. On failure, the provider writes the
     * address of the rejected request to the location {@code failed}.
     */
    public int postReceive(long queuePair, long request, long failed) {
        return post(postReceive, queuePair, request, failed);
    }

    /**
     * Posts a chain of receive requests to a shared receive queue. Returns 0 or an errno. On
     * failure, the provider writes the address of the rejected request to the location {@code
     * failed}.
     */
    public int postSharedReceive(long sharedQueue, long request, long failed) {
        return post(postSharedReceive, sharedQueue, request, failed);
    }

    /**
     * Posts the bind of a type 1 memory window, described by an {@code ibv_mw_bind}. Returns 0 or
     * an errno.
     */
    public int bindWindow(long queuePair, long window, long bind) {
        return post(bindWindow, queuePair, window, bind);
    }

    /**
     * Writes up to {@code capacity} completions to memory. Returns their number, or a negative
     * number on failure.
     */
    public int poll(long queue, int capacity, long completions) {
        try {
            return critical
                    ? (int) Critical.POLL.invokeExact(pollCompletions, queue, capacity, completions)
                    : (int) PLAIN_POLL.invokeExact(pollCompletions, queue, capacity, completions);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Requests an event for the next completion. Returns 0 or an errno. */
    public int requestNotification(long queue, boolean solicitedOnly) {
        try {
            return (int)
                    PLAIN_NOTIFY.invokeExact(requestNotification, queue, solicitedOnly ? 1 : 0);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Ensures that enough stack is left for a library written in Java; does nothing for a C
     * library. Callers must call this method before a post and before they change any state for
     * that post, because this method may throw {@link StackOverflowError}.
     */
    public void ensureStack() {}

    /**
     * Records that a call of a library written in Java has processed requests or completions; does
     * nothing for a C library. The stack check becomes cheaper after many such calls.
     */
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

    /**
     * The method handles with Linker.Option.critical. They are in a separate class, so that they
     * are linked only if a program requests critical calls.
     */
    private static final class Critical {
        static final MethodHandle POST = Downcalls.critical(PostAndPollFunctions.POST);
        static final MethodHandle POLL = Downcalls.critical(PostAndPollFunctions.POLL);
    }

    /**
     * Calls the functions of a library that may be written in Java, with a check of the stack
     * before each call. This is a separate class, so that calls of C libraries need no check.
     */
    static final class JavaHotPath extends PostAndPollFunctions {

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
