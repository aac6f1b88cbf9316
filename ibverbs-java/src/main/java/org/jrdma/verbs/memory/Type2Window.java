package org.jrdma.verbs.memory;

import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.VerbsException;

/**
 * A memory window that is bound while it shows nothing, and stays bound until it is invalidated: by
 * this side, or by the peer with a message that says so. This object does not see an invalidation
 * by the peer: {@link Completion#invalidatedKey} reports it to the program, which may bind the
 * window again at once, and must not invalidate it: the queue pair would fail. Only the peer of the
 * queue pair that bound it may use it, on devices with windows of type 2B as most are. In C: {@code
 * IBV_MW_TYPE_2}.
 */
public final class Type2Window extends MemoryWindow {

    Type2Window(DomainHandle domain) throws VerbsException {
        super(NativeWindow.allocate(domain, true));
    }
}
