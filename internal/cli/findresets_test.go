package cli

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// Against a server that resets its connections, a search says that they were reset, in the table and
// in its last line, and not that they were busy.
func TestFindSaysThatConnectionsAreReset(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				c.Read(make([]byte, 1000))
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}()
		}
	}()
	const want = "nothing was answered: connection reset by peer"
	var out, errs bytes.Buffer
	for try := range 20 { // on a busy machine nothing may be known, or not of every rate
		out.Reset()
		errs.Reset()
		code := Main([]string{"find", "--slo", "p99<50ms", "-R", "50", "--probe-time", "300ms", "--warmup", "0",
			"-c", "4", "http://" + l.Addr().String()}, strings.NewReader(""), &out, &errs)
		if (code == exitMissed || code == exitUntrusted) && strings.Contains(errs.String(), "; "+want) && strings.Contains(strings.Join(strings.Fields(out.String()), " "), "[1] "+want) &&
			!strings.Contains(out.String(), "were busy") {
			return
		}
		t.Logf("try %d: code %d\n%s\n%s", try, code, out.String(), errs.String())
	}
	t.Error("it does not say: ", want)
}
