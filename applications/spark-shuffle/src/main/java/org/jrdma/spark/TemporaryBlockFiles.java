package org.jrdma.spark;

import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;

/**
 * Creates the files for blocks that are too large for memory.
 *
 * @param manager the task's manager of temporary files
 * @param conf Spark's settings for reading the files
 * @param maxBytesInMemory the maximum length of a block that needs no file
 * @param pieceBytes the maximum length of a piece, which is read at once
 */
record TemporaryBlockFiles(
        DownloadFileManager manager, TransportConf conf, long maxBytesInMemory, long pieceBytes) {

    DownloadFile newFile() {
        return manager.createTempFile(conf);
    }

    /**
     * Has the task delete a file that was delivered to it; deletes it now if the task has ended.
     */
    void deleteWithTask(DownloadFile file) {
        if (!manager.registerTempFileToClean(file)) {
            file.delete();
        }
    }
}
