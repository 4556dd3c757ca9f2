// Command server says hello over HTTP or FastCGI, at an address or a unix socket:
// the server of the experiment nginx-in-front-of-go. Its header has as many bytes
// as that which nginx makes of it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"strings"
)

const body = "Hello World\n"

func hello(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Server", "gophr") // as long as nginx
	h.Set("Connection", "keep-alive")
	h.Set("Content-Type", "text/plain")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if _, err := io.WriteString(w, body); err != nil {
		log.Print(err)
	}
}

func main() {
	speak := flag.String("speak", "http", "`PROTOCOL`, http or fastcgi")
	listen := flag.String("listen", "127.0.0.1:8080", "`ADDRESS`, or path of a unix socket")
	flag.Parse()
	l, err := listener(*listen)
	if err != nil {
		log.Fatal(err)
	}
	switch *speak {
	case "http":
		err = http.Serve(l, http.HandlerFunc(hello))
	case "fastcgi":
		err = fcgi.Serve(l, http.HandlerFunc(hello))
	default:
		err = fmt.Errorf("-speak %s: neither http nor fastcgi", *speak)
	}
	log.Fatal(err)
}

// listener is that of an address or a path. Whoever finds the socket may use it:
// nginx's workers run as another user.
func listener(at string) (net.Listener, error) {
	if !strings.HasPrefix(at, "/") {
		return net.Listen("tcp", at)
	}
	l, err := net.Listen("unix", at)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(at, 0o666)
}
