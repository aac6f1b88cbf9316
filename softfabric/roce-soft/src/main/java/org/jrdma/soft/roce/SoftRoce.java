package org.jrdma.soft.roce;

import java.lang.foreign.SymbolLookup;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.ffi.SoftwareLibrary;
import org.jrdma.soft.roce.abi.Failure;
import org.jrdma.soft.roce.abi.cm.ConnectionExports;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.abi.verbs.VerbsLibrary;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.model.NetworkFaults;

/**
 * RoCEv2 in Java, as a libibverbs, and the librdmacm beside it, whose devices need neither an
 * adapter nor a kernel module nor a privilege. Each device is at an address of this machine, takes
 * the UDP port of RoCE there while a program has it open, and speaks to whatever speaks RoCEv2.
 *
 * <p>It stays for as long as the JVM runs. Safe for use by several threads.
 */
public final class SoftRoce implements SoftwareLibrary {

    /** How many devices {@link #onLoopback} makes at most. */
    public static final int MOST_ON_LOOPBACK = SoftRoceProperties.loopbackAddresses().size();

    private final List<SoftDevice> devices;
    private final SymbolLookup symbols;

    /**
     * The devices that the system properties say, see {@link SoftRoceProperties}: by default {@code
     * soft0}, at the first of 127.0.0.1, 127.0.0.2, ... that is free when it is opened.
     */
    public SoftRoce() {
        this(SoftRoceProperties.devices());
    }

    private SoftRoce(List<DeviceObject> objects) {
        devices = objects.stream().map(SoftDevice::new).toList();
        symbols = new VerbsLibrary(objects).or(ConnectionExports.library(objects));
    }

    /**
     * Devices {@code soft0}, {@code soft1}, ... at these addresses of this machine.
     *
     * @throws IllegalArgumentException if there is one twice: a device has its address for itself
     */
    public static SoftRoce at(InetAddress... addresses) {
        var different = new HashSet<InetAddress>();
        for (var address : addresses) {
            if (!different.add(address)) {
                throw new IllegalArgumentException(
                        address.getHostAddress() + " is there twice, and can be one device's only");
            }
        }
        return new SoftRoce(
                IntStream.range(0, addresses.length)
                        .mapToObj(i -> device(i, List.of(Address.of(addresses[i]))))
                        .toList());
    }

    /**
     * So many devices, each at the first of 127.0.0.1, 127.0.0.2, ... that is free.
     *
     * @param devices 0 to {@link #MOST_ON_LOOPBACK}
     */
    public static SoftRoce onLoopback(int devices) {
        if (devices < 0 || devices > MOST_ON_LOOPBACK) {
            throw new IllegalArgumentException(
                    "%d devices on loopback; there can be 0 to %d"
                            .formatted(devices, MOST_ON_LOOPBACK));
        }
        return new SoftRoce(
                IntStream.range(0, devices)
                        .mapToObj(i -> device(i, SoftRoceProperties.loopbackAddresses()))
                        .toList());
    }

    private static DeviceObject device(int number, List<Address> addresses) {
        return new DeviceObject(
                "soft" + number, addresses, NetworkFaults.NONE, null, new SecureRandom());
    }

    /** Its devices, in their order. */
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
        return Failure.explanation();
    }
}
