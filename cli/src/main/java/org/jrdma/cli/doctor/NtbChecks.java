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
import org.jrdma.ffi.doctor.Machine;

/**
 * Dolphin's PCIe adapters, and what of this machine stands between them and other devices: as sysfs
 * tells it, so that it is known before a driver is there.
 */
final class NtbChecks {

    private static final String DEVICES = "sys/bus/pci/devices";

    /** PCI's number for Dolphin. The chip on the adapter is another vendor's. */
    private static final String DOLPHIN = "0x11c8";

    /** "Other bridge", unlike the ports of a switch and the DMA engines beside it. */
    private static final String CLASS_OF_NTB = "0x0680";

    /** Of a line of a device's file "resource", as the kernel's ioport.h has them. */
    private static final long PREFETCHABLE_MEMORY = 0x2200;

    private static final long NOT_ASSIGNED = 0x2000_0000;
    private static final int BASE_ADDRESSES = 6;

    /** What adapters come with. */
    private static final long FACTORY_WINDOW = 256L << 20;

    /** Of PCIe's configuration space: all that root sees, and where extended capabilities begin. */
    private static final int CONVENTIONAL = 256;

    private static final int MOST_CAPABILITIES = (4096 - CONVENTIONAL) / Long.BYTES;
    private static final int ACCESS_CONTROL = 0x000D;
    private static final int ACCESS_CONTROL_REGISTER = 6;

    /**
     * Requests and completions redirected, egress controlled: what keeps devices from each other.
     */
    private static final int REDIRECTS = 0x2C;

    private NtbChecks() {}

    static Stream<Finding> on(Machine machine) {
        var adapters =
                machine.names(DEVICES).stream()
                        .filter(address -> isAdapter(address, machine))
                        .toList();
        if (adapters.isEmpty()) {
            return Stream.of(
                    Finding.absent(
                            "NTB adapter",
                            "none of Dolphin's",
                            "SISCI needs one, or the software fabric: -Djrdma.fabric=software."));
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

    private static boolean isAdapter(String address, Machine machine) {
        return Stream.of("vendor", "subsystem_vendor")
                        .anyMatch(file -> attribute(address, file, machine).equals(DOLPHIN))
                && attribute(address, "class", machine).startsWith(CLASS_OF_NTB);
    }

    private static String attribute(String address, String file, Machine machine) {
        return machine.line("%s/%s/%s".formatted(DEVICES, address, file)).orElse("");
    }

    private static Finding driver(Machine machine) {
        return machine.lines("proc/modules").stream()
                        .anyMatch(line -> line.startsWith("dis_sisci "))
                ? Finding.fine("SISCI driver", "loaded")
                : Finding.broken(
                        "SISCI driver",
                        "not loaded, though there is an adapter",
                        "libsisci opens nothing",
                        "Install Dolphin's eXpressWare, and: systemctl start dis_sisci.");
    }

    /** What the segments of other nodes are mapped in. */
    private static Finding window(String address, Machine machine) {
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
                    "the firmware has given it no addresses",
                    "no segment of another node can be mapped",
                    "In the firmware's setup, switch on \"Above 4G Decoding\"; or ask for less, dis_config -spms 256, and start the machine anew.");
        }
        var seen = String.format(Locale.ROOT, "%,d MiB", bytes >> 20);
        return bytes <= FACTORY_WINDOW
                ? Finding.doubtful(
                        subject,
                        seen,
                        "all segments of other nodes that are mapped at once have to fit into it; what does not is refused for want of resources (HW_NOSPC)",
                        "In the firmware's setup, switch on \"Above 4G Decoding\"; then dis_config -spms 4096, and start the machine anew.")
                : Finding.fine(subject, seen);
    }

    /** How large it is by a line "start end flags"; 0 if it is something else, or nowhere. */
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
        var isThere = (flags & NOT_ASSIGNED) == 0 && numbers.get(1) > numbers.get(0);
        return isThere && (flags & PREFETCHABLE_MEMORY) == PREFETCHABLE_MEMORY
                ? numbers.get(1) - numbers.get(0) + 1
                : 0;
    }

    private static Finding translation(String address, Machine machine) {
        var subject = "adapter %s IOMMU".formatted(address);
        var type = attribute(address, "iommu_group/type", machine);
        return type.isEmpty() || type.equals("identity")
                ? Finding.fine(subject, type.isEmpty() ? "not behind one" : "passing through")
                : Finding.doubtful(
                        subject,
                        "addresses are translated (%s)".formatted(type),
                        "DMA is slower; and drivers, or devices lent to other nodes, that use the addresses of memory as they are do not work",
                        "iommu=pt on the kernel's command line");
    }

    /** On the way from the adapter to the root. */
    private static Finding redirection(String address, Machine machine) {
        var subject = "adapter %s ACS".formatted(address);
        var redirecting = new ArrayList<String>();
        for (var bridge : bridges(address, machine)) {
            try {
                var space = ByteBuffer.wrap(Files.readAllBytes(bridge.resolve("config")));
                if (space.capacity() < CONVENTIONAL) {
                    return Finding.hidden(subject, "for root alone to see");
                }
                if (redirects(space.order(ByteOrder.LITTLE_ENDIAN))) {
                    redirecting.add(bridge.getFileName().toString());
                }
            } catch (IOException e) {
                return Finding.hidden(subject, e.toString());
            }
        }
        return redirecting.isEmpty()
                ? Finding.fine(subject, "no bridge above it redirects")
                : Finding.doubtful(
                        subject,
                        "redirected to the root complex by " + String.join(", ", redirecting),
                        "what goes between the adapter and another device, a GPU or one that is lent, takes the long way or does not arrive",
                        "for each, setpci -s %s ECAP_ACS+6.w=0:2c until the next start; for good, pci=disable_acs_redir=%s on the kernel's command line"
                                .formatted(redirecting.getFirst(), String.join(";", redirecting)));
    }

    /** Each device's folder is in that of the bridge above it. */
    private static List<Path> bridges(String address, Machine machine) {
        var bridges = new ArrayList<Path>();
        try {
            var folder = machine.file(DEVICES + "/" + address).toRealPath().getParent();
            for (; Files.exists(folder.resolve("config")); folder = folder.getParent()) {
                bridges.add(folder);
            }
        } catch (IOException _) {
            // it has been taken out meanwhile
        }
        return bridges;
    }

    private static boolean redirects(ByteBuffer space) {
        var at = CONVENTIONAL;
        for (var seen = 0; seen < MOST_CAPABILITIES; seen++) {
            if (at < CONVENTIONAL || at + Long.BYTES > space.capacity()) {
                return false;
            }
            var header = space.getInt(at);
            if ((header & 0xFFFF) == ACCESS_CONTROL) {
                return (space.getShort(at + ACCESS_CONTROL_REGISTER) & REDIRECTS) != 0;
            }
            at = header >>> 20;
        }
        return false; // a list that is a circle
    }
}
