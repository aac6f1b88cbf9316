package org.jrdma.cli.doctor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;

/**
 * Checks of Dolphin's PCIe adapters and of the bridges above them. The checks read sysfs, so they
 * work before a driver is loaded.
 */
final class NtbChecks {

    private static final String DEVICES = "sys/bus/pci/devices";

    /** Dolphin's PCI vendor ID. It is the subsystem vendor if another vendor made the chip. */
    private static final String DOLPHIN = "0x11c8";

    /** PCI class "other bridge". Switch ports and DMA engines of the adapter have other classes. */
    private static final String NTB_CLASS = "0x0680";

    /** Flags of a line in the sysfs file "resource", defined in the kernel's ioport.h. */
    private static final long PREFETCHABLE_MEMORY = 0x2200;

    private static final long NOT_ASSIGNED = 0x2000_0000;
    private static final int BASE_ADDRESSES = 6;

    /** The window size of an adapter with factory settings. */
    private static final long FACTORY_WINDOW = 256L << 20;

    /**
     * The size of the conventional PCI configuration space and the offset of the extended
     * capabilities.
     */
    private static final int CONVENTIONAL = 256;

    private static final int MAX_CAPABILITIES = (4096 - CONVENTIONAL) / Long.BYTES;
    private static final int ACCESS_CONTROL = 0x000D;
    private static final int ACCESS_CONTROL_REGISTER = 6;

    /**
     * The bits of the ACS control register for request redirect, completion redirect and egress
     * control. Each bit prevents direct transfers between devices.
     */
    private static final int REDIRECTS = 0x2C;

    private NtbChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        var adapters =
                machine.names(DEVICES).stream()
                        .filter(address -> isAdapter(address, machine))
                        .toList();
        if (adapters.isEmpty()) {
            return Stream.of(
                    Finding.absent(
                            "NTB adapter",
                            "no adapter of Dolphin found",
                            "SISCI needs an adapter or the software fabric: -Djrdma.fabric=software."));
        }
        return Stream.concat(
                Stream.of(driver(machine)),
                adapters.stream()
                        .flatMap(address ->
                                Stream.of(
                                        window(address, machine),
                                        translation(address, machine),
                                        redirection(address, machine))));
    }

    private static boolean isAdapter(String address, MachineFiles machine) {
        return Stream.of("vendor", "subsystem_vendor")
                        .anyMatch(file -> attribute(address, file, machine).equals(DOLPHIN))
                && attribute(address, "class", machine).startsWith(NTB_CLASS);
    }

    private static String attribute(String address, String file, MachineFiles machine) {
        return machine.line("%s/%s/%s".formatted(DEVICES, address, file)).orElse("");
    }

    private static Finding driver(MachineFiles machine) {
        return machine.lines("proc/modules").stream()
                        .anyMatch(line -> line.startsWith("dis_sisci "))
                ? Finding.fine("SISCI driver", "loaded")
                : Finding.broken(
                        "SISCI driver",
                        "not loaded, although there is an adapter",
                        "libsisci cannot open the adapter",
                        "Install Dolphin's eXpressWare and run \"systemctl start dis_sisci\".");
    }

    /** Checks the size of the window in which segments of other nodes are mapped. */
    private static Finding window(String address, MachineFiles machine) {
        var subject = "adapter %s window".formatted(address);
        var bytes =
                machine.lines("%s/%s/resource".formatted(DEVICES, address)).stream()
                        .limit(BASE_ADDRESSES)
                        .mapToLong(NtbChecks::window)
                        .max()
                        .orElse(0);
        if (bytes == 0) {
            return Finding.broken(
                    subject,
                    "the firmware has assigned no addresses",
                    "no segment of another node can be mapped",
                    "Enable \"Above 4G Decoding\" in the firmware setup, or request a smaller window with \"dis_config -spms 256\" and restart the machine.");
        }
        var seen = String.format(Locale.ROOT, "%,d MiB", bytes >> 20);
        return bytes <= FACTORY_WINDOW
                ? Finding.doubtful(
                        subject,
                        seen,
                        "all segments of other nodes that are mapped at the same time must fit into the window; further maps fail with HW_NOSPC",
                        "Enable \"Above 4G Decoding\" in the firmware setup, run \"dis_config -spms 4096\" and restart the machine.")
                : Finding.fine(subject, seen);
    }

    /**
     * Returns the size of the address window from a line "start end flags" of the sysfs file
     * "resource". Returns 0 unless the line describes assigned prefetchable memory.
     */
    private static long window(String resource) {
        var numbers =
                Stream.of(resource.strip().split("\\s+", -1))
                        .filter(number -> number.startsWith("0x"))
                        .map(number -> Long.parseUnsignedLong(number.substring(2), 16))
                        .toList();
        if (numbers.size() != 3) {
            return 0;
        }
        var flags = numbers.get(2);
        var isAssigned = (flags & NOT_ASSIGNED) == 0 && numbers.get(1) > numbers.get(0);
        return isAssigned && (flags & PREFETCHABLE_MEMORY) == PREFETCHABLE_MEMORY
                ? numbers.get(1) - numbers.get(0) + 1
                : 0;
    }

    private static Finding translation(String address, MachineFiles machine) {
        var subject = "adapter %s IOMMU".formatted(address);
        var type = attribute(address, "iommu_group/type", machine);
        return type.isEmpty() || type.equals("identity")
                ? Finding.fine(subject, type.isEmpty() ? "not behind an IOMMU" : "pass-through")
                : Finding.doubtful(
                        subject,
                        "addresses are translated (%s)".formatted(type),
                        "DMA is slower; drivers, and devices lent to other nodes, that use physical addresses do not work",
                        "Add iommu=pt to the kernel command line.");
    }

    /**
     * Checks whether the bridges between the adapter and the root complex redirect traffic between
     * devices, because of access control services (ACS).
     */
    private static Finding redirection(String address, MachineFiles machine) {
        var subject = "adapter %s ACS".formatted(address);
        var redirecting = new ArrayList<String>();
        for (var bridge : bridges(address, machine)) {
            try {
                var space = ByteBuffer.wrap(Files.readAllBytes(bridge.resolve("config")));
                if (space.capacity() < CONVENTIONAL) {
                    return Finding.unknown(subject, "visible to root only");
                }
                if (redirects(space.order(ByteOrder.LITTLE_ENDIAN))) {
                    redirecting.add(bridge.getFileName().toString());
                }
            } catch (IOException e) {
                return Finding.unknown(subject, e.toString());
            }
        }
        return redirecting.isEmpty()
                ? Finding.fine(subject, "no bridge above the adapter redirects")
                : Finding.doubtful(
                        subject,
                        "redirected to the root complex by " + String.join(", ", redirecting),
                        "transfers between the adapter and another device, such as a GPU or a lent device, are slower or fail",
                        "Until the next restart, run \"setpci -s %s ECAP_ACS+6.w=0:2c\" for each bridge. Permanently, add pci=disable_acs_redir=%s to the kernel command line."
                                .formatted(redirecting.getFirst(), String.join(";", redirecting)));
    }

    /** Returns the sysfs folders of the bridges above a device, nearest first. */
    private static List<Path> bridges(String address, MachineFiles machine) {
        var bridges = new ArrayList<Path>();
        try {
            var folder = machine.file(DEVICES + "/" + address).toRealPath().getParent();
            for (; Files.exists(folder.resolve("config")); folder = folder.getParent()) {
                bridges.add(folder);
            }
        } catch (IOException _) {
            // The device was removed.
        }
        return bridges;
    }

    private static boolean redirects(ByteBuffer space) {
        var at = CONVENTIONAL;
        for (var seen = 0; seen < MAX_CAPABILITIES; seen++) {
            if (at < CONVENTIONAL || at + Long.BYTES > space.capacity()) {
                return false;
            }
            var header = space.getInt(at);
            if ((header & 0xFFFF) == ACCESS_CONTROL) {
                return (space.getShort(at + ACCESS_CONTROL_REGISTER) & REDIRECTS) != 0;
            }
            at = header >>> 20;
        }
        return false; // The capability list is circular.
    }
}
