//go:build linux

package attack

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// floods are answers without end, or with parts that no honest server has: what begins one, and what
// is then sent for as long as dyno reads.
var floods = map[string]struct{ begin, more string }{
	"1xx":           {"", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"},
	"slow trailers": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X"},
	"header fields": {"HTTP/1.1 200 OK\r\n", "X-A: " + strings.Repeat("v", 1000) + "\r\n"},
	"a status line": {"HTTP/1.1 200 ", strings.Repeat("v", 64<<10)},
	"a cookie":      {"HTTP/1.1 200 OK\r\nSet-Cookie: a=", strings.Repeat("v", 64<<10)},
	"a Location":    {"HTTP/1.1 302 OK\r\nLocation: /", strings.Repeat("v", 64<<10)},
	"trailers":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-T: v\r\n"},
	"an extension":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;", strings.Repeat("e", 64<<10)},
	"chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		strings.Repeat("1\r\nx\r\n", 10_000)},
	"a location behind others": {"HTTP/1.1 200 OK\r\n", "Location: /" + strings.Repeat("v", 4000) + "\r\nSet-Cookie: a=" + strings.Repeat("v", 4000) + "\r\n"},
	"a body":                   {"HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("b", 64<<10)},
}

// startFlood is a server that answers with a flood.
func startFlood(t *testing.T, begin, more string) (url string) {
	t.Helper()
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
				defer c.Close()
				if _, err := c.Read(make([]byte, 4096)); err != nil {
					return
				}
				for _, err := io.WriteString(c, begin); err == nil; {
					if _, err = io.WriteString(c, more); len(more) == 1 {
						time.Sleep(10 * time.Millisecond)
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// A server that never stops costs neither memory nor time without end, also where answers are kept.
func TestServerFloods(t *testing.T) {
	most := func(url string, more ...string) (kib int64) {
		t.Helper()
		args := append([]string{"run", "--no-save", "-c", "16", "-t", "1", "-d", "300ms", "--timeout", "300ms", "--drain", "0s"}, more...)
		cmd := exec.Command(binary, append(args, url)...)
		cmd.Env = append(os.Environ(), "DYNO_HOME="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		if !killer.Stop() {
			t.Errorf("%q: it does not end", more)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	plain := most(startAnswering(t, answerText("OK", "x")))
	for name, f := range floods {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			url := startFlood(t, f.begin, f.more)
			for _, more := range [][]string{nil, {"--save-errors", t.TempDir()}} {
				if n := most(url, more...) - plain; n > 256<<10 {
					t.Errorf("%s, %q: %d MiB more than of an honest server", name, more, n>>10)
				}
			}
		})
	}
}
