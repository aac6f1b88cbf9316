package org.jrdma.verbs.memory;

import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.VerbsException;

/**
 * A memory window that must be invalidated before it can be bound again. Either this side
 * invalidates it, or the peer by a send with invalidate.
 *
 * <p>This object does not detect an invalidation by the peer. {@link Completion#invalidatedKey}
 * reports it to the program, which may then bind the window again. The program must not invalidate
 * the window a second time, because the queue pair would fail. On devices with windows of type 2B,
 * as most have, only the peer of the queue pair that bound the window may use it. In C: {@code
 * IBV_MW_TYPE_2}.
 */
public final class Type2Window extends MemoryWindow {

    Type2Window(DomainHandle domain) throws VerbsException {
        super(NativeWindow.allocate(domain, true));
    }
}
