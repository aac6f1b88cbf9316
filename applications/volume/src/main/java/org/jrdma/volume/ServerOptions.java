package org.jrdma.volume;

import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.volume.net.NodeOptions;

/**
 * The options of a server. Immutable: the methods return a changed copy.
 *
 * @param name the name of the server in messages
 * @param others the addresses of the other servers, several for each server
 * @param node the transports, addresses and limits
 * @param lease the time after which a coordinator that does not renew its lease has lost its role;
 *     the same on all servers, in milliseconds
 * @param sessionTimeout the time after which a client that sends no heartbeat may no longer use the
 *     drives; the same on all servers
 */
@CheckReturnValue
public record ServerOptions(
        String name,
        List<List<String>> others,
        NodeOptions node,
        Duration lease,
        Duration sessionTimeout) {

    /** Copies the addresses. */
    public ServerOptions {
        others = others.stream().map(List::copyOf).toList();
    }

    /** Returns options for a server without others, with all transports and leases of 5 seconds. */
    public static ServerOptions named(String name) {
        return new ServerOptions(
                name, List.of(), NodeOptions.ALL, Duration.ofSeconds(5), Duration.ofSeconds(5));
    }

    /** Returns a copy with other {@link #others()}. */
    public ServerOptions others(List<List<String>> addresses) {
        return new ServerOptions(name, addresses, node, lease, sessionTimeout);
    }

    /** Returns a copy with other {@link #node()} options. */
    public ServerOptions node(NodeOptions newOptions) {
        return new ServerOptions(name, others, newOptions, lease, sessionTimeout);
    }

    /** Returns a copy with another {@link #lease()}. */
    public ServerOptions lease(Duration duration) {
        return new ServerOptions(name, others, node, duration, sessionTimeout);
    }

    /** Returns a copy with another {@link #sessionTimeout()}. */
    public ServerOptions sessionTimeout(Duration timeout) {
        return new ServerOptions(name, others, node, lease, timeout);
    }
}
