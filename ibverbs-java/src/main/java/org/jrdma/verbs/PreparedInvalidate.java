package org.jrdma.verbs;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.Type2Window;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/**
 * Takes a window away from the peer; it can be bound again. A post throws IllegalStateException if
 * the window shows nothing, unless it is in a chain. In C: {@code IBV_WR_LOCAL_INV}, {@code
 * ibv_wr_local_inv}.
 */
public final class PreparedInvalidate extends PreparedSendRequest<PreparedInvalidate> {

    private final NativeWindow window;

    PreparedInvalidate(PolledPost<PolledWorkQueue> post, Type2Window window) {
        super(post, Operation.INVALIDATE);
        this.window = MemoryAccess.get().window(window);
        local(List.of());
    }

    @Override
    Stream<Lifetime> usedBeside() {
        return Stream.of(window.lifetime());
    }

    @Override
    void checkPieces(int count, long bytes, boolean inPlace) {
        checkNoPieces(count);
    }

    @Override
    void checkState() throws VerbsException {
        super.checkState();
        window.checkBound();
    }

    @Override
    void aboutToPost() {
        request().invalidatedKey(window.key());
        window.unbind();
    }

    @Override
    String describe() {
        return "INVALIDATE of " + window;
    }
}
