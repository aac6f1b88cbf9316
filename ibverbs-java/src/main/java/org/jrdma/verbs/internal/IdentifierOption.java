package org.jrdma.verbs.internal;

import org.jrdma.abi.rdma.rdma_h;

/** An option of an {@code rdma_cm_id}. The value of an option is a byte or an int. */
public enum IdentifierOption {
    TYPE_OF_SERVICE(rdma_h.RDMA_OPTION_ID_TOS(), true),
    REUSE_ADDRESS(rdma_h.RDMA_OPTION_ID_REUSEADDR(), false),
    ADDRESS_FAMILY_ONLY(rdma_h.RDMA_OPTION_ID_AFONLY(), false),
    ACKNOWLEDGE_TIMEOUT(rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT(), true);

    private final int number;
    private final boolean isByte;

    IdentifierOption(int number, boolean isByte) {
        this.number = number;
        this.isByte = isByte;
    }

    int number() {
        return number;
    }

    boolean isByte() {
        return isByte;
    }
}
