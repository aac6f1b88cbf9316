package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.AnnouncementFile;

/**
 * The identity of an interrupt of a node: its number and whether it carries data, because
 * interrupts with data are numbered separately.
 *
 * @param carriesData true for a data interrupt
 * @param number the number among the interrupts of the same kind
 */
record InterruptKey(boolean carriesData, int number) {

    AnnouncementFile.Kind kind() {
        return carriesData ? AnnouncementFile.Kind.DATA_INTERRUPT : AnnouncementFile.Kind.INTERRUPT;
    }
}
