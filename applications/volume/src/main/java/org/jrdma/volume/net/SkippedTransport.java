package org.jrdma.volume.net;

/**
 * The reason for which a transport is not used.
 *
 * @param transport the transport
 * @param address the address of the attempt
 * @param reason the reason for which the transport was not used
 */
public record SkippedTransport(NodeTransport transport, String address, String reason) {

    @Override
    public String toString() {
        return address + ": " + reason;
    }
}
