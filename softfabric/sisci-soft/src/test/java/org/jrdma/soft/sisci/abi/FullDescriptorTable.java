package org.jrdma.soft.sisci.abi;

import java.nio.file.Path;
import java.util.ArrayDeque;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * A process of a fabric that opens files until it has no free descriptor, and closes the files when
 * it has read a line from its standard input.
 */
final class FullDescriptorTable {

    private FullDescriptorTable() {}

    /** Argument: the folder of the fabric. */
    public static void main(String... arguments) throws Exception {
        var self = LibraryCaller.in(SoftSisciOptions.in(Path.of(arguments[0])));
        var opened = new ArrayDeque<Integer>();
        var _ = tryOpen("/missing", opened); // Loads all classes, which needs descriptors.
        while (tryOpen("/dev/null", opened)) {
            // The loop ends when there is no free descriptor.
        }
        IO.println("full");
        var _ = IO.readln();
        opened.forEach(SystemCalls::close);
        var _ = IO.readln();
        self.close();
    }

    private static boolean tryOpen(String file, ArrayDeque<Integer> opened) {
        try {
            opened.add(SystemCalls.openFile(file));
            return true;
        } catch (FabricException e) {
            return false;
        }
    }
}
