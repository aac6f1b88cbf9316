package org.jrdma.verbs.memory;

import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.model.VerbsException;

/**
 * A memory window that can be bound again at any time. Each bind invalidates the previous key of
 * the window, and a bind to zero bytes ends the access of peers. The peers of all queue pairs in
 * the protection domain can use the window. In C: {@code IBV_MW_TYPE_1}.
 */
public final class Type1Window extends MemoryWindow {

    Type1Window(DomainHandle domain) throws VerbsException {
        super(NativeWindow.allocate(domain, false));
    }
}
