package org.jrdma.verbs.flow;

import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.flow.access.FlowPackageInternals;
import org.jrdma.verbs.flow.model.FlowQuantity;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.VerbsException;

/**
 * An array of hardware counters for the packets of flows. {@link FlowRule#countedBy} assigns the
 * counters to flows.
 *
 * <p>The program first {@linkplain #count selects} the quantity that each counter counts, then
 * creates flows that use the counters, and then {@linkplain #read reads} the values.
 *
 * <p>Owned by its {@link org.jrdma.verbs.Device}. Safe for use by multiple threads. In C: {@code
 * struct ibv_counters}; {@link #close()} is {@code ibv_destroy_counters}.
 */
public final class FlowCounters extends NativeObject {

    static {
        FlowPackageInternals.open(
                new FlowPackageInternals() {
                    @Override
                    public FlowCounters counters(DeviceHandle device) throws VerbsException {
                        return create(device);
                    }

                    @Override
                    public Flow flow(
                            DeviceHandle device, NativeResource queuePair, int port, FlowRule rule)
                            throws VerbsException {
                        return Flow.create(device, queuePair, port, rule);
                    }
                });
    }

    private final DeviceHandle device;

    private FlowCounters(DeviceHandle device, NativeResource counters) {
        super(counters.address(), counters.lifetime());
        this.device = device;
    }

    private static FlowCounters create(DeviceHandle device) throws VerbsException {
        var functions = device.library().flows();
        var context = device.context();
        return device.call(() -> {
            var address =
                    functions.createCounters(
                            context,
                            CheckedCall.to("ibv_create_counters", () -> "on " + device.name()));
            var name = "counters %x of %s".formatted(address.address(), device.name());
            return new FlowCounters(
                    device,
                    NativeResource.of(
                            address,
                            name,
                            List.of(device.lifetime()),
                            "ibv_destroy_counters",
                            (counters, attempt) ->
                                    functions.destroyCounters(context, counters, attempt)));
        });
    }

    /**
     * Selects the quantity that a counter counts. The selection applies to flows that are created
     * after this call. In C: {@code ibv_attach_counters_point_flow} without a flow.
     *
     * @param index the index of the counter in the result of {@link #read}, starting at 0
     * @throws VerbsException if the device does not support the quantity or has fewer counters
     */
    public void count(FlowQuantity quantity, int index) throws VerbsException {
        FieldRangeChecks.check("index", index, 0, Integer.MAX_VALUE);
        var functions = device.library().flows();
        var attempt =
                CheckedCall.to(
                        "ibv_attach_counters_point_flow",
                        () -> "for %s at index %d of %s".formatted(quantity, index, this));
        GuardedCalls.run(
                lifetime(),
                () ->
                        functions.attachCounters(
                                device.context(), address(), quantity, index, attempt));
    }

    /**
     * Reads the values of the first {@code count} counters. In C: {@code ibv_read_counters}.
     *
     * @param count the number of counters
     * @throws VerbsException if the device cannot read the counters
     */
    public long[] read(int count) throws VerbsException {
        return read(count, false);
    }

    /**
     * Reads the values of the first {@code count} counters. If the device caches the values, this
     * is faster than {@link #read}, but the result may be slightly outdated. In C: {@code
     * IBV_READ_COUNTERS_ATTR_PREFER_CACHED}.
     *
     * @param count the number of counters
     * @throws VerbsException if the device cannot read the counters
     */
    public long[] readCached(int count) throws VerbsException {
        return read(count, true);
    }

    private long[] read(int count, boolean cached) throws VerbsException {
        FieldRangeChecks.check("number of counters", count, 1, Short.MAX_VALUE);
        var functions = device.library().flows();
        var attempt =
                CheckedCall.to("ibv_read_counters", () -> "for %d of %s".formatted(count, this));
        return GuardedCalls.call(
                lifetime(),
                () -> functions.readCounters(device.context(), address(), count, cached, attempt));
    }

    DeviceHandle device() {
        return device;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
