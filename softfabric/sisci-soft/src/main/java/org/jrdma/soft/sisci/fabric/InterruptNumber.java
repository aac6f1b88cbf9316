package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.Entry;

/**
 * What identifies an interrupt of a node: those with data are numbered apart.
 *
 * @param carriesData whether it does
 * @param number its number
 */
record InterruptNumber(boolean carriesData, int number) {

    Entry.Kind kind() {
        return carriesData ? Entry.Kind.DATA_INTERRUPT : Entry.Kind.INTERRUPT;
    }
}
