package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/**
 * Counters of the device's, for the packets of {@linkplain FlowRule#countedBy flows}: first it is
 * said what is counted in which place, then flows are made, then the places are read.
 *
 * <p>Owned by their {@link Device}. Safe for use by several threads. In C: {@code struct
 * ibv_counters}; {@link #close()} is {@code ibv_destroy_counters}.
 */
public final class FlowCounters extends NativeObject {

    /** What can be counted. In C: {@code enum ibv_counter_description}. */
    public enum Quantity {
        /** Packets. */
        PACKETS,
        /** Their bytes. */
        BYTES
    }

    private final Device device;

    FlowCounters(Device device) throws VerbsException {
        this(device, device.inCall(() -> make(device)));
    }

    private FlowCounters(Device device, Made made) {
        super(made.address, made.lifetime);
        this.device = device;
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static Made make(Device device) throws VerbsException {
        var functions = device.library().flows();
        var context = device.context();
        var address =
                functions.createCounters(
                        context, Attempt.to("ibv_create_counters", () -> "on " + device.name()));
        var name = "counters %x of %s".formatted(address.address(), device.name());
        return new Made(
                address,
                new Lifetime(
                        name,
                        List.of(device.ownLifetime()),
                        () ->
                                functions.destroyCounters(
                                        context,
                                        address,
                                        Attempt.to("ibv_destroy_counters", () -> "for " + name))));
    }

    /**
     * Counts something in a place, for the flows that are made from now on. In C: {@code
     * ibv_attach_counters_point_flow} without a flow.
     *
     * @param place from 0; where {@link #read} has it
     * @throws VerbsException if the device does not count that, or has not so many places
     */
    public void count(Quantity quantity, int place) throws VerbsException {
        FieldRange.check("place", place, 0, Integer.MAX_VALUE);
        call(() -> {
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
                                                    .formatted(quantity, place, this)));
            return quantity;
        });
    }

    /**
     * What the first places have counted. In C: {@code ibv_read_counters}.
     *
     * @throws VerbsException if the device refuses
     */
    public long[] read(int places) throws VerbsException {
        return read(places, false);
    }

    /**
     * The same, as it was a little while ago where that is quicker. In C: {@code
     * IBV_READ_COUNTERS_ATTR_PREFER_CACHED}.
     */
    public long[] readCached(int places) throws VerbsException {
        return read(places, true);
    }

    private long[] read(int places, boolean cached) throws VerbsException {
        FieldRange.check("places", places, 1, Short.MAX_VALUE);
        return call(() ->
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

    private <T> T call(Device.DeviceCall<T> call) throws VerbsException {
        lifetime().hold();
        try {
            return device.inCall(call);
        } finally {
            lifetime().release();
        }
    }

    /** The device that counts. */
    public Device device() {
        return device;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
