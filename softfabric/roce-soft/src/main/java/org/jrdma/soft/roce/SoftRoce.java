package org.jrdma.soft.roce;

import java.lang.foreign.SymbolLookup;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.ffi.JavaImplementedLibrary;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.cm.ConnectionExports;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.abi.verbs.VerbsLibrary;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;

/**
 * A software implementation of libibverbs and librdmacm whose devices use RoCE v2. It requires
 * neither an adapter nor a kernel module nor privileges. Each device has one IP address of this
 * machine. While a program has the device open, the device is bound to the RoCE UDP port (4791) at
 * that address. A peer can be any RoCEv2 implementation.
 *
 * <p>The devices exist until the JVM exits. Safe for use by multiple threads.
 */
public final class SoftRoce implements JavaImplementedLibrary {

    /** The maximum number of devices that {@link #onLoopback} creates. */
    public static final int MAX_ON_LOOPBACK = SoftRoceProperties.loopbackAddresses().size();

    private final List<SoftDevice> devices;
    private final SymbolLookup symbols;

    /**
     * Creates the devices that the {@code jrdma.soft.*} system properties configure. If {@code
     * jrdma.soft.devices} is not set, one device {@code soft0} is created. Its address is the first
     * of 127.0.0.1, 127.0.0.2, ... that is not in use when the device is opened.
     */
    public SoftRoce() {
        this(SoftRoceProperties.devices());
    }

    private SoftRoce(List<DeviceObject> objects) {
        devices = objects.stream().map(SoftDevice::new).toList();
        symbols = new VerbsLibrary(objects).or(ConnectionExports.library(objects));
    }

    /**
     * Creates devices {@code soft0}, {@code soft1}, ..., one for each of the given addresses of
     * this machine.
     *
     * @throws IllegalArgumentException if an address occurs twice
     */
    public static SoftRoce at(InetAddress... addresses) {
        var distinct = new HashSet<InetAddress>();
        for (var address : addresses) {
            if (!distinct.add(address)) {
                throw new IllegalArgumentException(
                        "Duplicate address "
                                + address.getHostAddress()
                                + ": each device needs an address of its own.");
            }
        }
        return new SoftRoce(
                IntStream.range(0, addresses.length)
                        .mapToObj(i -> device(i, List.of(RoceGid.of(addresses[i]))))
                        .toList());
    }

    /**
     * Creates devices {@code soft0}, {@code soft1}, ... with loopback addresses. The address of
     * each device is the first of 127.0.0.1, 127.0.0.2, ... that is not in use when the device is
     * opened.
     *
     * @param devices the number of devices, 0 to {@link #MAX_ON_LOOPBACK}
     * @throws IllegalArgumentException if {@code devices} is out of range
     */
    public static SoftRoce onLoopback(int devices) {
        if (devices < 0 || devices > MAX_ON_LOOPBACK) {
            throw new IllegalArgumentException(
                    "Cannot create %d devices on loopback: the number must be 0 to %d."
                            .formatted(devices, MAX_ON_LOOPBACK));
        }
        return new SoftRoce(
                IntStream.range(0, devices)
                        .mapToObj(i -> device(i, SoftRoceProperties.loopbackAddresses()))
                        .toList());
    }

    private static DeviceObject device(int number, List<RoceGid> addresses) {
        return new DeviceObject(
                "soft" + number,
                addresses,
                NetworkFaults.NONE,
                null,
                SoftRoceProperties.sharesMemory(),
                new SecureRandom());
    }

    /** The devices in the order of the numbers in their names: {@code soft0}, {@code soft1}, ... */
    public List<SoftDevice> devices() {
        return devices;
    }

    @Override
    public String name() {
        return "roce-soft";
    }

    @Override
    public String soname() {
        return "libibverbs.so.1";
    }

    @Override
    public SymbolLookup symbols() {
        return symbols;
    }

    @Override
    public String explanation() {
        return ErrorConvention.explanation();
    }
}
