package org.jrdma.sisci.smartio;

import org.jrdma.abi.sisci.sisci_h;

/**
 * An expected access to a device segment. The driver can use the hints to choose the location of
 * the memory. Public documentation has only the names of the hints.
 */
public enum AccessHint {
    /** The device reads. In C: {@code SCI_MEMACCESS_DEVICE_READ}. */
    DEVICE_READ(sisci_h.SCI_MEMACCESS_DEVICE_READ()),
    /** The device writes. In C: {@code SCI_MEMACCESS_DEVICE_WRITE}. */
    DEVICE_WRITE(sisci_h.SCI_MEMACCESS_DEVICE_WRITE()),
    /** The borrower reads. In C: {@code SCI_MEMACCESS_HOST_READ}. */
    HOST_READ(sisci_h.SCI_MEMACCESS_HOST_READ()),
    /** The borrower writes. In C: {@code SCI_MEMACCESS_HOST_WRITE}. */
    HOST_WRITE(sisci_h.SCI_MEMACCESS_HOST_WRITE()),
    /** Several borrowers read. In C: {@code SCI_MEMACCESS_MULTIHOST_READ}. */
    MULTIHOST_READ(sisci_h.SCI_MEMACCESS_MULTIHOST_READ()),
    /** Several borrowers write. In C: {@code SCI_MEMACCESS_MULTIHOST_WRITE}. */
    MULTIHOST_WRITE(sisci_h.SCI_MEMACCESS_MULTIHOST_WRITE()),
    /** Another device reads. In C: {@code SCI_MEMACCESS_P2P_READ}. */
    PEER_TO_PEER_READ(sisci_h.SCI_MEMACCESS_P2P_READ()),
    /** Another device writes. In C: {@code SCI_MEMACCESS_P2P_WRITE}. */
    PEER_TO_PEER_WRITE(sisci_h.SCI_MEMACCESS_P2P_WRITE());

    private final int bits;

    AccessHint(int bits) {
        this.bits = bits;
    }

    int bits() {
        return bits;
    }
}
