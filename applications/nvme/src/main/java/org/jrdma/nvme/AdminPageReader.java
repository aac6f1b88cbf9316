package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jrdma.ffi.FabricException;

/** Reads pages of data that describe a controller. */
interface AdminPageReader {

    /**
     * Reads a page.
     *
     * @param namespace the id of a namespace, or 0
     * @param decoder decodes the page, whose memory is valid until it returns
     */
    <T> T read(AdminPageKind page, int namespace, Function<MemorySegment, T> decoder)
            throws FabricException;
}
