package org.jrdma.soft.roce.network;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.soft.roce.engine.EngineOptions;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The options of a port.
 *
 * @param address the address of this machine at which the port receives
 * @param engine the options of the engine
 * @param socketBuffer the requested size of socket buffers in bytes, which the kernel may reduce
 * @param random the random generator for keys and queue pair numbers, which must be unpredictable
 *     to peers
 * @param sharesMemory true if packets to and from peers on this machine may pass through shared
 *     memory
 */
@CheckReturnValue
public record PortOptions(
        RoceGid address,
        EngineOptions engine,
        int socketBuffer,
        RandomGenerator random,
        boolean sharesMemory) {

    /** Returns the default options for an address. */
    public static PortOptions at(RoceGid address) {
        return new PortOptions(address, EngineOptions.DEFAULTS, 8 << 20, new SecureRandom(), true);
    }

    /** Returns a copy with another value of {@link #socketBuffer}. */
    public PortOptions socketBuffer(int bytes) {
        return new PortOptions(address, engine, bytes, random, sharesMemory);
    }

    /** Returns a copy with another value of {@link #sharesMemory}. */
    public PortOptions sharesMemory(boolean shares) {
        return new PortOptions(address, engine, socketBuffer, random, shares);
    }
}
