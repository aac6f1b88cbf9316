package org.jrdma.volume.net;

/**
 * A transport that was not used.
 *
 * @param transport the transport
 * @param address the address of the attempt
 * @param reason the reason for which the transport was not used
 */
public record TransportFailure(NodeTransport transport, String address, String reason) {

    @Override
    public String toString() {
        return address + ": " + reason;
    }
}
