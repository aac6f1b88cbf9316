package org.jrdma.containers;

import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;

/**
 * A program that joins the fabric as the node of this host, and cuts or restores the link of the
 * node.
 */
final class LinkSwitch {

    private LinkSwitch() {}

    static void main(String... arguments) throws Exception {
        var fabric = new SoftSisci();
        try (var _ = Sisci.from(fabric).open()) {
            if (arguments[0].equals("cut")) {
                fabric.cutLink(0);
            } else {
                fabric.restoreLink(0);
            }
        }
    }
}
