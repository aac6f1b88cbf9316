package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import org.jrdma.sockets.channel.StreamChannel;

/**
 * The socket that a socket factory returns. It behaves like a socket of the JDK's default factory
 * where that differs from the socket of a channel.
 */
final class FactorySocket extends SocketAdaptor {

    private static final int MAX_LINGER_SECONDS = 65_535;

    private final StreamChannel channel;

    private FactorySocket(StreamChannel channel) throws SocketException {
        super(channel);
        this.channel = channel;
    }

    static FactorySocket of(StreamChannel channel) {
        try {
            return new FactorySocket(channel);
        } catch (SocketException e) {
            throw new AssertionError("The constructor of Socket does not throw", e);
        }
    }

    @Override
    public void connect(SocketAddress address, int timeout) throws IOException {
        ClosedSocketExceptions.callOnSocket(() -> {
            super.connect(address, timeout);
            return null;
        });
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
        return ClosedSocketExceptions.callOnSocket(() -> super.setOption(name, value));
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return ClosedSocketExceptions.callOnSocket(() -> super.getOption(name));
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        ClosedSocketExceptions.callOnSocket(() -> {
            super.bind(address);
            return null;
        });
    }

    /** Returns true even if the socket is closed, if it was connected before. */
    @Override
    public boolean isConnected() {
        return channel.wasConnected();
    }

    @Override
    public void shutdownInput() throws IOException {
        if (!isClosed() && isInputShutdown()) {
            throw new SocketException("Socket input is already shutdown");
        }
        ClosedSocketExceptions.callOnSocket(() -> {
            super.shutdownInput();
            return null;
        });
    }

    @Override
    public void shutdownOutput() throws IOException {
        if (!isClosed() && isOutputShutdown()) {
            throw new SocketException("Socket output is already shutdown");
        }
        ClosedSocketExceptions.callOnSocket(() -> {
            super.shutdownOutput();
            return null;
        });
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        ClosedSocketExceptions.callOnStream(() -> {
            super.sendUrgentData(data);
            return null;
        });
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        if (timeout < 0 && !isClosed()) {
            throw new IllegalArgumentException("timeout can't be negative");
        }
        super.setSoTimeout(timeout);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        if (on && seconds < 0 && !isClosed()) {
            throw new IllegalArgumentException("invalid value for SO_LINGER");
        }
        super.setSoLinger(on, Math.min(seconds, MAX_LINGER_SECONDS));
    }

    @Override
    public void setTrafficClass(int trafficClass) throws SocketException {
        if (trafficClass < 0 || trafficClass > 255) {
            throw new IllegalArgumentException("tc is not in range 0 -- 255");
        }
        super.setTrafficClass(trafficClass);
    }

    @Override
    public InputStream getInputStream() throws IOException {
        var input = super.getInputStream();
        return new InputStream() {
            @Override
            public int read() throws IOException {
                return ClosedSocketExceptions.callOnStream(input::read);
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                return ClosedSocketExceptions.callOnStream(() -> input.read(bytes, offset, length));
            }

            @Override
            public int available() throws IOException {
                return ClosedSocketExceptions.callOnStream(input::available);
            }

            @Override
            public void close() throws IOException {
                input.close();
            }
        };
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        var output = super.getOutputStream();
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value});
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                try {
                    ClosedSocketExceptions.callOnStream(() -> {
                        output.write(bytes, offset, length);
                        return null;
                    });
                } catch (SocketException e) {
                    throw isOutputShutdown() && !isClosed()
                            ? ClosedSocketExceptions.brokenPipe(e)
                            : e;
                }
            }

            @Override
            public void close() throws IOException {
                output.close();
            }
        };
    }
}
