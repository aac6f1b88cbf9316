package org.jrdma.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** The temporary files of a task, in a folder. A test can act before each write. */
record FakeDownloadFiles(Path folder, BeforeWrite beforeWrite) implements DownloadFileManager {

    /** Called on the thread that fetches the blocks. */
    interface BeforeWrite {

        /**
         * Runs before a write.
         *
         * @param number the number of the write to its file, from 1
         */
        void run(int number) throws IOException;
    }

    /** Returns these files for downloads of blocks above a length, with pieces of a length. */
    TemporaryBlockFiles forBlocksAbove(long bytes, long pieceBytes) {
        return new TemporaryBlockFiles(
                this, new TransportConf("shuffle", MapConfigProvider.EMPTY), bytes, pieceBytes);
    }

    /** The files that were not deleted. */
    List<Path> remaining() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Override
    public DownloadFile createTempFile(TransportConf conf) {
        var path = folder.resolve(UUID.randomUUID().toString());
        return new FakeFile(new SimpleDownloadFile(path.toFile(), conf), beforeWrite);
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
        return true;
    }

    private record FakeFile(DownloadFile file, BeforeWrite beforeWrite) implements DownloadFile {

        @Override
        public boolean delete() {
            return file.delete();
        }

        @Override
        public DownloadFileWritableChannel openForWriting() throws IOException {
            return new FakeChannel(file.openForWriting(), beforeWrite);
        }

        @Override
        public String path() {
            return file.path();
        }
    }

    private static final class FakeChannel implements DownloadFileWritableChannel {

        private final DownloadFileWritableChannel channel;
        private final BeforeWrite beforeWrite;
        private int writes;

        FakeChannel(DownloadFileWritableChannel channel, BeforeWrite beforeWrite) {
            this.channel = channel;
            this.beforeWrite = beforeWrite;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            beforeWrite.run(++writes);
            return channel.write(bytes);
        }

        @Override
        public ManagedBuffer closeAndRead() throws IOException {
            return channel.closeAndRead();
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
