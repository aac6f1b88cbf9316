package org.jrdma.containers;

import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;

/** A program: cuts or mends the link of the node of its machine, which it joins for that. */
final class Cable {

    private Cable() {}

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
