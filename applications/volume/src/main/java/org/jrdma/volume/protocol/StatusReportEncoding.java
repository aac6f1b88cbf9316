package org.jrdma.volume.protocol;

import java.util.List;
import java.util.Optional;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.RequestRedirection;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.model.VolumeUse;

/**
 * The encoding of the status of a server and of the reports of clients. Long texts and lists are
 * shortened, because the reports of several clients must fit into a message.
 */
public final class StatusReportEncoding {

    private static final int MAX_CHARACTERS = 250;

    /** A character has up to three bytes in UTF-8. */
    private static final int MAX_TEXT_BYTES = 3 * MAX_CHARACTERS;

    private static final int MAX_LINES = 4;
    private static final int MAX_ADDRESSES = 50;

    private StatusReportEncoding() {}

    /** Writes the status of a server. */
    public static void encode(Encoder encoder, ServerStatus state) {
        text(encoder, state.name());
        text(encoder, state.version());
        encoder.writeLong(state.epoch());
        encoder.writeBoolean(state.isServingBlocks());
        texts(encoder, state.addresses(), MAX_ADDRESSES);
        texts(encoder, state.unavailable(), MAX_LINES);
        text(encoder, state.drive());
        encoder.writeLong(state.driveBytes());
        encoder.writeBoolean(state.use().isPresent());
        state.use()
                .ifPresent(use -> {
                    encoder.writeLong(use.totalBytes());
                    encoder.writeLong(use.freeBytes());
                    encoder.writeLong(use.files());
                });
    }

    /** Reads the status of a server. */
    public static ServerStatus decodeServer(Decoder decoder) throws VolumeException {
        return new ServerStatus(
                text(decoder),
                text(decoder),
                decoder.readCount("an epoch"),
                decoder.readBoolean(),
                texts(decoder, MAX_ADDRESSES),
                texts(decoder, MAX_LINES),
                text(decoder),
                decoder.readCount("a number of bytes"),
                decoder.readBoolean() ? Optional.of(use(decoder)) : Optional.empty());
    }

    private static VolumeUse use(Decoder decoder) throws VolumeException {
        return new VolumeUse(
                decoder.readCount("a number of bytes"),
                decoder.readCount("a number of bytes"),
                decoder.readCount("a number of files"));
    }

    /** Writes the report of a client. */
    public static void encode(Encoder encoder, ClientReport state) {
        text(encoder, state.name());
        text(encoder, state.version());
        encode(encoder, state.coordinator());
        encoder.writeBoolean(state.redirection().isPresent());
        state.redirection()
                .ifPresent(redirection -> {
                    text(encoder, redirection.server());
                    text(encoder, redirection.reason());
                });
        encoder.writeEnum(state.data().kind());
        encoder.writeBoolean(state.data().connection().isPresent());
        state.data().connection().ifPresent(connection -> encode(encoder, connection));
        text(encoder, state.data().reason());
        encoder.writeInt(state.data().switches());
    }

    /** Reads the report of a client. */
    public static ClientReport decodeClient(Decoder decoder) throws VolumeException {
        return new ClientReport(
                text(decoder),
                text(decoder),
                connection(decoder),
                decoder.readBoolean()
                        ? Optional.of(new RequestRedirection(text(decoder), text(decoder)))
                        : Optional.empty(),
                new DataPathState(
                        decoder.readEnum(DataPathState.Kind.values()),
                        decoder.readBoolean() ? Optional.of(connection(decoder)) : Optional.empty(),
                        text(decoder),
                        decoder.readInt()));
    }

    private static void encode(Encoder encoder, ConnectionDescription state) {
        texts(encoder, state.server(), MAX_LINES);
        text(encoder, state.transport());
        text(encoder, state.description());
        texts(encoder, state.unused(), MAX_LINES);
    }

    private static ConnectionDescription connection(Decoder decoder) throws VolumeException {
        return new ConnectionDescription(
                texts(decoder, MAX_LINES), text(decoder), text(decoder), texts(decoder, MAX_LINES));
    }

    private static void texts(Encoder encoder, List<String> texts, int limit) {
        encoder.writeList(texts.stream().limit(limit).toList(), StatusReportEncoding::text);
    }

    private static List<String> texts(Decoder decoder, int limit) throws VolumeException {
        return decoder.readList(limit, StatusReportEncoding::text);
    }

    private static void text(Encoder encoder, String text) {
        var isShort = text.length() <= MAX_CHARACTERS;
        encoder.writeText(isShort ? text : text.substring(0, MAX_CHARACTERS - 1) + "…");
    }

    private static String text(Decoder decoder) throws VolumeException {
        return decoder.readText(MAX_TEXT_BYTES);
    }
}
