package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The data of a Connect command.
 *
 * @param host the identifier of the host, 128 bits
 * @param controllerId the id of the controller, or {@link #ANY_CONTROLLER}
 * @param subsystemName the qualified name of the subsystem
 * @param hostName the qualified name of the host
 */
public record ConnectData(
        HostIdentifier host, int controllerId, String subsystemName, String hostName) {

    /** The size in bytes. */
    public static final int BYTES = 1024;

    /** The controller id by which the admin queue requests a new controller. */
    public static final int ANY_CONTROLLER = 0xffff;

    private static final int CONTROLLER_ID = 16;
    private static final int SUBSYSTEM_NAME = 256;
    private static final int HOST_NAME = 512;

    /** Decodes the data; empty if a name is invalid. */
    public static Optional<ConnectData> decode(MemorySegment data) {
        return QualifiedName.decode(data, SUBSYSTEM_NAME)
                .flatMap(subsystem ->
                        QualifiedName.decode(data, HOST_NAME)
                                .map(host ->
                                        new ConnectData(
                                                HostIdentifier.decode(data, true),
                                                Fields.unsignedShort(data, CONTROLLER_ID),
                                                subsystem,
                                                host)));
    }

    /** Encodes the data into zeroed memory. */
    public void encode(MemorySegment data) {
        host.encode(data);
        Fields.putShort(data, CONTROLLER_ID, controllerId);
        QualifiedName.encode(data, SUBSYSTEM_NAME, subsystemName);
        QualifiedName.encode(data, HOST_NAME, hostName);
    }
}
