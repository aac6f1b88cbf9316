package org.jrdma.volume;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.net.NodeAddresses;
import org.jrdma.volume.net.NodeOptions;

/**
 * The options of a client. Immutable: the methods return a changed copy.
 *
 * @param name the name of the client in messages, and of the volume in URIs
 * @param servers the addresses of the servers, several for each server
 * @param drive the drive of the volume; empty to redirect all data to a server
 * @param node the transports and limits
 * @param callTimeout the longest wait for a reply, after which the client connects again
 * @param retryTimeout the time after which an operation fails if no coordinator executes it, or no
 *     path to the data works
 */
@CheckReturnValue
public record VolumeOptions(
        String name,
        List<List<String>> servers,
        Optional<Drive> drive,
        NodeOptions node,
        Duration callTimeout,
        Duration retryTimeout) {

    /**
     * Copies the addresses.
     *
     * @throws IllegalArgumentException if an address is invalid
     */
    public VolumeOptions {
        servers = servers.stream().map(List::copyOf).toList();
        servers.forEach(server -> server.forEach(NodeAddresses::check));
    }

    /**
     * Returns options with all transports, and timeouts of 5 and 30 seconds.
     *
     * @throws IllegalArgumentException if an address is invalid
     */
    public static VolumeOptions of(String name, List<List<String>> servers) {
        return new VolumeOptions(
                name,
                servers,
                Optional.empty(),
                NodeOptions.ALL,
                Duration.ofSeconds(5),
                Duration.ofSeconds(30));
    }

    /** Returns a copy with a {@link #drive()}, which the caller closes after the volume. */
    public VolumeOptions drive(Drive direct) {
        return new VolumeOptions(
                name, servers, Optional.of(direct), node, callTimeout, retryTimeout);
    }

    /** Returns a copy with other {@link #node()} options. */
    public VolumeOptions node(NodeOptions newOptions) {
        return new VolumeOptions(name, servers, drive, newOptions, callTimeout, retryTimeout);
    }

    /** Returns a copy with another {@link #callTimeout()}. */
    public VolumeOptions callTimeout(Duration timeout) {
        return new VolumeOptions(name, servers, drive, node, timeout, retryTimeout);
    }

    /** Returns a copy with another {@link #retryTimeout()}. */
    public VolumeOptions retryTimeout(Duration timeout) {
        return new VolumeOptions(name, servers, drive, node, callTimeout, timeout);
    }
}
