package org.jrdma.sisci.smartio;

import org.jrdma.abi.sisci.sisci_h;

/** The sharing of a device segment, which determines the borrowers that can connect to it. */
public enum DeviceSegmentSharing {
    /**
     * Only the borrower that created the segment. The segment ends when this borrower returns the
     * device. In C: {@code SCI_MEMTYPE_PRIVATE}.
     */
    PRIVATE(sisci_h.SCI_MEMTYPE_PRIVATE()),
    /**
     * Every borrower of the device. The segment ends when the last borrower returns the device. In
     * C: {@code SCI_MEMTYPE_SHARED}.
     */
    SHARED(sisci_h.SCI_MEMTYPE_SHARED());

    private final int code;

    DeviceSegmentSharing(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
