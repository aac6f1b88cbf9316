package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Optional;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;

/** The symbols of an implementation of libibverbs whose devices are software devices. */
public final class VerbsLibrary implements SymbolLookup {

    /**
     * The symbols of all functions except {@code ibv_get_device_list}, whose result depends on the
     * devices.
     */
    private static final Exports COMMON =
            Exports.of(
                    MethodHandles.lookup(),
                    DeviceExports.class,
                    DomainAndMemoryExports.class,
                    CompletionExports.class,
                    QueuePairExports.class,
                    SharedReceiveQueueExports.class);

    private final SymbolLookup symbols;
    private final MemorySegment list;
    private final int length;

    /** Creates a library in which programs find the given devices. */
    public VerbsLibrary(List<DeviceObject> devices) {
        DeviceLimits.prepare();
        length = devices.size();
        // The list ends with a NULL pointer, as in C.
        list = Arena.global().allocate(ValueLayout.ADDRESS, length + 1);
        for (var i = 0; i < length; i++) {
            list.setAtIndex(ValueLayout.ADDRESS, i, devices.get(i).structure());
        }
        symbols = Exports.ofReceiver(MethodHandles.lookup(), this).or(COMMON);
    }

    @Exported(value = "ibv_get_device_list", failure = ErrorConvention.NULL)
    long getDeviceList(long count) {
        if (count != 0) {
            CallerMemory.setInt(count, length);
        }
        return list.address();
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        return symbols.find(symbol);
    }
}
