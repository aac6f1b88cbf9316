package org.jrdma.verbs;

import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.VerbsException;

/**
 * A window that is bound anew at any time, which takes the former key away; with no bytes, it shows
 * nothing. The peers of all the domain's queue pairs may use it. In C: {@code IBV_MW_TYPE_1}.
 */
public final class Type1Window extends MemoryWindow {

    Type1Window(ProtectionDomain domain) throws VerbsException {
        super(domain, false);
    }

    @Override
    boolean isOfBinder() {
        return false;
    }

    /** The provider chooses the key, and tells it. */
    @Override
    int post(HotPath hotPath, long queuePair, WorkRequest.Send request) {
        var errno = hotPath.bindWindow(queuePair, nativeAddress().address(), request.verbOfBind());
        if (errno == 0) {
            key(MemoryFunctions.windowKey(nativeAddress()));
        } else {
            request.refused();
        }
        return errno;
    }
}
