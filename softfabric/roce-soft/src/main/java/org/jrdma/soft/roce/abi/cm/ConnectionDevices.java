package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.verbs.ContextObject;
import org.jrdma.soft.roce.abi.verbs.ControlPathFunctions;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.network.Routes;
import org.jspecify.annotations.Nullable;

/**
 * The devices of this implementation of librdmacm, and the selection of a device by address. A
 * device is opened when an identifier first uses it. All {@code rdma_cm_id} objects share one
 * context of the device. Guarded by the lock of {@link ConnectionExports}.
 */
final class ConnectionDevices {

    private final List<DeviceObject> devices;

    /** The devices that are open. */
    private final Map<DeviceObject, ConnectionDevice> open = new HashMap<>();

    ConnectionDevices(List<DeviceObject> devices) {
        this.devices = List.copyOf(devices);
    }

    /**
     * Returns the device that has a local IP address, and counts the caller as a user of it. Opens
     * the device if it is not open.
     *
     * @throws ErrnoException if no device has the address, or the device cannot be opened
     */
    ConnectionDevice at(RoceGid address) {
        for (var device : devices) {
            if (device.possibleAddresses().contains(address)) {
                return retain(device, address);
            }
        }
        throw new ErrnoException(
                Errno.ENODEV,
                "No device has the address %s. Available devices: %s."
                        .formatted(address, describe()));
    }

    /**
     * Returns the devices of the requested address families, for a listener on a wildcard address,
     * and counts the caller as a user of each. Opens the devices that are not open.
     *
     * @param ipv4 true to include devices with an IPv4 address
     * @param ipv6 true to include devices with an IPv6 address
     * @throws ErrnoException if a device cannot be opened; no user is added to any device then
     */
    List<ConnectionDevice> all(boolean ipv4, boolean ipv6) {
        var all = new ArrayList<ConnectionDevice>();
        try {
            for (var device : devices) {
                if (device.possibleAddresses().getFirst().isIpv4() ? ipv4 : ipv6) {
                    all.add(retain(device, null));
                }
            }
            return all;
        } catch (Throwable e) {
            all.forEach(this::release);
            throw e;
        }
    }

    /**
     * Returns the device for connections to a destination, and counts the caller as a user of it.
     * Opens the device if it is not open. If the destination is the address of a device, that
     * device is returned. Otherwise it is the device with the address from which the kernel would
     * send, or another device on the same network interface.
     *
     * @throws ErrnoException if there is no route or no suitable device, or the device cannot be
     *     opened
     */
    ConnectionDevice routeTo(SocketName to) {
        var destination = to.address();
        for (var device : devices) {
            if (device.possibleAddresses().equals(List.of(destination))) {
                return retain(device, null);
            }
        }
        if (destination.isLinkLocal() && to.scope() == 0) {
            throw new ErrnoException(
                    Errno.EINVAL,
                    "%s is link-local: add the interface, as in %s%%eth0."
                            .formatted(destination, destination));
        }
        try {
            var source = Routes.sourceTo(destination, to.scope());
            DeviceObject neighbor = null;
            for (var device : devices) {
                if (device.possibleAddresses().equals(List.of(source))) {
                    return retain(device, null);
                }
                if (neighbor == null
                        && Routes.shareInterface(source, device.possibleAddresses().getFirst())) {
                    neighbor = device;
                }
            }
            if (neighbor != null) {
                return retain(neighbor, null);
            }
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
        throw new ErrnoException(
                Errno.ENODEV,
                "No device is on the interface of the route to %s. Available devices: %s."
                        .formatted(destination, describe()));
    }

    private String describe() {
        return devices.isEmpty()
                ? "none"
                : devices.stream()
                        .map(device -> {
                            var possible = device.possibleAddresses();
                            return possible.size() == 1
                                    ? device + " at " + possible.getFirst()
                                    : device + ", not open";
                        })
                        .collect(Collectors.joining(", "));
    }

    private ConnectionDevice retain(DeviceObject device, @Nullable RoceGid address) {
        var found = open.get(device);
        if (found == null) {
            var context = new ContextObject(device, address, ControlPathFunctions.ALL);
            try {
                found = new ConnectionDevice(context, device);
                open.put(device, found);
            } catch (Throwable e) {
                context.close();
                throw e;
            }
        }
        found.users++;
        return found;
    }

    /** Counts the caller as a user of an open device. */
    ConnectionDevice retain(ConnectionDevice device) {
        return retain(device.object(), null);
    }

    /** Removes a user from a device. Closes the device if it has no other users. */
    void release(ConnectionDevice device) {
        if (--device.users == 0) {
            open.remove(device.object());
            device.context().close();
        }
    }
}
