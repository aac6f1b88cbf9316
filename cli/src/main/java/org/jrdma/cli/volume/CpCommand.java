package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.NodeSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies files into a volume, out of it, or between volumes. */
@Command(
        name = "cp",
        description =
                "Copies a file or folder into a volume, out of it, or between volumes. A file in a volume is SERVERS:/PATH, such as node1,node2:/file; or :/file with the servers of the settings; or a URI, such as jrdma-volume://node1:7471/file.",
        mixinStandardHelpOptions = true)
public final class CpCommand implements Callable<Integer> {

    /**
     * The result, as the output has it.
     *
     * @param data the path to the data of each volume
     */
    record Copied(int files, long bytes, double seconds, List<String> data) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SettingsOptions settings;

    @Option(
            names = {"-r", "--recursive"},
            description = "Copy a folder with its content.")
    private boolean isRecursive;

    @Parameters(index = "0", paramLabel = "SOURCE", description = "The file or folder to copy.")
    private String source;

    @Parameters(
            index = "1",
            paramLabel = "TARGET",
            description = "The copy, or a folder for it. An existing file is replaced.")
    private String target;

    private final Map<List<List<String>>, OpenVolume> volumes = new HashMap<>();

    @Override
    public Integer call() throws IOException {
        var read = settings.read();
        var from = location(source);
        var to = location(target);
        if (from.isEmpty() && to.isEmpty()) {
            throw new ParameterException(
                    command.commandLine(),
                    "Neither %s nor %s is in a volume, such as node1:/file"
                            .formatted(source, target));
        }
        try {
            var started = System.nanoTime();
            var original = path(read, from, source);
            if (Files.isDirectory(original) && !isRecursive) {
                throw new IOException("%s is a folder: use --recursive.".formatted(source));
            }
            var copier = new FileCopier(original, copy(original, path(read, to, target)));
            copier.copy();
            print(
                    new Copied(
                            copier.files(),
                            copier.bytes(),
                            (System.nanoTime() - started) / 1e9,
                            data()));
        } catch (IOException e) {
            throw FileFailures.explain(e);
        } finally {
            volumes.values().forEach(OpenVolume::close);
        }
        return 0;
    }

    private Optional<VolumeFileLocation> location(String text) {
        try {
            return VolumeFileLocation.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }

    private Path path(NodeSettings read, Optional<VolumeFileLocation> location, String local)
            throws FabricException {
        if (location.isEmpty()) {
            return Path.of(local);
        }
        var servers = location.get().servers().orElse(read.servers());
        var volume = volumes.get(servers);
        if (volume == null) {
            volume = OpenVolume.open(read, servers);
            volumes.put(servers, volume);
        }
        return volume.path(location.get().path());
    }

    /** Returns the path of the copy, which is in the target if that is a folder. */
    private static Path copy(Path from, Path to) {
        var name = from.getFileName();
        return Files.isDirectory(to) && name != null ? to.resolve(name.toString()) : to;
    }

    private List<String> data() {
        return volumes.values().stream().map(OpenVolume::dataPath).toList();
    }

    private void print(Copied copied) {
        command.commandLine()
                .getOut()
                .println(
                        output.isJson()
                                ? Json.of(copied)
                                : String.format(
                                        Locale.ROOT,
                                        "Copied %,d bytes in %d %s in %.2f s (%s).",
                                        copied.bytes(),
                                        copied.files(),
                                        copied.files() == 1 ? "file" : "files",
                                        copied.seconds(),
                                        String.join("; ", copied.data())));
    }
}
