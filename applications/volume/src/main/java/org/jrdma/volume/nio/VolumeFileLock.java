package org.jrdma.volume.nio;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLock;

/** A lock on a range of a file. It becomes invalid if the session of the client ends. */
final class VolumeFileLock extends FileLock {

    private final VolumeFileChannel channel;
    private boolean isReleased;

    VolumeFileLock(VolumeFileChannel channel, long position, long size, boolean isShared) {
        super(channel, position, size, isShared);
        this.channel = channel;
    }

    /** Returns the first byte after a range, whose size can exceed the largest position. */
    static long end(long position, long size) {
        return size > Long.MAX_VALUE - position ? Long.MAX_VALUE : position + size;
    }

    @Override
    public synchronized boolean isValid() {
        return !isReleased
                && channel.isOpen()
                && channel.handle().holds(position(), end(position(), size()), isShared());
    }

    @Override
    public synchronized void release() throws IOException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        if (!isReleased) {
            isReleased = true;
            channel.released(this);
            channel.handle().unlock(position(), end(position(), size()), isShared());
        }
    }
}
