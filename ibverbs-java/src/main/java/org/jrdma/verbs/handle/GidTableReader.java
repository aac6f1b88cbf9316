package org.jrdma.verbs.handle;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;

/**
 * Reads the GID table of a port. Older libraries can read only single entries and do not report
 * their types. In this case, the types are read from sysfs.
 */
final class GidTableReader {

    private final DeviceHandle device;
    private final DeviceFunctions functions;

    GidTableReader(DeviceHandle device) {
        this.device = device;
        this.functions = device.library().devices();
    }

    List<GidEntry> read(int port) throws VerbsException {
        var attributes = device.port(port);
        var length = attributes.gidTableLength();
        var isRoce =
                attributes.linkLayer() == LinkLayer.ETHERNET
                        && device.description().transportType() == TransportType.INFINIBAND;
        var attempt = device.attempt("ibv_query_gid_table", port);
        var context = device.context().address();
        return device.call(() -> {
            var ports = functions.queryDevice(context, attempt).ports();
            var table = functions.queryGidTable(context, length * ports, attempt);
            var rows = table.isPresent() ? table.get() : oneByOne(port, length);
            return rows.stream()
                    .filter(row -> row.port() == port)
                    .map(row -> entry(row, isRoce))
                    .toList();
        });
    }

    /**
     * Reads the entries one by one and skips unused entries, which {@code ibv_query_gid_table} also
     * omits.
     */
    private List<DeviceFunctions.Gid> oneByOne(int port, int length) throws VerbsException {
        var rows = new ArrayList<DeviceFunctions.Gid>();
        var attempt = device.attempt("ibv_query_gid", port);
        for (var index = 0; index < length; index++) {
            var row = functions.queryGid(device.context().address(), port, index, attempt);
            if (row.prefix() != 0 || row.interfaceId() != 0) {
                rows.add(row);
            }
        }
        return rows;
    }

    /**
     * Converts an entry. If the library does not report the type, the type is read from sysfs,
     * where the GIDs of InfiniBand, iWARP and RoCE v1 have the same type name.
     *
     * @param isRoce true if the port is a RoCE port
     */
    private GidEntry entry(DeviceFunctions.Gid row, boolean isRoce) {
        var gid = new Gid(row.prefix(), row.interfaceId());
        if (row.type() >= 0) {
            return new GidEntry(
                    row.port(),
                    row.index(),
                    gid,
                    VerbsEnumCodes.GID_TYPE.of(row.type()),
                    interfaceName(row.netDeviceIndex()));
        }
        var attributes = device.sysfs().resolve("ports/%s/gid_attrs".formatted(row.port()));
        return new GidEntry(
                row.port(),
                row.index(),
                gid,
                switch (read(attributes.resolve("types/" + row.index()))) {
                    case "IB/RoCE v1" -> isRoce ? GidEntry.Type.ROCE_V1 : GidEntry.Type.INFINIBAND;
                    case "RoCE v2" -> GidEntry.Type.ROCE_V2;
                    default -> GidEntry.Type.UNKNOWN;
                },
                read(attributes.resolve("ndevs/" + row.index())));
    }

    private static String interfaceName(int index) {
        try {
            var found = index == 0 ? null : NetworkInterface.getByIndex(index);
            return found == null ? "" : found.getName();
        } catch (SocketException e) {
            return "";
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
