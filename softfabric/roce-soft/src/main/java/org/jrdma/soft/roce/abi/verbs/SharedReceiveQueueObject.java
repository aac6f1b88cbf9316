package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_srq;
import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.engine.ReceiveQueue;
import org.jrdma.soft.roce.engine.XrcReceiveQueue;
import org.jspecify.annotations.Nullable;

/** The implementation of an {@code ibv_srq}: a shared receive queue or an XRC receive queue. */
final class SharedReceiveQueueObject extends ContextResource {

    private final ProtectionDomainObject domain;
    private final ReceiveQueue queue;
    private final ReceivePoster poster;
    private final int maxElements;

    /**
     * The XRC domain and the completion queue of an XRC receive queue; null for a shared receive
     * queue.
     */
    private final @Nullable Extension extension;

    /**
     * The entry by which the engine finds this XRC receive queue if a request of a peer contains
     * its number; null for a shared receive queue.
     */
    private final @Nullable XrcReceiveQueue named;

    private boolean stopped;

    /**
     * The additional properties of an XRC receive queue.
     *
     * @param domain the XRC domain whose queue pairs may select the receive queue
     * @param completions the completion queue for the receives of the receive queue
     */
    record Extension(XrcDomainObject domain, CompletionQueueObject completions) {}

    /**
     * Creates a shared receive queue or an XRC receive queue.
     *
     * @param requested an {@code ibv_srq_init_attr}, in which the constructor stores the actual
     *     capacities
     * @param extension the additional properties to create an XRC receive queue; null to create a
     *     shared receive queue
     */
    SharedReceiveQueueObject(
            ProtectionDomainObject domain, MemorySegment requested, @Nullable Extension extension) {
        var capacities = ibv_srq_init_attr.attr(requested);
        var capacity = ibv_srq_attr.max_wr(capacities);
        requireValid(capacity, 0); // ibv_create_srq ignores the requested limit
        ErrnoException.throwIf(
                ibv_srq_attr.max_sge(capacities) < 0
                        || ibv_srq_attr.max_sge(capacities) > DeviceLimits.MAX_ELEMENTS,
                Errno.EINVAL);
        super(domain.context(), ibv_srq.layout());
        this.domain = domain;
        this.extension = extension;
        this.maxElements = Math.max(1, ibv_srq_attr.max_sge(capacities));
        this.queue = new ReceiveQueue(domain.domain(), capacity, maxElements, this::limitReached);
        this.poster = new ReceivePoster(queue, maxElements);
        this.named = extension == null ? null : register(extension);
        ibv_srq_attr.max_sge(capacities, maxElements);
        ibv_srq.context(structure(), domain.context().address());
        ibv_srq.srq_context(structure(), ibv_srq_init_attr.srq_context(requested));
        ibv_srq.pd(structure(), domain.structure());
        domain.users().add();
        if (extension != null) {
            extension.domain.users().add();
            extension.completions.users().add();
        }
        domain.context().own(this);
    }

    private XrcReceiveQueue register(Extension requested) {
        return context()
                .port()
                .control(engine ->
                        Optional.ofNullable(
                                engine.newExtendedReceives(
                                        requested.domain.domain().domain(),
                                        queue,
                                        requested.completions)))
                .orElseThrow(() -> {
                    StructureRegistry.release(structure());
                    return new ErrnoException(Errno.ENOMEM);
                });
    }

    /**
     * Returns true if this is an XRC receive queue. Such a queue is selected by requests of peers
     * and cannot be assigned to a queue pair.
     */
    boolean isExtended() {
        return named != null;
    }

    /**
     * The number by which requests of peers select this XRC receive queue.
     *
     * @throws ErrnoException with {@code EOPNOTSUPP} if this is not an XRC receive queue
     */
    int number() {
        if (named == null) {
            throw new ErrnoException(Errno.EOPNOTSUPP);
        }
        return named.number();
    }

    private static void requireValid(int capacity, int limit) {
        ErrnoException.throwIf(
                capacity < 1
                        || capacity > DeviceLimits.MAX_REQUESTS
                        || limit < 0
                        || limit > capacity,
                Errno.EINVAL);
    }

    static SharedReceiveQueueObject of(long address) {
        return StructureRegistry.object(address, SharedReceiveQueueObject.class);
    }

    ReceiveQueue queue() {
        return queue;
    }

    /**
     * Posts a chain of {@code ibv_recv_wr} ({@code ibv_post_srq_recv}). Returns 0, or the errno of
     * the first request that failed. The requests before it are posted.
     *
     * @param failed the address where this method stores the address of the request that failed
     */
    int post(long request, long failed) {
        return poster.post(request, failed);
    }

    /**
     * Changes the capacity, the limit, or both ({@code ibv_modify_srq}). If a value is invalid,
     * nothing is changed.
     *
     * @param requested an {@code ibv_srq_attr} with the new values
     * @param mask the {@code IBV_SRQ_} flags of the members to change
     * @throws ErrnoException with {@code EINVAL} if a value is invalid or more requests are posted
     *     than the new capacity permits
     */
    void modify(MemorySegment requested, int mask) {
        var resizes = (mask & rdma_h.IBV_SRQ_MAX_WR()) != 0;
        var limits = (mask & rdma_h.IBV_SRQ_LIMIT()) != 0;
        poster.runExclusively(() ->
                context()
                        .port()
                        .run(_ -> {
                            var capacity =
                                    resizes ? ibv_srq_attr.max_wr(requested) : queue.capacity();
                            var limit = limits ? ibv_srq_attr.srq_limit(requested) : queue.limit();
                            requireValid(capacity, limit);
                            ErrnoException.throwIf(
                                    resizes && !queue.resize(capacity), Errno.EINVAL);
                            queue.limit(limit);
                        }));
    }

    /** Stores the attributes in an {@code ibv_srq_attr} ({@code ibv_query_srq}). */
    void query(MemorySegment target) {
        context()
                .port()
                .run(_ -> {
                    ibv_srq_attr.max_wr(target, queue.capacity());
                    ibv_srq_attr.max_sge(target, maxElements);
                    ibv_srq_attr.srq_limit(target, queue.limit());
                });
    }

    private void limitReached() {
        context()
                .raise(
                        new AsyncEvent(
                                rdma_h.IBV_EVENT_SRQ_LIMIT_REACHED(),
                                structure().address(),
                                asyncEvents()));
    }

    @Override
    void stop() {
        if (stopped) {
            return;
        }
        users().requireNone(Errno.EBUSY);
        stopped = true;
        if (named != null) {
            context().port().run(engine -> engine.destroy(named));
        }
        context().forgetEvents(asyncEvents());
    }

    @Override
    void destroy() {
        stop();
        super.destroy();
        domain.users().remove();
        if (extension != null) {
            extension.domain.users().remove();
            extension.completions.users().remove();
        }
    }
}
