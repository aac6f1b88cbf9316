package org.jrdma.volume.nio;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The entries of a folder, which are read in portions. Entries that are created or removed
 * meanwhile may appear or not.
 */
final class VolumeFolder implements DirectoryStream<Path> {

    private final VolumePath folder;
    private final Filter<? super Path> filter;
    private final ArrayDeque<Path> pending = new ArrayDeque<>();
    private String last = "";
    private boolean isComplete;
    private boolean isIterated;
    private boolean isClosed;

    VolumeFolder(VolumePath folder, Filter<? super Path> filter) throws IOException {
        this.folder = folder;
        this.filter = filter;
        readPortion();
    }

    private void readPortion() throws IOException {
        var entries =
                FileSystemExceptions.translate(
                        folder, () -> folder.fileSystem().client().list(folder.toFilePath(), last));
        isComplete = entries.isEmpty();
        for (var entry : entries) {
            last = entry.name();
            var path = folder.resolve(VolumePath.parse(folder.fileSystem(), entry.name()));
            if (filter.accept(path)) {
                pending.add(path);
            }
        }
    }

    @Override
    public Iterator<Path> iterator() {
        if (isIterated || isClosed) {
            throw new IllegalStateException("The folder was closed, or its entries were returned");
        }
        isIterated = true;
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return hasMore();
            }

            @Override
            public Path next() {
                return take();
            }
        };
    }

    private synchronized boolean hasMore() {
        try {
            while (pending.isEmpty() && !isComplete && !isClosed) {
                readPortion();
            }
        } catch (IOException e) {
            throw new DirectoryIteratorException(e);
        }
        return !pending.isEmpty();
    }

    private synchronized Path take() {
        if (!hasMore()) {
            throw new NoSuchElementException();
        }
        return pending.remove();
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        while (pending.size() > 1) { // hasNext() may have announced the first entry
            pending.removeLast();
        }
        folder.fileSystem().remove(this);
    }
}
