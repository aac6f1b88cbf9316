package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.cli.drive.BorrowedDrive;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.sisci.Sisci;

/**
 * A drive in software that a child process lends, with a controller for a server and one for a
 * client.
 */
final class LentSoftwareDrive implements AutoCloseable {

    /** The id of a device in the output of {@code jrdma lend}. */
    static final Pattern DEVICE = Pattern.compile("\"device\":\"(0x[0-9a-f]+)\"");

    private final Process process;
    private final String ofServer;
    private final String ofClient;

    private LentSoftwareDrive(Process process) throws IOException {
        this.process = process;
        try {
            ofServer = ChildProcessPeer.awaitLine(process, DEVICE).group(1);
            ofClient = ChildProcessPeer.awaitLine(process, DEVICE).group(1);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    static LentSoftwareDrive start() throws IOException {
        return new LentSoftwareDrive(
                ChildProcessPeer.start(
                        List.of("lend", "--json", ChildProcessPeer.OPTION, "--count=2", "nvme")));
    }

    /** Returns the process that executes the commands of the drive. */
    ProcessHandle process() {
        return process.toHandle();
    }

    /** Returns the id of the controller for the server. */
    String ofServer() {
        return ofServer;
    }

    /** Returns the id of the controller for the client. */
    String ofClient() {
        return ofClient;
    }

    /** Borrows the controller for the client. */
    BorrowedDrive borrow() throws FabricException {
        return BorrowedDrive.open(
                Sisci.configured(),
                FabricDeviceId.parse(ofClient),
                NvmeOptions.DEFAULTS.hostIdentifier(
                        HostIdentifier.of(ProcessHandle.current().pid())));
    }

    @Override
    public void close() throws IOException {
        ChildProcessPeer.close(process);
    }
}
