package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import org.jrdma.sockets.adaptor.AdaptorOptions.Call;

/** What the JDK's sockets say of a close, where their channels throw exceptions of their own. */
final class SocketMessages {

    private SocketMessages() {}

    /** Makes a call of a socket. */
    static <T> T ofSocket(Call<T> call) throws IOException {
        return call(call, "Socket is closed");
    }

    /** The same of its streams. */
    static <T> T ofStream(Call<T> call) throws IOException {
        return call(call, "Socket closed");
    }

    private static <T> T call(Call<T> call, String closedBefore) throws IOException {
        try {
            return call.make();
        } catch (ClosedByInterruptException e) {
            throw because("Closed by interrupt", e);
        } catch (AsynchronousCloseException e) {
            throw because("Socket closed", e);
        } catch (ClosedChannelException e) {
            throw because(closedBefore, e);
        }
    }

    /** Of a write after the end that the program itself has set. */
    static SocketException brokenPipe(SocketException cause) {
        return because("Broken pipe", cause);
    }

    private static SocketException because(String message, Exception cause) {
        var exception = new SocketException(message);
        exception.initCause(cause);
        return exception;
    }
}
