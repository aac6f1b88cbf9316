package org.jrdma.soft.roce.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/** The symbols of a libibverbs and a librdmacm whose devices are in software. */
public final class SoftLibrary implements SymbolLookup {

    /** What does not depend on which devices there are. */
    private static final Exports COMMON =
            Exports.of(
                    DeviceExports.class,
                    MemoryExports.class,
                    CompletionExports.class,
                    QueuePairExports.class,
                    SharedReceiveQueueExports.class,
                    AddressExports.class);

    private final SymbolLookup symbols;
    private final MemorySegment list;
    private final int length;

    /** A library with these devices. */
    public SoftLibrary(List<DeviceObject> devices) {
        DeviceFacts.prepare();
        length = devices.size();
        list = Arena.global().allocate(ValueLayout.ADDRESS, length + 1); // NULL at its end
        for (var i = 0; i < length; i++) {
            list.setAtIndex(ValueLayout.ADDRESS, i, devices.get(i).structure());
        }
        symbols = Exports.of(this).or(COMMON).or(Exports.of(new ConnectionExports(devices)));
    }

    @Exported(value = "ibv_get_device_list", failure = Failure.NULL)
    long getDeviceList(long count) {
        if (count != 0) {
            Memory.at(count, Integer.BYTES).set(ValueLayout.JAVA_INT, 0, length);
        }
        return list.address();
    }

    /** What is to be said of the current thread's last failure beside its number. */
    public String explanation() {
        return Failure.explanation();
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        return symbols.find(symbol);
    }
}
