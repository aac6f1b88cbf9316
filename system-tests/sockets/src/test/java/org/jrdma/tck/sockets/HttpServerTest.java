package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.model.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the HTTP server of the JDK with both HTTP clients of the JDK. */
@Timeout(60)
class HttpServerTest {

    private HttpServer server;
    private final ArrayList<Connection> serverConnections = new ArrayList<>();

    @BeforeEach
    void serve() throws Exception {
        server = HttpServer.create(TestAddress.ANY_PORT, 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext(
                "/",
                exchange -> {
                    var body = exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(200, body.length);
                    try (var out = exchange.getResponseBody()) {
                        out.write(body);
                        out.flush();
                    }
                    synchronized (serverConnections) {
                        serverConnections.clear();
                        OpenConnections.all().stream()
                                .filter(each -> each.peer().equals(exchange.getRemoteAddress()))
                                .forEach(serverConnections::add);
                    }
                });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void shouldServeAClientOnPlainSockets() throws Exception {
        var text = "saluton ".repeat(10_000);
        for (var i = 0; i < 10; i++) {
            var client = (HttpURLConnection) uri().toURL().openConnection();
            client.setDoOutput(true);
            client.getOutputStream().write(text.getBytes(UTF_8));

            assertThat(client.getInputStream().readAllBytes()).asString(UTF_8).isEqualTo(text);
        }
        awaitServerConnections();
        synchronized (serverConnections) {
            TransportUsage.assertFromPlainSocket("HttpServer", serverConnections, 80_000);
        }
    }

    @Test
    void shouldServeTheJdksHttpClient() throws Exception {
        var text = "saluton ".repeat(10_000);
        try (var client = HttpClient.newHttpClient()) {
            for (var i = 0; i < 10; i++) {
                var request =
                        HttpRequest.newBuilder(uri())
                                .POST(HttpRequest.BodyPublishers.ofString(text))
                                .build();
                assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).body())
                        .isEqualTo(text);
            }
            TransportUsage.assertEach(
                    "HttpServer and HttpClient", server.getAddress().getPort(), 800_000);
        }
    }

    /**
     * Waits until the server has recorded its connections, because the client may receive the
     * response earlier.
     */
    private void awaitServerConnections() throws InterruptedException {
        for (var i = 0; i < 100; i++) {
            synchronized (serverConnections) {
                if (!serverConnections.isEmpty()) {
                    return;
                }
            }
            Thread.sleep(10);
        }
    }

    private URI uri() {
        return URI.create(
                "http://%s:%d/".formatted(TestAddress.HOST, server.getAddress().getPort()));
    }
}
