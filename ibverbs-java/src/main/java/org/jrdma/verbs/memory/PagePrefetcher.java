package org.jrdma.verbs.memory;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;

/** Advises a device to prefetch pages of on-demand regions. */
final class PagePrefetcher {

    private PagePrefetcher() {}

    /**
     * Passes advice to the device of a domain.
     *
     * @param waits true to wait until the device has prefetched the pages
     */
    static void advise(
            DomainHandle domain, PageAdvice advice, boolean waits, List<MemorySlice> slices)
            throws VerbsException {
        for (var slice : slices) {
            if (!slice.region().access().contains(Access.ON_DEMAND)) {
                throw new IllegalArgumentException(
                        slice.region() + " is not registered with ON_DEMAND");
            }
        }
        var used =
                Stream.concat(
                                Stream.of(domain.lifetime()),
                                slices.stream()
                                        .map(slice -> slice.region().registration().lifetime()))
                        .toList();
        var device = domain.device();
        GuardedCalls.run(
                used,
                () ->
                        device.library()
                                .memory()
                                .advise(
                                        device.context(),
                                        domain.address(),
                                        advice,
                                        waits,
                                        slices.stream().map(PagePrefetcher::piece).toList(),
                                        CheckedCall.to(
                                                "ibv_advise_mr",
                                                () -> "%s for %s".formatted(advice, slices))));
    }

    private static MemoryFunctions.Piece piece(MemorySlice slice) {
        var region = slice.region();
        return new MemoryFunctions.Piece(
                region.startAddress() + slice.offset(), slice.length(), region.localKey());
    }
}
