package bus

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
)

// elder speaks as much NATS as a client needs to believe that it is connected to a server
// of that version.
func elder(t *testing.T, version string) (url string) {
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
				fmt.Fprintf(c, "INFO {\"version\":%q,\"proto\":1,\"headers\":true,"+
					"\"max_payload\":1048576}\r\n", version)
				for in := bufio.NewScanner(c); in.Scan(); {
					if strings.HasPrefix(in.Text(), "PING") {
						fmt.Fprint(c, "PONG\r\n")
					}
				}
			}()
		}
	}()
	return "nats://" + l.Addr().String()
}

// A server that is too old is refused, and why is said.
func TestOldServer(t *testing.T) {
	for _, version := range []string{"2.9.10", "2.11.0", "1.4.1"} {
		_, err := External{URL: elder(t, version)}.Connect(Settings{Name: "web1"})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), version) ||
			!strings.Contains(err.Error(), "2.11.1 or newer") {
			t.Errorf("%s: %v", version, err)
		}
	}
	l, err := External{URL: elder(t, "2.11.1")}.Connect(Settings{Name: "web1"})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for version, old := range map[string]bool{"2.11.1": false, "2.12.0-RC.1": false, "3.0.0": false,
		"v2.15.2": false, "2.11.0": true, "2.10.29": true, "2.9": true, "": true, "x.y.z": true} {
		if got := isTooOld(version); got != old {
			t.Errorf("%q too old: %v", version, got)
		}
	}
}

// Off this machine there is no bus without TLS, and nobody is asked to trust one.
func TestExternalIsEncrypted(t *testing.T) {
	for url, here := range map[string]bool{
		"nats://127.0.0.1:4222": true, "nats://localhost": true, "nats://[::1]:4222": true,
		"nats://10.0.0.5:4222": false, "tls://127.0.0.1:4222": false, "nats://example.com": false,
		"nats://127.0.0.1:1,nats://10.0.0.5:2": false, "nats://127.0.0.1.example.com": false,
	} {
		if got := (External{URL: url}).isLocal(); got != here {
			t.Errorf("%s may be without TLS: %v", url, got)
		}
	}
	_, err := External{URL: strings.Replace(elder(t, "2.15.2"), "nats:", "tls:", 1)}.
		Connect(Settings{Name: "web1"})
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "offers no TLS") {
		t.Errorf("a server without TLS: %v", err)
	}
}

func TestExternalCheck(t *testing.T) {
	file, empty := filepath.Join(t.TempDir(), "x.creds"), filepath.Join(t.TempDir(), "empty")
	a := sample(t, time.Now().Add(time.Hour))
	text, err := jwt.FormatUserConfig(a.JWT, []byte(a.Seed))
	err = errors.Join(err, os.WriteFile(file, text, 0o600), os.WriteFile(empty, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		external External
		reason   string
	}{
		{External{URL: "tls://nats.example:4222,tls://10.0.0.2", Creds: file}, ""},
		{External{URL: "http://nats.example"}, "not tls://HOST:PORT"},
		{External{URL: "nats.example:4222"}, "not tls://HOST:PORT"},
		{External{URL: "tls://user:secret@nats.example"}, "does not belong into a command line"},
		{External{URL: "tls://nats.example", Creds: file + "x"}, "--creds"},
		{External{URL: "tls://nats.example", CACert: file + "x"}, "--nats-ca"},
		{External{URL: "tls://nats.example", Creds: empty}, "no NATS user's JWT and key"},
		{External{URL: "tls://nats.example", CACert: file}, "no certificate in PEM"},
	} {
		faults := test.external.Check()
		text := fmt.Sprint(faults)
		if len(faults) > 0 != (test.reason != "") || !strings.Contains(text, test.reason) ||
			strings.Contains(text, "user:secret") {
			t.Errorf("%+v: %v, want %q", test.external, faults, test.reason)
		}
	}
}
