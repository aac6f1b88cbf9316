package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists a folder of a volume. */
@Command(
        name = "ls",
        description = "Lists a folder of a volume, or describes a file.",
        mixinStandardHelpOptions = true)
public final class LsCommand implements Callable<Integer> {

    /** The kind of an entry. */
    enum Kind {
        FILE,
        FOLDER
    }

    /** A file or folder, as the output has it. */
    record Entry(String name, Kind kind, long bytes, Instant modified) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SettingsOptions settings;

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            description =
                    "An absolute path, or servers and a path: node1,node2:/folder (default: /).")
    private String path = "/";

    @Override
    public Integer call() throws IOException {
        var location = location();
        var read = settings.read();
        List<Entry> entries;
        try (var volume = OpenVolume.open(read, location.servers().orElse(read.servers()))) {
            entries = entries(volume.path(location.path()));
        } catch (IOException e) {
            throw FileFailures.explain(e);
        }
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(entries));
        } else {
            for (var entry : entries) {
                out.println(
                        "%15s  %s  %s"
                                .formatted(
                                        entry.kind() == Kind.FOLDER
                                                ? "folder"
                                                : String.format(Locale.ROOT, "%,d", entry.bytes()),
                                        entry.modified().truncatedTo(ChronoUnit.SECONDS),
                                        PrintableText.of(entry.name())));
            }
        }
        return 0;
    }

    private VolumeFileLocation location() {
        try {
            return VolumeFileLocation.parse(path)
                    .orElseGet(() -> new VolumeFileLocation(Optional.empty(), absolute(path)));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }

    private static String absolute(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException(
                    "\"%s\" is not an absolute path such as /folder or node1:/folder"
                            .formatted(text));
        }
        return text;
    }

    private static List<Entry> entries(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of(entry(path));
        }
        var entries = new ArrayList<Entry>();
        try (var children = Files.newDirectoryStream(path)) {
            for (var child : children) {
                entries.add(entry(child));
            }
        }
        return entries;
    }

    private static Entry entry(Path path) throws IOException {
        var attributes = Files.readAttributes(path, BasicFileAttributes.class);
        return new Entry(
                String.valueOf(path.getFileName()),
                attributes.isDirectory() ? Kind.FOLDER : Kind.FILE,
                attributes.size(),
                attributes.lastModifiedTime().toInstant());
    }
}
