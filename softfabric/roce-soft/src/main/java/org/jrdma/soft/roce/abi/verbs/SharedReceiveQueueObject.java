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
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.engine.ExtendedReceiveQueue;
import org.jrdma.soft.roce.engine.ReceiveQueue;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_srq}. */
final class SharedReceiveQueueObject extends ContextResource {

    private final ProtectionDomainObject domain;
    private final ReceiveQueue queue;
    private final ReceiveRequests requests;
    private final int maxElements;

    /** Of one that who sends to it names; null for any other. */
    private final @Nullable Extension extension;

    private final @Nullable ExtendedReceiveQueue named;
    private boolean stopped;

    /** Who may name it, and where its receives complete. */
    record Extension(XrcDomainObject domain, CompletionQueueObject completions) {}

    /**
     * @param wanted an {@code ibv_srq_init_attr}, which is told what it got
     */
    SharedReceiveQueueObject(
            ProtectionDomainObject domain, MemorySegment wanted, @Nullable Extension extension) {
        var room = ibv_srq_init_attr.attr(wanted);
        var capacity = ibv_srq_attr.max_wr(room);
        refuseUnlessPossible(capacity, 0); // C ignores the limit here
        ErrnoException.throwIf(
                ibv_srq_attr.max_sge(room) < 0
                        || ibv_srq_attr.max_sge(room) > DeviceLimits.MAX_ELEMENTS,
                Errno.EINVAL);
        super(domain.context(), ibv_srq.layout());
        this.domain = domain;
        this.extension = extension;
        this.maxElements = Math.max(1, ibv_srq_attr.max_sge(room));
        this.queue = new ReceiveQueue(domain.domain(), capacity, maxElements, this::limitReached);
        this.requests = new ReceiveRequests(queue, maxElements);
        this.named = extension == null ? null : name(extension);
        ibv_srq_attr.max_sge(room, maxElements);
        ibv_srq.context(structure(), domain.context().address());
        ibv_srq.srq_context(structure(), ibv_srq_init_attr.srq_context(wanted));
        ibv_srq.pd(structure(), domain.structure());
        domain.users().add();
        if (extension != null) {
            extension.domain.users().add();
            extension.completions.users().add();
        }
        domain.context().own(this);
    }

    private ExtendedReceiveQueue name(Extension wanted) {
        return context()
                .port()
                .control(engine ->
                        Optional.ofNullable(
                                engine.newExtendedReceives(
                                        wanted.domain.domain().domain(),
                                        queue,
                                        wanted.completions)))
                .orElseThrow(() -> {
                    Structures.release(structure());
                    return new ErrnoException(Errno.ENOMEM);
                });
    }

    /** Whether who sends to it names it, and no queue pair can be given to it. */
    boolean isExtended() {
        return named != null;
    }

    /** Its number, as peers know it. */
    int number() {
        if (named == null) {
            throw new ErrnoException(Errno.EOPNOTSUPP);
        }
        return named.number();
    }

    private static void refuseUnlessPossible(int capacity, int limit) {
        ErrnoException.throwIf(
                capacity < 1
                        || capacity > DeviceLimits.MAX_REQUESTS
                        || limit < 0
                        || limit > capacity,
                Errno.EINVAL);
    }

    static SharedReceiveQueueObject of(long address) {
        return Structures.object(address, SharedReceiveQueueObject.class);
    }

    ReceiveQueue queue() {
        return queue;
    }

    /**
     * Returns the errno; 0 if all were taken. The address of the first that was not is left in
     * {@code failed}.
     */
    int post(long request, long failed) {
        return requests.post(request, failed);
    }

    /** Changes what an {@code ibv_srq_attr} and its mask say: all of it, or nothing. */
    void modify(MemorySegment wanted, int mask) {
        var resizes = (mask & rdma_h.IBV_SRQ_MAX_WR()) != 0;
        var limits = (mask & rdma_h.IBV_SRQ_LIMIT()) != 0;
        requests.whileNonePosts(() ->
                context()
                        .port()
                        .run(_ -> {
                            var capacity = resizes ? ibv_srq_attr.max_wr(wanted) : queue.capacity();
                            var limit = limits ? ibv_srq_attr.srq_limit(wanted) : queue.limit();
                            refuseUnlessPossible(capacity, limit);
                            ErrnoException.throwIf(
                                    resizes && !queue.resize(capacity), Errno.EINVAL);
                            queue.limit(limit);
                        }));
    }

    /** Fills an {@code ibv_srq_attr}. */
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
        users().refuseIfAny(Errno.EBUSY);
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
