package org.jrdma.volume.history;

import java.io.IOException;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;

/** A server of a volume in a process of its own, which a test can kill. */
final class ServerProcess extends JavaProcess {

    private static final Pattern START_OF_EPOCH = Pattern.compile("in epoch (\\d+): \\d+ files");

    private long lastEpoch;

    ServerProcess(HistoryVolume volume, int number) throws IOException {
        super(
                volume.folder().resolve("server-%d.log".formatted(number)),
                ServerProcess.class,
                volume.arguments(number));
    }

    /** Returns the epoch that the server has started last; 0 if it was never the coordinator. */
    long lastEpoch() throws IOException {
        for (var line : newLines()) {
            var matcher = START_OF_EPOCH.matcher(line);
            if (matcher.find()) {
                lastEpoch = Long.parseLong(matcher.group(1));
            }
        }
        return lastEpoch;
    }

    /** Arguments: those of the volume, and the number of the server. */
    public static void main(String... arguments) throws Exception {
        endWithInput();
        var volume = HistoryVolume.of(arguments);
        var number = Integer.parseInt(HistoryVolume.argument(0, arguments));
        var port = volume.ports().get(number);
        var others = volume.ports().stream().filter(other -> !other.equals(port)).toList();
        var drive = BorrowedDrive.openWhenLent(volume, number + 1);
        var options =
                ServerOptions.named("server-" + number)
                        .others(others.stream().map(HistoryVolume::address).toList())
                        .node(volume.nodeOptions(port))
                        .lease(HistoryVolume.LEASE)
                        .sessionTimeout(HistoryVolume.SESSION_TIMEOUT);
        while (true) {
            try {
                var _ = VolumeServer.start(drive, options);
                Thread.currentThread().join();
            } catch (FabricException e) {
                System.out.println("The server cannot start yet: " + e.getMessage());
                Thread.sleep(100);
            }
        }
    }
}
