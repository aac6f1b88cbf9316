package org.jrdma.sisci;

/** A map of a segment of this node: plain memory, which peers may be storing into meanwhile. */
public final class LocalMap extends SegmentMap {

    private LocalMap(Mapping mapping) {
        super(mapping);
    }

    /** The segment must be held. */
    static LocalMap create(LocalSegment segment, MapOptions options) throws SisciException {
        var functions = segment.node().functions();
        var bytes = options.bytesOf(segment.byteSize());
        var mapped =
                functions
                        .segments()
                        .mapLocal(
                                segment.address(),
                                options.offset(),
                                bytes,
                                functions.library().bits(options.constants()),
                                () -> "for " + segment);
        return new LocalMap(
                new Mapping(
                        functions, mapped, bytes, options, segment, segment.node().leftovers()));
    }
}
