package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.Charset;

/**
 * The address family of Unix domain sockets, whose addresses are file system paths. In C: {@code
 * AF_UNIX}, {@code sockaddr_un}.
 */
public final class UnixFamily extends SocketAddressConverter {

    public static final UnixFamily INSTANCE = new UnixFamily();

    private static final UnixDomainSocketAddress UNNAMED = UnixDomainSocketAddress.of("");
    private static final int PATH_OFFSET = 2;
    private static final int MAX_PATH_BYTES = 107; // The path without the terminating zero.
    private static final Charset PATH_CHARSET =
            Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    private UnixFamily() {}

    public UnixDomainSocketAddress unnamed() {
        return UNNAMED;
    }

    @Override
    public UnixDomainSocketAddress check(SocketAddress address) {
        if (!(address instanceof UnixDomainSocketAddress unix)) {
            throw address == null
                    ? new NullPointerException()
                    : new UnsupportedAddressTypeException();
        }
        return unix;
    }

    @Override
    public int write(SocketAddress address, MemorySegment name) throws SocketException {
        var path = ((UnixDomainSocketAddress) address).getPath().toString().getBytes(PATH_CHARSET);
        if (path.length > MAX_PATH_BYTES) {
            throw new SocketException("Unix domain path too long");
        }
        name.fill((byte) 0);
        name.set(JAVA_SHORT, 0, (short) SocketCalls.AF_UNIX);
        MemorySegment.copy(path, 0, name, JAVA_BYTE, PATH_OFFSET, path.length);
        return PATH_OFFSET + path.length + 1;
    }

    @Override
    public UnixDomainSocketAddress read(SocketAddressBuffer from) {
        var length = from.length() - PATH_OFFSET;
        if (length <= 0 || from.memory().get(JAVA_BYTE, PATH_OFFSET) == 0) {
            // The socket may also have an abstract address, which Java cannot represent.
            return UNNAMED;
        }
        var path = from.memory().asSlice(PATH_OFFSET, length).toArray(JAVA_BYTE);
        var text = new String(path, PATH_CHARSET);
        var end = text.indexOf('\0');
        return UnixDomainSocketAddress.of(end < 0 ? text : text.substring(0, end));
    }
}
