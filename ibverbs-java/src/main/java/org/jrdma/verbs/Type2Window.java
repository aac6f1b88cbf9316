package org.jrdma.verbs;

import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.VerbsException;

/**
 * A window that is bound when it shows nothing, and shows it until it is taken away: by this side,
 * or by the peer with a message that says so. Of the latter this object does not know: {@link
 * Completion#invalidatedKey} tells the program, which may bind it again at once, and must not take
 * it away: the queue pair would fail. Only the peer of the queue pair that bound it may use it, on
 * devices with windows of type 2B as most are. In C: {@code IBV_MW_TYPE_2}.
 */
public final class Type2Window extends MemoryWindow {

    /** The bits of the key that its owner chooses. */
    private static final int OWNERS_BITS = 0xff;

    Type2Window(ProtectionDomain domain) throws VerbsException {
        super(domain, true);
    }

    @Override
    boolean isOfBinder() {
        return true;
    }

    /** With the next key, so that a peer with the last is refused. */
    @Override
    void bind(WorkRequest.Send request, long shownStart) {
        super.bind(request, shownStart);
        MemoryFunctions.windowKey(nativeAddress(), key()); // where the provider looks for it
        key((key() & ~OWNERS_BITS) | (key() + 1 & OWNERS_BITS));
        request.newKey(key());
    }

    @Override
    int post(HotPath hotPath, long queuePair, WorkRequest.Send request) {
        return hotPath.postSend(queuePair, request.address(), request.refusedAddress());
    }
}
