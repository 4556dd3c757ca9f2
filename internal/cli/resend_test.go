package cli

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A server carries out every request, answers the first of a connection, and closes without an
// answer after the second. A request that it carried out is sent again only where its method or the
// user allows that, and as the other tools do.
func TestResentRequests(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	at, carriedOut := serveOneOfTwo(t)
	for _, test := range []struct {
		args  string
		code  int
		seen  int64
		tells string // in what is printed
	}{
		{"run -X PUT -b x", 0, 19, "9 requests (90.0 %) were sent again on another connection: 9 PUT"},
		{"run -b x --slo errors<0.1%", 1, 10, "5 requests (50.0 %) failed, and dyno did not send them again, because the " +
			"server may have carried them out: 5 POST (the server closes a connection after 1 request); if it does no harm"},
		{"run -b x --slo errors<0.1% --retry-unsafe", 0, 19, "9 POST (the server closes a connection " +
			"after 1 request; the server may have carried a request out twice)"},
		{"hey -m POST -d x", 0, 10, "[200]\t5 responses"},
		{"hey", 0, 19, "[200]\t10 responses"},
		{"hey -m PUT -d x", 0, 10, "[200]\t5 responses"},
		{"oha --no-tui -m GET", 0, 10, "[200] 5 responses"},
		{"ab -k", 0, 20, // with the one that looks at the document
			"Complete requests:      10"},
	} {
		var out, errs bytes.Buffer
		args := append(strings.Fields(test.args), "-n", "10", "-c", "1", "http://"+at+"/")
		code := Main(args, strings.NewReader(""), &out, &errs)
		text := strings.Join(strings.Fields(out.String()), " ")
		if seen := carriedOut.Swap(0); code != test.code || seen != test.seen ||
			!strings.Contains(text, strings.Join(strings.Fields(test.tells), " ")) {
			t.Errorf("%s: exit code %d, the server carried out %d\n%s%s", test.args, code, seen, out.String(),
				errs.String())
		}
	}
}

// serveOneOfTwo has that server, and counts what it carries out.
func serveOneOfTwo(t *testing.T) (at string, carriedOut *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	carriedOut = new(atomic.Int64)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for n := 0; ; n++ {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					io.Copy(io.Discard, r.Body)
					if carriedOut.Add(1); n == 1 {
						return
					}
					io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
				}
			}()
		}
	}()
	return l.Addr().String(), carriedOut
}
