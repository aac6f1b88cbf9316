package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/** The owner of the objects that a program creates. In C: {@code sci_desc_t}. */
public final class SciDescriptor {

    private final ProcessContext context;
    private int objects;
    private boolean closed;

    SciDescriptor(ProcessContext context) {
        this.context = context;
    }

    ProcessContext context() {
        return context;
    }

    synchronized void add() {
        throwIf(closed, SCI_ERR_ILLEGAL_PARAMETER());
        objects++;
    }

    /**
     * Creates an object, and counts it as an object of this descriptor if the creation succeeds.
     */
    <T> T add(SciException.HostCall<T> creation) {
        add();
        try {
            return SciException.translate(creation);
        } catch (Throwable e) {
            remove();
            throw e;
        }
    }

    synchronized void remove() {
        objects--;
    }

    /** Closes the descriptor. Fails with SCI_ERR_BUSY if the descriptor has objects. */
    public synchronized void close() {
        throwIf(objects > 0, SCI_ERR_BUSY());
        closed = true;
    }
}
