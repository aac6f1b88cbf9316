package org.jrdma.verbs.flow;

import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.flow.access.FlowAccess;
import org.jrdma.verbs.flow.model.FlowQuantity;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/**
 * Counters of a device for the packets of {@linkplain FlowRule#countedBy flows}. A program first
 * chooses what each place counts, then makes flows, then reads the places.
 *
 * <p>Owned by their {@link org.jrdma.verbs.Device}. Safe for use by multiple threads. In C: {@code
 * struct ibv_counters}; {@link #close()} is {@code ibv_destroy_counters}.
 */
public final class FlowCounters extends NativeObject {

    static {
        FlowAccess.open(
                new FlowAccess() {
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
                            Attempt.to("ibv_create_counters", () -> "on " + device.name()));
            var name = "counters %x of %s".formatted(address.address(), device.name());
            return new FlowCounters(
                    device,
                    NativeResource.of(
                            address,
                            name,
                            List.of(device.lifetime()),
                            "ibv_destroy_counters",
                            (made, attempt) -> functions.destroyCounters(context, made, attempt)));
        });
    }

    /**
     * Counts a quantity in a place, for the flows that are made from now on. In C: {@code
     * ibv_attach_counters_point_flow} without a flow.
     *
     * @param place from 0; the index in the result of {@link #read}
     * @throws VerbsException if the device does not count that, or has too few places
     */
    public void count(FlowQuantity quantity, int place) throws VerbsException {
        FieldRange.check("place", place, 0, Integer.MAX_VALUE);
        HeldCalls.run(
                lifetime(),
                () ->
                        device.library()
                                .flows()
                                .attachCounters(
                                        device.context(),
                                        address(),
                                        quantity,
                                        place,
                                        Attempt.to(
                                                "ibv_attach_counters_point_flow",
                                                () ->
                                                        "for %s in place %d of %s"
                                                                .formatted(
                                                                        quantity, place, this))));
    }

    /**
     * Reads the first places. In C: {@code ibv_read_counters}.
     *
     * @throws VerbsException if the device refuses
     */
    public long[] read(int places) throws VerbsException {
        return read(places, false);
    }

    /**
     * Reads the first places as they were a little while ago, where that is faster. In C: {@code
     * IBV_READ_COUNTERS_ATTR_PREFER_CACHED}.
     */
    public long[] readCached(int places) throws VerbsException {
        return read(places, true);
    }

    private long[] read(int places, boolean cached) throws VerbsException {
        FieldRange.check("places", places, 1, Short.MAX_VALUE);
        return HeldCalls.call(
                lifetime(),
                () ->
                        device.library()
                                .flows()
                                .readCounters(
                                        device.context(),
                                        address(),
                                        places,
                                        cached,
                                        Attempt.to(
                                                "ibv_read_counters",
                                                () -> "for %d of %s".formatted(places, this))));
    }

    DeviceHandle device() {
        return device;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
