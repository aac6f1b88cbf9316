package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures a clustered volume over each path to its data. */
@Command(
        name = "volume",
        description = {
            "Measures reads and writes of a file in a clustered volume by block size, sequential and random, over each path to the data: direct, and redirected over verbs, SISCI and sockets. For direct, verbs and SISCI, it also measures the driver or the transport alone (raw).",
            "The drive is an NVMe controller in software, which a child process lends. The server is another child process. All of them use the software fabrics, also on a machine with devices.",
            Stability.DESCRIPTION
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class VolumePerfCommand implements Callable<Integer> {

    private static final String SISCI_FABRIC = "jrdma.sisci.fabric";

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "PATH",
            converter = VolumeDataPathKind.Converter.class,
            description =
                    "Paths to measure: direct, verbs, verbs-datagrams, sisci, sisci-sockets, tcp (default: all of them).")
    private List<VolumeDataPathKind> named = List.of();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            converter = Size.Converter.class,
            paramLabel = "SIZE",
            defaultValue = "4K,16K,64K,256K,1M,4M",
            description =
                    "Block sizes in bytes: multiples of 4K up to 4M. (default: ${DEFAULT-VALUE})")
    private List<Integer> sizes;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "MILLIS",
            converter = MillisecondsConverter.class,
            defaultValue = "200",
            description =
                    "Measurement time per figure, and warm-up time before it. (default: ${DEFAULT-VALUE})")
    private Duration time;

    @Mixin private PlotOption plot;

    private final List<VolumeResult> results = new ArrayList<>();
    private int problems;

    @Override
    public Integer call() throws IOException {
        checkSizes();
        plot.prepare();
        var folder = TemporaryFolder.create("jrdma-perf-");
        System.setProperty(ConfiguredFabric.PROPERTY, "software");
        System.setProperty(
                SISCI_FABRIC, Files.createDirectory(folder.resolve("fabric")).toString());
        measureAll(folder);
        if (output.isJson()) {
            out().println(Json.of(results));
        }
        plot.write(
                results.stream().map(VolumeResult::entry).toList(),
                VolumeResult.charts(results),
                VolumeResult.BY_SIZE,
                errors());
        return problems == 0 ? 0 : 1;
    }

    private void checkSizes() {
        for (var size : sizes) {
            if (size % Drive.BLOCK_BYTES != 0 || size > MeasuredVolume.MAX_ACCESS_BYTES) {
                throw new ParameterException(
                        command.commandLine(),
                        "The block size %s is not a multiple of 4K up to 4M"
                                .formatted(Size.toString(size)));
            }
        }
    }

    private void measureAll(java.nio.file.Path folder) throws IOException {
        var paths = named.isEmpty() ? List.of(VolumeDataPathKind.values()) : named;
        try (var drive = LentSoftwareDrive.start()) {
            try (var created = new DriveName(drive.ofClient()).open()) {
                VolumeServer.create(created);
            }
            for (var path : paths) {
                run(path.toString(), () -> measure(path, drive, folder));
            }
        }
        if (paths.stream().anyMatch(path -> !path.raw().isEmpty())) {
            try (var peer = ChildProcessPeer.start("perf", List.of("--fabric", "software"))) {
                for (var path : paths) {
                    for (var raw : path.raw()) {
                        run("raw " + raw, () -> measureRaw(path, raw, peer));
                    }
                }
            }
        }
    }

    @FunctionalInterface
    private interface Step {
        void run() throws IOException;
    }

    /** Reports a failure of a measurement, and keeps the results obtained before it. */
    private void run(String name, Step step) {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            problems++;
            errors().printf("%s: failed: %s%n", name, ExceptionText.of(e));
        }
    }

    private void measure(
            VolumeDataPathKind path, LentSoftwareDrive drive, java.nio.file.Path folder)
            throws IOException {
        try (var volume = MeasuredVolume.open(path, drive, folder)) {
            VolumeMeter.warmUp(volume, sizes.getFirst(), time);
            print("%n%s: %s".formatted(path, volume.connection()));
            for (var pattern : AccessOrder.Pattern.values()) {
                for (var operation : NvmeResult.Operation.values()) {
                    measure(volume, operation, pattern);
                }
            }
        }
    }

    private void measure(
            MeasuredVolume volume, NvmeResult.Operation operation, AccessOrder.Pattern pattern)
            throws IOException {
        print(VolumeResult.header(volume.path(), operation, pattern));
        if (volume.drive().isEmpty()) {
            for (var bytes : sizes) {
                add(VolumeMeter.measure(volume, operation, pattern, bytes, time));
            }
            return;
        }
        var drive = volume.drive().orElseThrow();
        var driverResults = new ArrayList<VolumeResult>();
        for (var bytes : sizes) {
            var measured =
                    VolumeMeter.measureInTurnsWithDriver(
                            volume, drive, operation, pattern, bytes, time);
            add(measured.volume());
            driverResults.add(measured.driver());
        }
        var name = "driver, %s %s".formatted(Json.name(pattern), Json.name(operation));
        print(VolumeResult.rawHeader(volume.path(), name));
        driverResults.forEach(this::add);
    }

    private void measureRaw(VolumeDataPathKind path, String raw, Peer peer) throws IOException {
        var measured =
                Paths.named(raw, Paths.all(Optional.of(Paths.Fabric.SOFTWARE), Optional.empty()));
        if (measured.missing().isPresent()) {
            throw new IOException(measured.missing().get());
        }
        var largest = sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
        try (var channel = peer.connect();
                var meter = MeasuringSide.open(channel, measured, largest)) {
            print(VolumeResult.rawHeader(path, raw));
            meter.warmUp(sizes.getFirst(), time);
            for (var bytes : sizes) {
                add(VolumeResult.ofRaw(path, meter.measureUntilStable(bytes, time)));
            }
        }
    }

    private void add(VolumeResult result) {
        results.add(result);
        print(result.row());
    }

    private void print(String text) {
        if (!output.isJson()) {
            out().println(text);
            out().flush();
        }
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    private PrintWriter errors() {
        return command.commandLine().getErr();
    }
}
