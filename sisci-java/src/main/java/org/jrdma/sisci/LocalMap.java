package org.jrdma.sisci;

import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciException;

/** A map of a segment of this node: plain memory, which peers may be storing into meanwhile. */
public final class LocalMap extends SegmentMap {

    private LocalMap(Mapping mapping) {
        super(mapping);
    }

    /** Maps a segment, which must be held. */
    static LocalMap create(ObjectHandle segment, long segmentBytes, MapOptions options)
            throws SisciException {
        var functions = segment.node().functions();
        var bytes = options.bytesOf(segmentBytes);
        var mapped =
                functions
                        .segments()
                        .mapLocal(
                                segment.address(),
                                options.offset(),
                                bytes,
                                functions.library().bits(options.constants()),
                                segment.lifetime());
        return new LocalMap(Mapping.of(segment, mapped, bytes, options));
    }
}
