package org.jrdma.soft.roce.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * Finds the process that uses the RoCE UDP port, for messages about a port that cannot be opened.
 */
final class UdpPortOwnerFinder {

    private UdpPortOwnerFinder() {}

    /**
     * A socket in {@code /proc/net/udp} that uses the RoCE port.
     *
     * @param isWildcard true if the socket is bound to all addresses
     */
    private record Holder(String inode, boolean isWildcard) {}

    /**
     * Returns a sentence that names the process that uses the port at an address, and suggests a
     * fix.
     */
    static String describe(RoceGid address) {
        return describe(address, Path.of(address.isIpv4() ? "/proc/net/udp" : "/proc/net/udp6"));
    }

    static String describe(RoceGid address, Path table) {
        var holder = holder(address, table);
        var process = holder.flatMap(socket -> processOf(socket.inode()));
        if (holder.isPresent() && holder.get().isWildcard()) {
            return process.map(owner ->
                            "The port is held at all addresses by " + owner + ": end it first.")
                    .orElse(
                            "The port is held at all addresses, and no process that holds it was"
                                    + " found. The holder may be the kernel's rdma_rxe: unload it"
                                    + " (rmmod rdma_rxe), or use another network namespace.");
        }
        return process.map(owner -> "The port is held by " + owner + ": use another address.")
                .orElse(
                        "The port is held by a process that this user may not inspect: use another"
                                + " address.");
    }

    private static Optional<Holder> holder(RoceGid address, Path table) {
        var port = String.format(Locale.ROOT, ":%04X", PacketBuffer.UDP_PORT);
        try (var lines = Files.lines(table)) {
            return lines.map(line -> line.strip().split("\\s+"))
                    .filter(columns -> columns.length > 9 && columns[1].endsWith(port))
                    .map(columns -> holder(address, columns[1], columns[9]))
                    .flatMap(Optional::stream)
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Optional<Holder> holder(RoceGid address, String local, String inode) {
        var hex = local.substring(0, local.indexOf(':'));
        var isWildcard = hex.chars().allMatch(digit -> digit == '0');
        return isWildcard || hex.equals(hex(address))
                ? Optional.of(new Holder(inode, isWildcard))
                : Optional.empty();
    }

    /**
     * Formats an address as the {@code local_address} column of {@code /proc/net/udp} and {@code
     * /proc/net/udp6}: hexadecimal 32-bit words in native byte order.
     */
    private static String hex(RoceGid address) {
        var text = new StringBuilder();
        var words =
                address.isIpv4()
                        ? new int[] {(int) address.low()}
                        : new int[] {
                            (int) (address.high() >>> 32),
                            (int) address.high(),
                            (int) (address.low() >>> 32),
                            (int) address.low()
                        };
        for (var word : words) {
            text.append(String.format(Locale.ROOT, "%08X", BigEndian.swap(word)));
        }
        return text.toString();
    }

    private static Optional<String> processOf(String inode) {
        var socket = "socket:[" + inode + "]";
        return ProcessHandle.allProcesses()
                .filter(process -> holds(process.pid(), socket))
                .findFirst()
                .map(UdpPortOwnerFinder::describe);
    }

    private static boolean holds(long process, String socket) {
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/" + process + "/fd"))) {
            for (var descriptor : descriptors) {
                if (isLinkTo(descriptor, socket)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // The process belongs to another user or has ended.
        }
        return false;
    }

    private static boolean isLinkTo(Path descriptor, String socket) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(socket);
        } catch (IOException e) {
            return false; // The descriptor was closed.
        }
    }

    private static String describe(ProcessHandle process) {
        if (process.pid() == ProcessHandle.current().pid()) {
            return "this process";
        }
        return "process %d%s"
                .formatted(
                        process.pid(),
                        process.info()
                                .command()
                                .map(command -> " (" + Path.of(command).getFileName() + ")")
                                .orElse(""));
    }
}
