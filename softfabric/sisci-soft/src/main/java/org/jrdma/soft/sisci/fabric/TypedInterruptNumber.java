package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;

/**
 * The identity of an interrupt of a node: its number and whether it carries data, because
 * interrupts with data are numbered separately.
 *
 * @param carriesData true for a data interrupt
 * @param number the number among the interrupts of the same kind
 */
record TypedInterruptNumber(boolean carriesData, int number) {

    ObjectAnnouncementFile.Kind kind() {
        return carriesData
                ? ObjectAnnouncementFile.Kind.DATA_INTERRUPT
                : ObjectAnnouncementFile.Kind.INTERRUPT;
    }
}
