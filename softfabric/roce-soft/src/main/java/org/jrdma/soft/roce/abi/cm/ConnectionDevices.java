package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.verbs.ContextFunctions;
import org.jrdma.soft.roce.abi.verbs.ContextObject;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.network.Routes;
import org.jspecify.annotations.Nullable;

/**
 * The devices as the connection manager has them open, one context each for all identifiers, and
 * which of them an address means. Under the connection manager's lock.
 */
final class ConnectionDevices {

    private final List<DeviceObject> devices;
    private final Map<DeviceObject, ConnectionDevice> open = new HashMap<>();

    ConnectionDevices(List<DeviceObject> devices) {
        this.devices = List.copyOf(devices);
    }

    /**
     * Opens the device at an address, for one user more.
     *
     * @throws ErrnoException if there is none
     */
    ConnectionDevice at(Address address) {
        for (var device : devices) {
            if (device.possibleAddresses().contains(address)) {
                return retain(device, address);
            }
        }
        throw new ErrnoException(
                Errno.ENODEV, "%s is of no device: there is %s.".formatted(address, describe()));
    }

    /**
     * Opens those that a wildcard address stands for, for one user more.
     *
     * @throws ErrnoException if one cannot be opened; then none is
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
        } catch (ErrnoException e) {
            all.forEach(this::release);
            throw e;
        }
    }

    /**
     * Opens the device that leads to an address, for one user more: the one that has it, or else
     * one on the interface that the kernel would send from.
     *
     * @throws ErrnoException if there is none
     */
    ConnectionDevice leadingTo(SocketName to) {
        var destination = to.address();
        for (var device : devices) {
            if (device.possibleAddresses().equals(List.of(destination))) {
                return retain(device, null);
            }
        }
        if (Routes.isLinkLocal(destination) && to.scope() == 0) {
            throw new ErrnoException(
                    Errno.EINVAL,
                    "%s is on a link: say of which interface, as in %s%%eth0."
                            .formatted(destination, destination));
        }
        try {
            var source = Routes.sourceTo(destination, to.scope());
            DeviceObject neighbour = null;
            for (var device : devices) {
                if (device.possibleAddresses().equals(List.of(source))) {
                    return retain(device, null);
                }
                if (neighbour == null
                        && Routes.shareInterface(source, device.possibleAddresses().getFirst())) {
                    neighbour = device;
                }
            }
            if (neighbour != null) {
                return retain(neighbour, null);
            }
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
        throw new ErrnoException(
                Errno.ENODEV,
                "No device is on the interface that leads there: there is %s."
                        .formatted(describe()));
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

    private ConnectionDevice retain(DeviceObject device, @Nullable Address address) {
        var found = open.get(device);
        if (found == null) {
            var context = new ContextObject(device, address, ContextFunctions.ALL);
            try {
                found = new ConnectionDevice(context, device);
            } catch (ErrnoException e) {
                context.close();
                throw e;
            }
            open.put(device, found);
        }
        found.users++;
        return found;
    }

    /** Opens one for one user more, that has one. */
    ConnectionDevice again(ConnectionDevice device) {
        return retain(device.object(), null);
    }

    /** Closes one for one user; for the last, altogether. */
    void release(ConnectionDevice device) {
        if (--device.users == 0) {
            open.remove(device.object());
            device.context().close();
        }
    }
}
