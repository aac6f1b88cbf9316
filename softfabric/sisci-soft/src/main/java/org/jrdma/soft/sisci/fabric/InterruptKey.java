package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.Entry;

/**
 * The identity of an interrupt of a node: its number and whether it carries data, because
 * interrupts with data are numbered separately.
 *
 * @param carriesData true for a data interrupt
 * @param number the number among the interrupts of the same kind
 */
record InterruptKey(boolean carriesData, int number) {

    Entry.Kind kind() {
        return carriesData ? Entry.Kind.DATA_INTERRUPT : Entry.Kind.INTERRUPT;
    }
}
