package org.jrdma.verbs;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.VerbsException;

/**
 * Takes a window away from the peer; it can be bound again. A post throws IllegalStateException if
 * the window shows nothing, unless it is in a chain. In C: {@code IBV_WR_LOCAL_INV}, {@code
 * ibv_wr_local_inv}.
 */
public final class PreparedInvalidate extends PreparedSendRequest<PreparedInvalidate> {

    private final Type2Window window;

    PreparedInvalidate(PolledQueuePair queuePair, Type2Window window) {
        super(queuePair, Operation.INVALIDATE);
        this.window = window;
        local(List.of());
    }

    @Override
    Stream<Lifetime> usedBeside() {
        return Stream.of(window.ownLifetime());
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
