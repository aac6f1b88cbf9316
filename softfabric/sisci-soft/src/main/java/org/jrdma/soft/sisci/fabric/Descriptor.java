package org.jrdma.soft.sisci.fabric;

import org.jrdma.abi.sisci.sisci_h;

/** What everything that a program makes belongs to. In C: {@code sci_desc_t}. */
public final class Descriptor {

    private final Member member;
    private int objects;
    private boolean closed;

    Descriptor(Member member) {
        this.member = member;
    }

    /** The process that it belongs to. */
    public Member member() {
        return member;
    }

    synchronized void add() {
        Refusal.when(closed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        objects++;
    }

    synchronized void remove() {
        objects--;
    }

    /** Ends it. */
    public synchronized void close() {
        Refusal.when(objects > 0, sisci_h.SCI_ERR_BUSY());
        closed = true;
    }
}
