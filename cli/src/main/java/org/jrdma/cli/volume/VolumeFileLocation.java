package org.jrdma.cli.volume;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jrdma.volume.net.NodeAddresses;

/**
 * A file or folder in a volume.
 *
 * @param servers the addresses of each server; empty for the servers of the settings
 * @param path the absolute path in the volume
 */
record VolumeFileLocation(Optional<List<List<String>>> servers, String path) {

    private static final String SCHEME = "jrdma-volume:";

    /** Servers and a path that starts with a slash. No slash precedes the colon between them. */
    private static final Pattern SERVERS_AND_PATH = Pattern.compile("([^/]*):(/.*)");

    /**
     * Parses a URI such as {@code jrdma-volume://node1:7471,node2:7471/file}, or servers and a path
     * such as {@code node1,node2:/file}. Without servers, {@code :/file} is a file of the volume
     * that the settings select.
     *
     * @return empty if the text is the name of a local file
     * @throws IllegalArgumentException if the URI or a server is invalid
     */
    static Optional<VolumeFileLocation> parse(String text) {
        if (text.startsWith(SCHEME)) {
            return Optional.of(parseUri(text));
        }
        var form = SERVERS_AND_PATH.matcher(text);
        return form.matches()
                ? Optional.of(new VolumeFileLocation(servers(form.group(1)), form.group(2)))
                : Optional.empty();
    }

    private static VolumeFileLocation parseUri(String text) {
        try {
            var uri = new URI(text);
            if (uri.getRawAuthority() == null || uri.getQuery() != null) {
                throw new IllegalArgumentException(
                        "\"%s\" is not a URI such as jrdma-volume://node1:7471,node2:7471/file"
                                .formatted(text));
            }
            return new VolumeFileLocation(
                    servers(uri.getRawAuthority()), uri.getPath().isEmpty() ? "/" : uri.getPath());
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "\"%s\" is not a URI: %s".formatted(text, e.getReason()), e);
        }
    }

    private static Optional<List<List<String>>> servers(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(NodeAddresses.servers(text));
    }
}
