package org.jrdma.verbs.memory;

import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.VerbsException;

/**
 * A memory window that must be invalidated before it can be bound again. Either this side
 * invalidates the window, or the peer does so by a send with invalidation.
 *
 * <p>This object does not detect an invalidation by the peer. {@link Completion#invalidatedKey}
 * reports the invalidation to the program, which can then bind the window again. The program must
 * not invalidate a window that the peer has invalidated, because the queue pair would fail. On most
 * devices, whose windows are of type 2B, only the peer of the queue pair that bound the window can
 * use the window. In C: {@code IBV_MW_TYPE_2}.
 */
public final class Type2Window extends MemoryWindow {

    Type2Window(DomainHandle domain) throws VerbsException {
        super(NativeWindow.allocate(domain, true));
    }
}
