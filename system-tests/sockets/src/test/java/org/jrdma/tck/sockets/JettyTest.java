package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.CompletableResponseListener;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.jrdma.sockets.OpenConnections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests Jetty's client and server. The server accepts connections on a blocking thread. */
@Timeout(60)
class JettyTest {

    private static final int MAX_BYTES = 1 << 20;
    private static final String TRANSPORT = System.getProperty("jrdma.sockets.transports");

    /**
     * The number of connections. It is smaller for rsockets, because the device must register
     * buffers for each of them.
     */
    private static final int CONNECTIONS = "rsocket".equals(TRANSPORT) ? 20 : 500;

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);
    private final HttpClient client = new HttpClient();

    private final Set<String> transports = ConcurrentHashMap.newKeySet();

    /** Returns the body of each request. */
    private final class EchoHandler extends Handler.Abstract.NonBlocking {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            var end = request.getConnectionMetaData().getConnection().getEndPoint();
            transports.add(OpenConnections.of((SocketChannel) end.getTransport()).transport());
            response.setStatus(200);
            Content.copy(request, response, callback);
            return true;
        }
    }

    @BeforeEach
    void start() throws Exception {
        connector.setHost(TestAddress.HOST);
        server.addConnector(connector);
        server.setHandler(new EchoHandler());
        server.start();
        client.start();
    }

    @AfterEach
    void stop() throws Exception {
        client.stop();
        server.stop();
    }

    @Test
    void shouldServeSequentialRequests() throws Exception {
        for (var i = 0; i < 100; i++) {
            var text = ("saluton " + i).repeat(1_000);

            assertThat(post(text.getBytes(UTF_8)).get(20, TimeUnit.SECONDS).getContent())
                    .asString(UTF_8)
                    .isEqualTo(text);
        }
        TransportUsage.assertEach("Jetty", connector.getLocalPort(), 1_000_000);
    }

    @Test
    void shouldServeConcurrentRequests() throws Exception {
        var bodies = new ArrayList<byte[]>();
        var responses = new ArrayList<CompletableFuture<ContentResponse>>();
        for (var i = 0; i < 50; i++) {
            var body = new byte[300_000 + i];
            new Random(i).nextBytes(body);
            bodies.add(body);
            responses.add(post(body));
        }

        for (var i = 0; i < bodies.size(); i++) {
            assertThat(responses.get(i).get(30, TimeUnit.SECONDS).getContent())
                    .isEqualTo(bodies.get(i));
        }
        TransportUsage.assertTotal(
                "Jetty, concurrent requests", connector.getLocalPort(), 2 * 50 * 300_000);
    }

    /**
     * Opens more connections than the backlog has room for, because each request uses a new
     * connection.
     */
    @Test
    void shouldServeManyNewConnections() throws Exception {
        client.setMaxConnectionsPerDestination(CONNECTIONS);
        var responses = new ArrayList<CompletableFuture<ContentResponse>>();
        for (var i = 0; i < CONNECTIONS; i++) {
            responses.add(send(request(bodyOf(i)).headers(JettyTest::close)));
        }

        for (var i = 0; i < CONNECTIONS; i++) {
            assertThat(responses.get(i).get(50, TimeUnit.SECONDS).getContent())
                    .isEqualTo(bodyOf(i));
        }
        assertThat(transports).containsOnly(TRANSPORT);
    }

    private static void close(HttpFields.Mutable headers) {
        headers.put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE);
    }

    private static byte[] bodyOf(int number) {
        return "saluton %d".formatted(number).getBytes(UTF_8);
    }

    private CompletableFuture<ContentResponse> post(byte[] body) {
        return send(request(body));
    }

    private org.eclipse.jetty.client.Request request(byte[] body) {
        return client.POST("http://%s:%d/".formatted(TestAddress.HOST, connector.getLocalPort()))
                .body(new BytesRequestContent(body));
    }

    private static CompletableFuture<ContentResponse> send(
            org.eclipse.jetty.client.Request request) {
        return new CompletableResponseListener(request, MAX_BYTES).send();
    }
}
