package org.jrdma.verbs;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared request that invalidates a memory window. An invalidated window can be bound again. If
 * the window is not bound, a post throws IllegalStateException. In a chain, an earlier request may
 * bind the window. In C: {@code IBV_WR_LOCAL_INV}, {@code ibv_wr_local_inv}.
 */
public final class PreparedInvalidate extends PreparedSendRequest<PreparedInvalidate> {

    private final NativeWindow window;
    private final NativeWindow.State before = new NativeWindow.State();

    PreparedInvalidate(PostTarget<PolledWorkQueueSlots> post, Type2Window window) {
        super(post, Operation.INVALIDATE);
        this.window = MemoryPackageInternals.get().window(window);
        local(List.of());
    }

    @Override
    Stream<Lifetime> additionalLifetimes() {
        return Stream.of(window.lifetime());
    }

    @Override
    void checkSlices(int count, long bytes, boolean inPlace) {
        checkNoSlices(count);
    }

    @Override
    void checkState() throws VerbsException {
        super.checkState();
        window.checkBound();
    }

    @Override
    void checkWindow(PreparedRequest<?>[] chain, int index) {
        for (var before = index - 1; before >= 0; before--) {
            if (chain[before] instanceof PreparedBind bind && bind.binds(window)) {
                return;
            }
            if (chain[before] instanceof PreparedInvalidate other && other.window == window) {
                throw window.notBoundException();
            }
        }
        window.checkBound();
    }

    @Override
    void beforePost() {
        window.save(before);
        request().invalidatedKey(window.key());
        window.unbind();
    }

    @Override
    void undoBeforePost() {
        window.restore(before);
    }

    @Override
    String describe() {
        return "INVALIDATE of " + window;
    }
}
