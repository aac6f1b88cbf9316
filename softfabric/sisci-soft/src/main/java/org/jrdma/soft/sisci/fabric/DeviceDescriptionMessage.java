package org.jrdma.soft.sisci.fabric;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.device.DeviceHost;
import org.jrdma.soft.sisci.device.DeviceIdentity;

/**
 * The description of a device in a message between processes. The value of the message has the
 * flags of the state. The payload is the number of borrows, their nodes and the identity.
 *
 * @param identity the identity of the device
 * @param state its borrows, and whether it can be borrowed
 */
record DeviceDescriptionMessage(DeviceIdentity identity, LendingState state) {

    /** Sends this description as the response to a request. */
    void respond(Connection to, Message request) {
        var encodedIdentity = DeviceIdentityCodec.encode(identity);
        var borrowers = state.borrowers();
        var data =
                ByteBuffer.allocate(Integer.BYTES * (1 + borrowers.size()) + encodedIdentity.length)
                        .putInt(borrowers.size());
        borrowers.forEach(data::putInt);
        to.respondWithData(request, state.flags(), data.put(encodedIdentity).array());
    }

    /** Decodes the response of another process. Returns empty if it is malformed. */
    static Optional<DeviceDescriptionMessage> decode(Message response) {
        return decode(response.value(), response.data());
    }

    static Optional<DeviceDescriptionMessage> decode(long flags, byte[] data) {
        var source = ByteBuffer.wrap(data);
        var count = source.remaining() < Integer.BYTES ? -1 : source.getInt();
        if (count < 0
                || count > DeviceHost.MAX_BORROWERS
                || source.remaining() < count * Integer.BYTES) {
            return Optional.empty();
        }
        var borrowers = new ArrayList<Integer>();
        for (var i = 0; i < count; i++) {
            borrowers.add(source.getInt());
        }
        var encodedIdentity = new byte[source.remaining()];
        source.get(encodedIdentity);
        return DeviceIdentityCodec.decode(encodedIdentity)
                .map(identity ->
                        new DeviceDescriptionMessage(
                                identity, LendingState.of(flags, List.copyOf(borrowers))));
    }
}
