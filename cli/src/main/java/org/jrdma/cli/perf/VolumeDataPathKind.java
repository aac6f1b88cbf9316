package org.jrdma.cli.perf;

import java.util.Arrays;
import java.util.List;
import org.jrdma.cli.output.Json;
import org.jrdma.volume.net.TransportKind;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A path from a client of a volume to its data. */
enum VolumeDataPathKind {
    /** The client accesses the drive, whose controller it has borrowed. */
    DIRECT(TransportKind.SOCKETS, "tcp", ""),
    /** A server accesses the drive. The data is redirected by RDMA. */
    VERBS(TransportKind.VERBS, "tcp", "read,write"),
    /** A server accesses the drive. The data of large reads is redirected by datagrams. */
    VERBS_DATAGRAMS(TransportKind.VERBS, "tcp", ""),
    /** A server accesses the drive. The data is redirected by stores into SISCI segments. */
    SISCI(TransportKind.SISCI, "tcp", "pio,dma"),
    /** A server accesses the drive. The data is redirected over sockets that use SISCI. */
    SISCI_SOCKETS(TransportKind.SOCKETS, "sisci,tcp", ""),
    /** A server accesses the drive. The data is redirected over TCP. */
    TCP(TransportKind.SOCKETS, "tcp", "");

    private final TransportKind transport;
    private final String streams;
    private final String raw;

    VolumeDataPathKind(TransportKind transport, String streams, String raw) {
        this.transport = transport;
        this.streams = streams;
        this.raw = raw;
    }

    /** Parses the name of a path. */
    static final class Converter implements ITypeConverter<VolumeDataPathKind> {
        @Override
        public VolumeDataPathKind convert(String text) {
            return Arrays.stream(values())
                    .filter(path -> path.toString().equals(text))
                    .findFirst()
                    .orElseThrow(() ->
                            new TypeConversionException("there is no path \"%s\"".formatted(text)));
        }
    }

    /** Returns the transport of the connections of the client. */
    TransportKind transport() {
        return transport;
    }

    /** Returns the transports of sockets that the server accepts. */
    String streams() {
        return streams;
    }

    /** Returns the names of the {@link Path}s that show the transport without a volume. */
    List<String> raw() {
        return raw.isEmpty() ? List.of() : List.of(raw.split(",", -1));
    }

    @Override
    public String toString() {
        return Json.name(this);
    }
}
