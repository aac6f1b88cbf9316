package org.jrdma.volume.metadata;

import java.util.List;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** A change of the metadata. {@link Namespace#apply} is the only effect of a change. */
public sealed interface Change {

    /** The largest number of extents in one change, so that a change fits in a message. */
    int MAX_EXTENTS = 1000;

    /**
     * A client opened a session.
     *
     * @param key the key of the node of the client for the fence of the drive
     * @param name the name of the client for messages
     */
    record OpenSession(long session, long key, String name) implements Change {}

    /** A session ended. */
    record CloseSession(long session) implements Change {}

    /** A file or folder was created. */
    record Create(long id, long parent, String name, FileType type, int mode, long time)
            implements Change {}

    /** A name was removed. The file keeps its data until {@link Free}. */
    record Remove(long parent, String name, long time) implements Change {}

    /** A file or folder was moved. A file or an empty folder with the new name is replaced. */
    record Rename(long fromParent, String fromName, long toParent, String toName, long time)
            implements Change {}

    /** Data was written to a file: its size, and its new extents. */
    record Commit(long id, long size, long time, List<FileExtent> added) implements Change {}

    /** The size of a file was changed. Extents after the new size were freed. */
    record Truncate(long id, long size, long time) implements Change {}

    /** The mode and the time of modification were set. */
    record SetAttributes(long id, int mode, long modified) implements Change {}

    /** The data of a removed file was freed. */
    record Free(long id) implements Change {}

    /** Writes this change. */
    default void encode(Encoder encoder) {
        switch (this) {
            case OpenSession(var session, var key, var name) -> {
                encoder.writeByte(1);
                encoder.writeLong(session);
                encoder.writeLong(key);
                encoder.writeText(name);
            }
            case CloseSession(var session) -> {
                encoder.writeByte(2);
                encoder.writeLong(session);
            }
            case Create(var id, var parent, var name, var type, var mode, var time) -> {
                encoder.writeByte(3);
                encoder.writeLong(id);
                encoder.writeLong(parent);
                encoder.writeText(name);
                encoder.writeEnum(type);
                encoder.writeInt(mode);
                encoder.writeLong(time);
            }
            case Remove(var parent, var name, var time) -> {
                encoder.writeByte(4);
                encoder.writeLong(parent);
                encoder.writeText(name);
                encoder.writeLong(time);
            }
            case Rename(var fromParent, var fromName, var toParent, var toName, var time) -> {
                encoder.writeByte(5);
                encoder.writeLong(fromParent);
                encoder.writeText(fromName);
                encoder.writeLong(toParent);
                encoder.writeText(toName);
                encoder.writeLong(time);
            }
            case Commit(var id, var size, var time, var added) -> {
                encoder.writeByte(6);
                encoder.writeLong(id);
                encoder.writeLong(size);
                encoder.writeLong(time);
                encoder.writeList(added, (target, extent) -> extent.encode(target));
            }
            case Truncate(var id, var size, var time) -> {
                encoder.writeByte(7);
                encoder.writeLong(id);
                encoder.writeLong(size);
                encoder.writeLong(time);
            }
            case SetAttributes(var id, var mode, var modified) -> {
                encoder.writeByte(8);
                encoder.writeLong(id);
                encoder.writeInt(mode);
                encoder.writeLong(modified);
            }
            case Free(var id) -> {
                encoder.writeByte(9);
                encoder.writeLong(id);
            }
        }
    }

    /** Reads a change. {@link Namespace#apply} checks its values. */
    static Change decode(Decoder decoder) throws VolumeException {
        var type = decoder.readByte();
        return switch (type) {
            case 1 ->
                    new OpenSession(
                            decoder.readLong(),
                            decoder.readLong(),
                            decoder.readText(Names.MAX_BYTES));
            case 2 -> new CloseSession(decoder.readLong());
            case 3 ->
                    new Create(
                            decoder.readLong(),
                            decoder.readLong(),
                            decoder.readText(Names.MAX_BYTES),
                            decoder.readEnum(FileType.values()),
                            decoder.readInt(),
                            decoder.readLong());
            case 4 ->
                    new Remove(
                            decoder.readLong(),
                            decoder.readText(Names.MAX_BYTES),
                            decoder.readLong());
            case 5 ->
                    new Rename(
                            decoder.readLong(),
                            decoder.readText(Names.MAX_BYTES),
                            decoder.readLong(),
                            decoder.readText(Names.MAX_BYTES),
                            decoder.readLong());
            case 6 ->
                    new Commit(
                            decoder.readLong(),
                            decoder.readLong(),
                            decoder.readLong(),
                            decoder.readList(MAX_EXTENTS, FileExtent::decode));
            case 7 -> new Truncate(decoder.readLong(), decoder.readLong(), decoder.readLong());
            case 8 -> new SetAttributes(decoder.readLong(), decoder.readInt(), decoder.readLong());
            case 9 -> new Free(decoder.readLong());
            default ->
                    throw new VolumeException(
                            Failure.MALFORMED, "Malformed data: unknown change " + type);
        };
    }
}
