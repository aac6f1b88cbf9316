package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;

/**
 * Posts requests that are awaited to one queue: each at once and as a {@link Transfer}, when it has
 * a free slot. Safe for use by several threads.
 *
 * @param <R> the kind of request
 */
final class AsyncPoster<R extends WorkRequest> {

    /** A function of the provider's, which returns the errno. */
    @FunctionalInterface
    interface Call<R> {
        int post(HotPath hotPath, long target, R request);
    }

    /**
     * What is posted to.
     *
     * @param function what C calls the post
     * @param name of the queue, as in messages
     */
    record Target<R>(
            Lifetime lifetime,
            long address,
            HotPath hotPath,
            String function,
            Call<? super R> call,
            String name,
            Duration slotTimeout) {}

    private final Target<R> target;
    private final AsyncWorkQueue queue;
    private final R request;

    /**
     * @param request is written under the queue's lock
     */
    AsyncPoster(Target<R> target, AsyncWorkQueue queue, R request) {
        this.target = target;
        this.queue = queue;
        this.request = request;
    }

    /** Fills in what one kind of request has and others have not. */
    @FunctionalInterface
    interface Filler<R> {
        void fill(R request);
    }

    /** Posts a request. May wait for a free slot. */
    Transfer submit(
            String operation,
            List<MemorySlice> local,
            Filler<? super R> filler,
            Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        return submit(operation, target.call, local, filler, usedBeside);
    }

    /** As the other, by another function. */
    Transfer submit(
            String operation,
            Call<? super R> call,
            List<MemorySlice> local,
            Filler<? super R> filler,
            Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        if (local.size() > request.maxElements()) {
            throw new IllegalArgumentException(
                    "%s takes %d pieces of memory at most, not %d"
                            .formatted(target.lifetime, request.maxElements(), local.size()));
        }
        queue.awaitSlot(Deadline.after(target.slotTimeout), target.name);
        var posted = false;
        try {
            var transfer = new Transfer(target.lifetime.toString(), operation);
            post(call, local, lifetimes(local, usedBeside), filler, transfer);
            posted = true;
            return transfer;
        } finally {
            if (!posted) {
                queue.returnSlot();
            }
        }
    }

    /** Holds everything that the post uses, and writes the one request under the queue's lock. */
    private void post(
            Call<? super R> call,
            List<MemorySlice> local,
            List<Lifetime> used,
            Filler<? super R> filler,
            Transfer transfer)
            throws FabricException {
        queue.lock.lock(); // before holding: close() waits for holds, and must not wait for this
        try {
            Lifetime.holdAll(used);
            try {
                postHeld(call, local, filler, transfer);
            } finally {
                used.forEach(Lifetime::release);
            }
        } finally {
            queue.lock.unlock();
        }
    }

    private void postHeld(
            Call<? super R> call,
            List<MemorySlice> local,
            Filler<? super R> filler,
            Transfer transfer)
            throws FabricException {
        try {
            queue.refuseIfFailed();
            filler.fill(request);
            PreparedRequest.writePieces(request, local);
            var position = queue.nextPosition();
            request.number(queue.requestNumber(position));
            target.hotPath.makeRoom();
            queue.remember(position, transfer);
            queue.take(1);
            var errno = call.post(target.hotPath, target.address, request);
            if (errno != 0) {
                queue.giveBack(1);
                queue.forget(position);
                throw new PostException(target.function, "on the " + target.name, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(request);
        }
    }

    private List<Lifetime> lifetimes(List<MemorySlice> local, Lifetime... usedBeside) {
        var lifetimes = new ArrayList<Lifetime>(local.size() + 1 + usedBeside.length);
        lifetimes.add(target.lifetime);
        lifetimes.addAll(List.of(usedBeside));
        local.forEach(piece -> lifetimes.add(piece.region().ownLifetime()));
        return lifetimes;
    }
}
