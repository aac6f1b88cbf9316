package org.jrdma.soft.sisci.fabric;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jrdma.soft.sisci.device.DeviceIdentity;

/** Encodes the identity of a device for messages between processes. */
final class DeviceIdentityCodec {

    private static final int FIXED_BYTES = 5 * Integer.BYTES + Long.BYTES;

    private DeviceIdentityCodec() {}

    static byte[] encode(DeviceIdentity identity) {
        var name = identity.name().getBytes(ISO_8859_1);
        return ByteBuffer.allocate(FIXED_BYTES + name.length)
                .putInt(identity.vendorId())
                .putInt(identity.deviceId())
                .putInt(identity.classCode())
                .putInt(identity.subsystemVendorId())
                .putInt(identity.subsystemId())
                .putLong(identity.serialNumber())
                .put(name)
                .array();
    }

    /** Decodes an identity that another process has sent. Returns empty if it is malformed. */
    static Optional<DeviceIdentity> decode(byte[] data) {
        try {
            var source = ByteBuffer.wrap(data);
            return Optional.of(
                    new DeviceIdentity(
                            source.getInt(),
                            source.getInt(),
                            source.getInt(),
                            source.getInt(),
                            source.getInt(),
                            source.getLong(),
                            new String(data, FIXED_BYTES, source.remaining(), ISO_8859_1)));
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
