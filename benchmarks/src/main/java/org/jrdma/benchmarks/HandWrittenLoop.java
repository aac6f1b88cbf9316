package org.jrdma.benchmarks;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;

/**
 * The loop that posts writes and polls for each completion, with the foreign function API of the
 * JDK alone. It checks nothing: neither the thread, nor whether the objects are open, nor the free
 * slots of the queue. The difference to C is therefore the least that calls from Java add. Confined
 * to one thread.
 */
final class HandWrittenLoop {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final FunctionDescriptor POST =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor POLL =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle ORDINARY_POST = LINKER.downcallHandle(POST);
    private static final MethodHandle ORDINARY_POLL = LINKER.downcallHandle(POLL);
    private static final MethodHandle CRITICAL_POST =
            LINKER.downcallHandle(POST, Linker.Option.critical(false));
    private static final MethodHandle CRITICAL_POLL =
            LINKER.downcallHandle(POLL, Linker.Option.critical(false));

    private final boolean critical;
    private final MemorySegment post;
    private final MemorySegment poll;
    private final long queuePair;
    private final long completions;
    private final MemorySegment request;
    private final MemorySegment rejected;
    private final MemorySegment completion;

    HandWrittenLoop(PostAndPollLoop objects, boolean critical) {
        this.critical = critical;
        queuePair = objects.queuePair.address().address();
        completions = objects.completions.address().address();
        var structure = objects.queuePair.address().reinterpret(ibv_qp.layout().byteSize());
        var functions =
                ibv_context.ops(
                        ibv_qp.context(structure).reinterpret(ibv_context.layout().byteSize()));
        post = functions.get(ADDRESS, ibv_context_ops.post_send$offset());
        poll = functions.get(ADDRESS, ibv_context_ops.poll_cq$offset());
        var memory = Arena.global();
        request = memory.allocate(ibv_send_wr.layout());
        rejected = memory.allocate(ADDRESS);
        completion = memory.allocate(ibv_wc.layout(), PostAndPollLoop.BATCH);
        ibv_send_wr.sg_list(request, objects.element);
        ibv_send_wr.num_sge(request, 1);
        ibv_send_wr.opcode(request, rdma_h.IBV_WR_RDMA_WRITE());
        ibv_send_wr.send_flags(request, rdma_h.IBV_SEND_SIGNALED());
    }

    /** Returns the number of successes. */
    long writeAndPoll(long rounds) {
        var successes = 0L;
        try {
            for (var round = 0L; round < rounds; round++) {
                request.set(JAVA_LONG, ibv_send_wr.wr_id$offset(), round);
                var _ =
                        critical
                                ? (int)
                                        CRITICAL_POST.invokeExact(
                                                post,
                                                queuePair,
                                                request.address(),
                                                rejected.address())
                                : (int)
                                        ORDINARY_POST.invokeExact(
                                                post,
                                                queuePair,
                                                request.address(),
                                                rejected.address());
                successes += pollOne();
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return successes;
    }

    private int pollOne() throws Throwable {
        int count;
        do {
            count =
                    critical
                            ? (int)
                                    CRITICAL_POLL.invokeExact(
                                            poll,
                                            completions,
                                            PostAndPollLoop.BATCH,
                                            completion.address())
                            : (int)
                                    ORDINARY_POLL.invokeExact(
                                            poll,
                                            completions,
                                            PostAndPollLoop.BATCH,
                                            completion.address());
        } while (count == 0);
        return completion.get(JAVA_INT, ibv_wc.status$offset()) == 0 ? 1 : 0;
    }
}
