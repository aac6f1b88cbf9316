package org.jrdma.soft.roce.network;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.EngineOptions;

/**
 * What a port is made of.
 *
 * @param address the address of this machine whose packets it takes
 * @param socketBuffer how many bytes of datagrams are to wait in a socket; the kernel may set a
 *     limit below
 * @param random where keys and queue pair numbers come from; peers should be unable to guess it
 */
public record PortOptions(
        Address address, EngineOptions engine, int socketBuffer, RandomGenerator random) {

    /** The defaults. */
    public static PortOptions at(Address address) {
        return new PortOptions(address, EngineOptions.DEFAULTS, 8 << 20, new SecureRandom());
    }

    /** The same with another {@link #socketBuffer}. */
    public PortOptions withSocketBuffer(int bytes) {
        return new PortOptions(address, engine, bytes, random);
    }
}
