package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A prepared request that binds a {@link MemoryWindow} to a part of a region. Each post changes the
 * remote key of the window. In C: {@code ibv_bind_mw}; for a window of type 2, {@code
 * IBV_WR_BIND_MW}, {@code ibv_wr_bind_mw}.
 */
public final class PreparedBind extends PreparedSendRequest<PreparedBind> {

    private final NativeWindow window;
    private final NativeWindow.State before = new NativeWindow.State();
    private final MemoryRegistration region;
    private final boolean zeroBased;
    private long offset;

    PreparedBind(
            PostTarget<PolledWorkQueueSlots> post,
            MemoryWindow window,
            MemoryRegion region,
            Set<Access> rights) {
        super(post, Operation.BIND);
        this.window = MemoryPackageInternals.get().window(window);
        this.region = MemoryPackageInternals.get().registration(region);
        this.zeroBased = rights.contains(Access.ZERO_BASED);
        queuePair().checkReceiveQueue(false);
        this.window.prepare(queuePair().domain(), queuePair().lifetime(), this.region);
        RequestWriter.bind(request(), this.window, this.region, rights);
        local(List.of());
        range(0, region.length());
    }

    /**
     * Selects the range of the region that the window is bound to; the whole region by default. A
     * length of 0 unbinds a window of type 1.
     *
     * @throws IndexOutOfBoundsException if the range is not within the region
     */
    public PreparedBind range(long firstByte, long length) {
        checkThread();
        Objects.checkFromIndexSize(firstByte, length, region.length());
        offset = firstByte;
        request().bindRange(region.start() + firstByte, length);
        return this;
    }

    @Override
    Stream<Lifetime> additionalLifetimes() {
        return Stream.of(window.lifetime(), region.lifetime());
    }

    @Override
    void checkSlices(int count, long bytes, boolean inPlace) {
        checkNoSlices(count);
    }

    @Override
    void checkChain(PreparedRequest<?>[] chain) {
        if (!window.isType2()) {
            throw new IllegalArgumentException(
                    "A window of type 1 cannot be bound in a chain: ibv_bind_mw posts a single request");
        }
        for (var link : chain) {
            if (link != this && link instanceof PreparedBind other && other.window == window) {
                throw new IllegalArgumentException(
                        "A chain can bind a window only once, but binds %s repeatedly"
                                .formatted(window));
            }
        }
    }

    /** Returns true if a post of this request binds a window to at least one byte. */
    boolean binds(NativeWindow other) {
        return window == other && request().boundLength() != 0;
    }

    @Override
    void beforePost() {
        window.save(before);
        window.bind(request(), zeroBased ? 0 : region.start() + offset);
    }

    @Override
    void undoBeforePost() {
        window.restore(before);
    }

    @Override
    int call(PostAndPollFunctions hotPath, long queuePairAddress, WorkRequest first) {
        return window.post(hotPath, queuePairAddress, request());
    }

    @Override
    String describe() {
        return String.format(
                Locale.ROOT,
                "BIND of %s to %,d bytes of %s",
                window,
                request().boundLength(),
                region);
    }
}
