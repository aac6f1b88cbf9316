package org.jrdma.soft.roce.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.packet.PacketBuffer;

/** Finds out who has taken RoCE's port. */
final class PortOwner {

    private PortOwner() {}

    /** A sentence for people, with what to do. */
    static String describe(Address address) {
        return process(address)
                .map(owner -> "It is held by " + owner + ": take another address.")
                .orElseGet(() ->
                        Files.isDirectory(Path.of("/sys/module/rdma_rxe"))
                                ? "The kernel's rdma_rxe is loaded, which takes this port of"
                                        + " all addresses: unload it (rmmod rdma_rxe), or go"
                                        + " to a network namespace that it does not serve."
                                : "Another process, which this user may not look at, holds"
                                        + " it: take another address.");
    }

    private static Optional<String> process(Address address) {
        return inode(address).flatMap(PortOwner::processOf);
    }

    /** The inode of the socket, or empty where it is the kernel's own. */
    private static Optional<String> inode(Address address) {
        var table = Path.of(address.isIpv4() ? "/proc/net/udp" : "/proc/net/udp6");
        var port = String.format(Locale.ROOT, ":%04X", PacketBuffer.UDP_PORT);
        try (var lines = Files.lines(table)) {
            return lines.map(line -> line.strip().split("\\s+"))
                    .filter(columns -> columns.length > 9 && columns[1].endsWith(port))
                    .filter(columns -> isAtOrEverywhere(columns[1], address))
                    .map(columns -> columns[9])
                    .filter(inode -> !inode.equals("0"))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isAtOrEverywhere(String column, Address address) {
        var hex = column.substring(0, column.indexOf(':'));
        return hex.chars().allMatch(digit -> digit == '0') || hex.equals(hex(address));
    }

    /** As the kernel prints it: words as they stand in memory. */
    private static String hex(Address address) {
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
            text.append(String.format(Locale.ROOT, "%08X", UdpSocket.networkOrder(word)));
        }
        return text.toString();
    }

    private static Optional<String> processOf(String inode) {
        var socket = "socket:[" + inode + "]";
        return ProcessHandle.allProcesses()
                .filter(process -> holds(process.pid(), socket))
                .findFirst()
                .map(PortOwner::describe);
    }

    private static boolean holds(long process, String socket) {
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/" + process + "/fd"))) {
            for (var descriptor : descriptors) {
                if (isLinkTo(descriptor, socket)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // another user's, or gone
        }
        return false;
    }

    private static boolean isLinkTo(Path descriptor, String socket) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(socket);
        } catch (IOException e) {
            return false; // closed since
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
