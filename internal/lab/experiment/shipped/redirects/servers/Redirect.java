import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The JDK's own server, with its default executor: one thread does all. */
class Redirect {
    public static void main(String[] args) throws IOException {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(address, 0);
        server.createContext("/", Redirect::answer);
        server.start();
    }

    // Length 0 means a length that is not known: HTTP/1.1 clients get chunks.
    private static void answer(HttpExchange exchange) throws IOException {
        var header = exchange.getResponseHeaders();
        header.add("Location", "http://localhost:1024");
        header.add("Content-Type", "text/html; charset=UTF-8");
        exchange.sendResponseHeaders(301, 0);
        exchange.close();
    }
}
