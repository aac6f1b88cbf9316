package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.Entry;

/**
 * The number of an interrupt of a node. Interrupts with data are numbered separately.
 *
 * @param carriesData whether it does
 * @param number its number
 */
record InterruptNumber(boolean carriesData, int number) {

    Entry.Kind kind() {
        return carriesData ? Entry.Kind.DATA_INTERRUPT : Entry.Kind.INTERRUPT;
    }
}
