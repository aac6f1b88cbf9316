package org.jrdma.verbs;

import org.jrdma.verbs.model.VerbsException;

/**
 * A shared receive queue that senders name by its number, over whichever connection into its {@link
 * XrcDomain}. All its receives complete in the completion queue that it was made with; a completion
 * says which queue pair of the domain, in whichever process, took the receive. What senders read
 * and write on the way is memory of its protection domain.
 *
 * <p>Owned by its protection domain, by its XRC domain and by its completion queue, and closed with
 * the first of them. In C: {@code IBV_SRQT_XRC}.
 */
public final class PolledXrcSharedReceiveQueue extends PolledSharedReceiveQueue {

    private final XrcDomain xrcDomain;
    private final int number;

    PolledXrcSharedReceiveQueue(
            ProtectionDomain domain,
            XrcDomain xrcDomain,
            CompletionQueue completions,
            int capacity,
            int elements)
            throws VerbsException {
        this(domain, xrcDomain, completions, elements, new PolledSharedReceives(capacity));
    }

    private PolledXrcSharedReceiveQueue(
            ProtectionDomain domain,
            XrcDomain xrcDomain,
            CompletionQueue completions,
            int elements,
            PolledSharedReceives receives)
            throws VerbsException {
        super(domain, elements, receives, new Named<>(xrcDomain, completions, receives.sharing()));
        this.xrcDomain = xrcDomain;
        try {
            this.number = numberOf(this);
        } catch (VerbsException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** The number by which senders name it, 24 bits. In C: {@code ibv_get_srq_num}. */
    public int number() {
        return number;
    }

    /** The domain whose queue pairs receive for it. */
    public XrcDomain xrcDomain() {
        return xrcDomain;
    }

    @Override
    boolean isNamedBySenders() {
        return true;
    }
}
