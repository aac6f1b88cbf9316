package org.jrdma.cli;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.perf.ChildProcessPeer;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.soft.sisci.device.EduDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lends a device in software to the nodes of the SISCI software fabric. */
@Command(
        name = "lend",
        description =
                "Lends a device in software to the nodes of the SISCI software fabric until it is stopped by Ctrl+C. Prints the id of the device, and a line when a borrow starts or ends. With --json each line is an object. The subcommands list the devices that nodes lend, and permit or refuse new borrows.",
        mixinStandardHelpOptions = true,
        subcommands = {
            LendListCommand.class,
            SetLendAvailabilityCommand.Available.class,
            SetLendAvailabilityCommand.Unavailable.class
        })
final class LendSoftwareDeviceCommand implements Callable<Integer> {

    private static final long NVME_BLOCKS = 16_384;
    private static final int NVME_BLOCK_BYTES = 4096;

    private static final int MAX_DEVICES = 64;

    /** The limit of events that wait for the output. Further events are not printed. */
    private static final int MAX_EVENTS = 1024;

    /** The devices by their names. */
    private static final Map<String, Supplier<Supplier<DeviceModel>>> MODELS =
            new TreeMap<>(
                    Map.of(
                            "edu",
                            () -> EduDevice::new,
                            "nvme",
                            LendSoftwareDeviceCommand::newDrive));

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DEVICE",
            arity = "0..1", // A subcommand has no device.
            description =
                    "The device: edu, which computes factorials, copies memory by DMA, and signals interrupts; or nvme, an NVMe controller with 64 MiB in memory.")
    private Optional<String> name = Optional.empty();

    @Option(
            names = "--unavailable",
            description = "Refuse borrows until \"jrdma lend available\" permits them.")
    private boolean isUnavailable;

    @Option(
            names = "--count",
            paramLabel = "COUNT",
            description =
                    "The number of devices to lend. Controllers nvme share one drive, so that each host can have a controller of its own. (default: 1)")
    private int count = 1;

    @Option(names = ChildProcessPeer.OPTION, hidden = true)
    private boolean isChild;

    private static Supplier<DeviceModel> newDrive() {
        // Hosts take drives with the same serial number for one drive.
        var serialNumber = "jrdma-%014x".formatted(new SecureRandom().nextLong() >>> 8);
        var subsystem = new Subsystem(serialNumber, "jrdma software drive");
        var _ = subsystem.addNamespace(BlockStorage.inMemory(NVME_BLOCKS, NVME_BLOCK_BYTES));
        return subsystem::newController;
    }

    /** The kind of event that a line of the output reports. */
    private enum Event {
        LENT,
        BORROWED,
        RETURNED
    }

    /**
     * The start or end of a borrow.
     *
     * @param device the number of the device, from 0
     */
    private record Borrow(int device, DeviceBorrowedOrReturnedEvent event) {}

    /** A line of the output. */
    private record Line(Event event, String device, int node, int borrows) {}

    @Override
    public Integer call() throws IOException {
        var model = model();
        if (count < 1 || count > MAX_DEVICES) {
            throw new ParameterException(
                    command.commandLine(),
                    "The number of devices must be from 1 to %d, but is %d"
                            .formatted(MAX_DEVICES, count));
        }
        if (isChild) {
            ChildProcessPeer.exitWithParent();
        }
        var library = new SoftSisci();
        var borrows = new ArrayBlockingQueue<Borrow>(MAX_EVENTS);
        var lent = new ArrayDeque<LentDevice>();
        try (var node = Sisci.from(library).open()) {
            try {
                var ids = new ArrayList<String>();
                while (ids.size() < count) {
                    var number = ids.size();
                    var device =
                            library.lend(
                                    model.get(), event -> borrows.offer(new Borrow(number, event)));
                    lent.push(device);
                    if (isUnavailable) {
                        device.makeUnavailable();
                    }
                    ids.add(FabricDeviceId.format(device.fabricDeviceId()));
                    print(new Line(Event.LENT, ids.getLast(), node.id(), 0));
                }
                printEach(borrows, ids);
            } finally {
                lent.forEach(LentDevice::close);
            }
        }
        return 0;
    }

    private Supplier<DeviceModel> model() {
        if (name.isEmpty()) {
            throw new ParameterException(
                    command.commandLine(), "Missing required parameter: 'DEVICE'");
        }
        var model = MODELS.get(name.get());
        if (model == null) {
            throw new ParameterException(
                    command.commandLine(),
                    "There is no device named %s. Available devices: %s."
                            .formatted(name.get(), String.join(", ", MODELS.keySet())));
        }
        return model.get();
    }

    private void printEach(BlockingQueue<Borrow> borrows, List<String> ids) {
        try {
            while (true) {
                var borrow = borrows.take();
                var event =
                        borrow.event().kind() == DeviceBorrowedOrReturnedEvent.Kind.BORROWED
                                ? Event.BORROWED
                                : Event.RETURNED;
                print(
                        new Line(
                                event,
                                ids.get(borrow.device()),
                                borrow.event().node(),
                                borrow.event().borrows()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The command ends here.
        }
    }

    private void print(Line line) {
        var text =
                switch (line.event()) {
                    case LENT ->
                            "%s, lent by node %d until Ctrl+C%s"
                                    .formatted(
                                            name.orElseThrow(),
                                            line.node(),
                                            isUnavailable ? ", not available to borrowers" : "");
                    case BORROWED, RETURNED ->
                            "%s by node %d, borrows: %d"
                                    .formatted(
                                            Json.name(line.event()), line.node(), line.borrows());
                };
        command.commandLine()
                .getOut()
                .println(
                        output.isJson()
                                ? Json.of(line)
                                : "device %s: %s".formatted(line.device(), text));
    }
}
