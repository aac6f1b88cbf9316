package org.jrdma.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.ffi.doctor.Verdict.ABSENT;
import static org.jrdma.ffi.doctor.Verdict.BROKEN;
import static org.jrdma.ffi.doctor.Verdict.DOUBTFUL;
import static org.jrdma.ffi.doctor.Verdict.FINE;
import static org.jrdma.ffi.doctor.Verdict.UNKNOWN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.LimitChecks;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.doctor.NetworkPathChecks;
import org.jrdma.ffi.doctor.RdmaDeviceChecks;
import org.jrdma.ffi.doctor.Verdict;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the doctor with a folder that simulates the files of a healthy machine, and of machines
 * with faults.
 */
class DoctorTest {

    private static final String PORT = "sys/class/infiniband/mlx5_0/ports/1/";

    @TempDir private Path root;

    @BeforeEach
    void createHealthyMachine() throws IOException {
        write("sys/class/infiniband/mlx5_0/node_type", "1: CA");
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
        write("dev/infiniband/uverbs0", "");
        write("dev/infiniband/rdma_cm", "");
        write("dev/shm/empty", "");
        write(PORT + "state", "4: ACTIVE");
        write(PORT + "link_layer", "Ethernet");
        gid(0, "fe80:0000:0000:0000:0000:0000:0000:0001", "IB/RoCE v1");
        gid(1, "0000:0000:0000:0000:0000:ffff:0a4d:0001", "RoCE v2");
        write("sys/class/net/eth0/mtu", "9000");
        write("sys/class/net/eth0/type", "1");
        write("proc/net/udp", "  sl  local_address rem_address\n   1: 0100007F:0035 0000:0 07");
        write("proc/7/comm", "java");
        write("proc/self/status", "Name:\tjava\nCapEff:\t0000000000000000");
        limits("unlimited", "1048576");
    }

    private void write(String path, String content) throws IOException {
        var file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    private void remove(String path) throws IOException {
        Files.delete(root.resolve(path));
    }

    private void gid(int row, String gid, String type) throws IOException {
        write(PORT + "gids/" + row, gid);
        write(PORT + "gid_attrs/types/" + row, type);
        write(PORT + "gid_attrs/ndevs/" + row, "eth0");
    }

    private void limits(String lockedMemory, String openFiles) throws IOException {
        write(
                "proc/self/limits",
                "Max locked memory         %s   unlimited  bytes\nMax open files            %s   1048576  files"
                        .formatted(lockedMemory, openFiles));
    }

    private Finding find(String subject) {
        return Doctor.examine(new MachineFiles(root)).stream()
                .filter(finding -> finding.subject().equals(subject))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no finding for " + subject));
    }

    private void assertFinding(String subject, Verdict verdict, String seen, String fix) {
        var finding = find(subject);
        assertThat(finding.verdict()).as(finding.toString()).isEqualTo(verdict);
        assertThat(finding.seen()).contains(seen);
        assertThat(finding.fix()).contains(fix);
        assertThat(finding.breaks().isEmpty()).isEqualTo(verdict == FINE || verdict == ABSENT);
    }

    @ParameterizedTest
    @CsvSource({
        "mlx5_0, /dev/infiniband/uverbs0 can be opened",
        "rdma_cm, /dev/infiniband/rdma_cm can be opened",
        "mlx5_0 port 1, active",
        "mlx5_0 port 1 addresses, '2 GIDs, of which 1 are of RoCE v2'",
        "mlx5_0 port 1 MTU, 'eth0 has 9000, which leaves 4096'",
        "UDP port 4791, free",
        "ibacm, not running",
        "locked memory, no limit",
        "descriptors, 'at most 1,048,576'",
        "IOMMU, off"
    })
    void shouldReportNoFaultOnAHealthyMachine(String subject, String seen) {
        assertFinding(subject, FINE, seen, "");
    }

    @Test
    void shouldSuggestADeviceIfTheMachineHasNone() throws IOException {
        var bare = new MachineFiles(Files.createDirectory(root.resolve("bare")));

        assertThat(RdmaDeviceChecks.on(bare))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.verdict()).isEqualTo(ABSENT);
                    assertThat(finding.fix()).contains("rdma link add", "-Djrdma.fabric=software");
                });
    }

    @Test
    void shouldReportAMissingUverbsModule() throws IOException {
        remove("sys/class/infiniband_verbs/uverbs0/ibdev");

        assertFinding("mlx5_0", BROKEN, "no device file", "modprobe ib_uverbs");
    }

    @Test
    void shouldReportAMissingDeviceFileInAContainer() throws IOException {
        remove("dev/infiniband/uverbs0");

        assertFinding(
                "mlx5_0",
                BROKEN,
                "/dev/infiniband/uverbs0 is missing",
                "--device /dev/infiniband/uverbs0");
    }

    @Test
    void shouldReportAMissingConnectionManagerFile() throws IOException {
        remove("dev/infiniband/rdma_cm");

        assertFinding("rdma_cm", BROKEN, "is missing", "modprobe rdma_ucm");
    }

    @Test
    void shouldReportAPortThatIsDown() throws IOException {
        write(PORT + "state", "1: DOWN");

        assertFinding("mlx5_0 port 1", BROKEN, "1: DOWN", "ip link set eth0 up");
    }

    @Test
    void shouldReportMissingAddresses() throws IOException {
        gid(0, "0000:0000:0000:0000:0000:0000:0000:0000", "");
        gid(1, "0000:0000:0000:0000:0000:0000:0000:0000", "");

        assertFinding(
                "mlx5_0 port 1 addresses", BROKEN, "no GID", "ip address add ADDRESS/24 dev eth0");
    }

    @Test
    void shouldWarnAboutLinkLocalAddresses() throws IOException {
        gid(1, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2");

        assertFinding("mlx5_0 port 1 addresses", DOUBTFUL, "link-local", "ip address add");
    }

    @Test
    void shouldNotCheckAddressesOnIwarp() throws IOException {
        write("sys/class/infiniband/mlx5_0/node_type", "4: RNIC");

        assertThat(Doctor.examine(new MachineFiles(root)))
                .noneMatch(finding -> finding.subject().endsWith("addresses"));
    }

    @ParameterizedTest
    @CsvSource({"1500, 1024", "4195, 2048", "356, 256"})
    void shouldWarnAboutASmallMtu(String mtu, String payload) throws IOException {
        write("sys/class/net/eth0/mtu", mtu);

        assertFinding(
                "mlx5_0 port 1 MTU",
                DOUBTFUL,
                "has %s, which leaves %s for".formatted(mtu, payload),
                "ip link set eth0 mtu 4200");
    }

    @Test
    void shouldWarnAboutDifferentMtus() throws IOException {
        var second = PORT.replace("ports/1", "ports/2");
        write(second + "state", "4: ACTIVE");
        write(second + "link_layer", "Ethernet");
        write(second + "gid_attrs/ndevs/0", "eth1");
        write("sys/class/net/eth1/mtu", "9000");
        assertThat(Doctor.examine(new MachineFiles(root)))
                .noneMatch(finding -> finding.subject().equals("MTU"));

        write("sys/class/net/eth1/mtu", "1500");
        assertFinding("MTU", DOUBTFUL, "{eth0=9000, eth1=1500}", "ip link set eth1 mtu 9000");
    }

    @Test
    void shouldReportThatTheKernelUsesTheRocePort() throws IOException {
        write("proc/net/udp", "  sl  local_address\n   1: 00000000:12B7 00000000:0000 07");

        assertFinding("UDP port 4791", DOUBTFUL, "in use at all", "rdma link delete");
    }

    @Test
    void shouldReportSoftwareDevicesOfOtherProcesses() throws IOException {
        write("proc/net/udp", "  sl  local_address\n   1: 0100007F:12B7 00000000:0000 07");

        assertFinding("UDP port 4791", FINE, "in use at 1 of", "");
    }

    @Test
    void shouldWarnAboutAFirewallWithoutARoceRule() {
        var closed = "type filter hook input priority filter; policy drop;";

        assertThat(NetworkPathChecks.firewall(List.of(closed)).verdict()).isEqualTo(DOUBTFUL);
        assertThat(NetworkPathChecks.firewall(List.of(closed, "udp dport 4791 accept")).verdict())
                .isEqualTo(FINE);
        assertThat(NetworkPathChecks.firewall(List.of()).verdict()).isEqualTo(FINE);
    }

    @Test
    void shouldWarnAboutIbacm() throws IOException {
        write("proc/8/comm", "ibacm");

        assertFinding("ibacm", DOUBTFUL, "running", "systemctl stop ibacm");
    }

    @Test
    void shouldWarnAboutConnectedModeOfIpOverInfiniband() throws IOException {
        write("sys/class/net/ib0/type", "32");
        write("sys/class/net/ib0/mode", "connected");

        assertFinding("ib0", DOUBTFUL, "connected mode", "echo datagram");
    }

    @Test
    void shouldReportALowLimitOfLockedMemory() throws IOException {
        limits("8388608", "1048576");

        assertFinding("locked memory", BROKEN, "at most 8,388,608 bytes", "memlock");
    }

    @Test
    void shouldIgnoreTheLimitOfLockedMemoryWithCapIpcLock() throws IOException {
        limits("8388608", "1048576");
        write("proc/self/status", "CapEff:\t00000000a80425fb");
        assertFinding("locked memory", BROKEN, "at most", "memlock");

        write("proc/self/status", "CapEff:\t0000000000004000");
        assertFinding("locked memory", FINE, "CAP_IPC_LOCK", "");
    }

    @Test
    void shouldWarnAboutALowLimitOfDescriptors() throws IOException {
        limits("unlimited", "1024");

        assertFinding("descriptors", DOUBTFUL, "at most 1,024", "ulimit -n");
    }

    @Test
    void shouldWarnAboutSmallSharedMemory() {
        assertThat(LimitChecks.sharedMemory(64 << 20, 1 << 20).verdict()).isEqualTo(DOUBTFUL);
        assertThat(LimitChecks.sharedMemory(1 << 30, 1 << 20).verdict()).isEqualTo(FINE);
    }

    @Test
    void shouldReportMissingSharedMemory() throws IOException {
        remove("dev/shm/empty");
        remove("dev/shm");

        assertFinding("/dev/shm", BROKEN, "missing", "mount -t tmpfs");
    }

    @Test
    void shouldReadTheFamilyOfSuperSockets() throws IOException {
        assertFinding("SuperSockets", ABSENT, "not loaded", "dis_supersockets");

        write("proc/net/af_ssocks/family", "27");
        assertFinding("SuperSockets", FINE, "family 27", "");
    }

    @Test
    void shouldReportThatThereIsNoNtbAdapter() throws IOException {
        assertFinding(
                "NTB adapter", ABSENT, "no adapter of Dolphin found", "-Djrdma.fabric=software");
    }

    /**
     * Adds an adapter below a root port. Its subsystem vendor is Dolphin, and its chip is from
     * another vendor.
     */
    private void addAdapter(String window) throws IOException {
        var port = "sys/devices/pci0000:00/0000:00:01.0/";
        var slot = port + "0000:03:00.0/";
        write(slot + "vendor", "0x10b5");
        write(slot + "subsystem_vendor", "0x11c8");
        write(slot + "class", "0x068000");
        write(
                slot + "resource",
                """
                0x00000000fb000000 0x00000000fb03ffff 0x0000000000040200
                %s
                0x0000000000000000 0x0000000000000000 0x0000000000000000\
                """
                        .formatted(window));
        write(slot + "iommu_group/type", "identity");
        write("proc/modules", "dis_sisci 1 0 - Live 0x0\ndis_irm 1 1 dis_sisci, Live 0x0");
        writeAccessControl(0x01);
        var devices = Files.createDirectories(root.resolve("sys/bus/pci/devices"));
        Files.createSymbolicLink(devices.resolve("0000:03:00.0"), root.resolve(slot));
        Files.createSymbolicLink(devices.resolve("0000:00:01.0"), root.resolve(port));
    }

    /** Writes the ACS capability of the port after another capability at a higher address. */
    private void writeAccessControl(int control) throws IOException {
        var space = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        space.putInt(0x100, 0x1F0 << 20 | 0x1_0001);
        space.putInt(0x1F0, 0x140 << 20 | 0x1_0003);
        space.putInt(0x140, 0x1_000D);
        space.putShort(0x146, (short) control);
        Files.write(root.resolve("sys/devices/pci0000:00/0000:00:01.0/config"), space.array());
    }

    private static final String FOUR_GIB =
            "0x0000380000000000 0x00003800ffffffff 0x000000000014220c";

    @ParameterizedTest
    @CsvSource({
        "SISCI driver, loaded",
        "adapter 0000:03:00.0 window, '4,096 MiB'",
        "adapter 0000:03:00.0 IOMMU, pass-through",
        "adapter 0000:03:00.0 ACS, no bridge above the adapter redirects"
    })
    void shouldReportNoFaultOfAHealthyAdapter(String subject, String seen) throws IOException {
        addAdapter(FOUR_GIB);

        assertFinding(subject, FINE, seen, "");
    }

    @Test
    void shouldReportAMissingDriverOfAnAdapter() throws IOException {
        addAdapter(FOUR_GIB);
        write("proc/modules", "dis_sisci_of_another 1 0 - Live 0x0");

        assertFinding("SISCI driver", BROKEN, "not loaded", "systemctl start dis_sisci");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0x0000000000000000 0x0000000000000000 0x0000000000000000",
                "0x0000000000000000 0x00000000ffffffff 0x000000002014220c"
            })
    void shouldReportAWindowWithoutAddresses(String window) throws IOException {
        addAdapter(window);

        assertFinding("adapter 0000:03:00.0 window", BROKEN, "no addresses", "Above 4G Decoding");
    }

    @Test
    void shouldWarnAboutTheFactoryWindow() throws IOException {
        addAdapter("0x00000000d0000000 0x00000000dfffffff 0x0000000000142208");

        assertFinding("adapter 0000:03:00.0 window", DOUBTFUL, "256 MiB", "dis_config -spms");
    }

    @Test
    void shouldWarnAboutAddressTranslation() throws IOException {
        addAdapter(FOUR_GIB);
        write("sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/iommu_group/type", "DMA-FQ");

        assertFinding("adapter 0000:03:00.0 IOMMU", DOUBTFUL, "translated (DMA-FQ)", "iommu=pt");
    }

    @ParameterizedTest
    @ValueSource(ints = {0x04, 0x08, 0x20, 0x7F})
    void shouldWarnAboutABridgeThatRedirects(int control) throws IOException {
        addAdapter(FOUR_GIB);
        writeAccessControl(control);

        assertFinding(
                "adapter 0000:03:00.0 ACS",
                DOUBTFUL,
                "by 0000:00:01.0",
                "pci=disable_acs_redir=0000:00:01.0");
    }

    @Test
    void shouldReportThatOnlyRootCanReadABridge() throws IOException {
        addAdapter(FOUR_GIB);
        Files.write(root.resolve("sys/devices/pci0000:00/0000:00:01.0/config"), new byte[64]);

        var finding = find("adapter 0000:03:00.0 ACS");

        assertThat(finding.verdict()).isEqualTo(UNKNOWN);
        assertThat(finding.seen()).contains("root only");
    }

    @Test
    void shouldRequireALibraryOnlyIfThereAreDevices() throws IOException {
        var bare = new MachineFiles(Files.createDirectory(root.resolve("bare")));
        LibraryChecks.Library missing =
                () -> {
                    throw new LibraryNotFoundException("The library is missing.", "Install it.");
                };

        assertThat(LibraryChecks.check("librdmacm", missing, new MachineFiles(root)).verdict())
                .isEqualTo(BROKEN);
        var absent = LibraryChecks.check("librdmacm", missing, bare);
        assertThat(absent.verdict()).isEqualTo(ABSENT);
        assertThat(absent.seen()).isEqualTo("The library is missing.");
        assertThat(absent.fix()).isEqualTo("Install it.");
    }

    private void mellanox(int entries, long memoryKibibytes) throws IOException {
        write("sys/class/infiniband/mlx4_0/node_type", "1: CA");
        write("sys/module/mlx4_core/parameters/log_num_mtt", Integer.toString(entries));
        write("sys/module/mlx4_core/parameters/log_mtts_per_seg", "3");
        write("proc/meminfo", "MemTotal:       %d kB\nMemFree: 1 kB".formatted(memoryKibibytes));
    }

    @Test
    void shouldWarnIfAnOldMellanoxAdapterCannotRegisterAllMemory() throws IOException {
        mellanox(20, 67_108_864);

        assertFinding(
                "mlx4_core",
                DOUBTFUL,
                "32,768 MiB can be registered, and the machine has 65,536 MiB",
                "options mlx4_core log_num_mtt=22 log_mtts_per_seg=3");
    }

    @ParameterizedTest
    @CsvSource({"21, '65,536 MiB can be registered'", "0, all memory can be registered"})
    void shouldAcceptAnOldMellanoxAdapterThatCanRegisterAllMemory(int entries, String seen)
            throws IOException {
        mellanox(entries, 67_108_864);

        assertFinding("mlx4_core", FINE, seen, "");
    }

    @ParameterizedTest
    @CsvSource({"hfi1_0, hfi1", "qib0, ib_qib"})
    void shouldWarnAboutFewReceiveQueuesOfOmniPathAndTrueScale(String device, String driver)
            throws IOException {
        write("sys/class/infiniband/%s/node_type".formatted(device), "1: CA");
        assertFinding(
                driver,
                DOUBTFUL,
                "the default number of receive queues",
                "options %s krcvqs=4".formatted(driver));

        write("sys/module/%s/parameters/krcvqs".formatted(driver), "1,2");
        assertFinding(driver, DOUBTFUL, "3 receive queues", "krcvqs=4");

        write("sys/module/%s/parameters/krcvqs".formatted(driver), "4");
        assertFinding(driver, FINE, "4 receive queues", "");
    }

    @Test
    void shouldCompareTheBuffersOfTcpWithTheSpeedOfTheInterface() throws IOException {
        write("sys/class/net/eth0/speed", "100000");
        write("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456");
        write("proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304");

        assertFinding(
                "eth0 tcp_rmem", FINE, "enough for a round trip of 503 us at 100,000 Mb/s", "");
        assertFinding(
                "eth0 tcp_wmem",
                DOUBTFUL,
                "at most 4,194,304 bytes, enough for a round trip of 335 us",
                "sysctl -w net.ipv4.tcp_wmem=\"4096 131072 6250000\"");

        write("sys/class/net/eth0/speed", "1000");
        assertThat(TcpBufferChecks.on(new MachineFiles(root))).isEmpty();
    }
}
