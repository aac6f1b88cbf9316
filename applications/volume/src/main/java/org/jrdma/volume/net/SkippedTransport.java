package org.jrdma.volume.net;

/**
 * A transport that is not used, and the reason.
 *
 * @param transport the transport
 * @param address the address of the attempt
 * @param reason the reason for which the transport was not used
 */
public record SkippedTransport(TransportKind transport, String address, String reason) {

    @Override
    public String toString() {
        return address + ": " + reason;
    }
}
