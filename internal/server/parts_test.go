package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto/tunnel/tunneltest"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/proxyproto/proxytest"
)

func TestLog(t *testing.T) {
	const all = logHead + logTail
	for _, size := range []int{0, 1, logHead - 1, logHead, logHead + 1, all, all + 1, 3*all + 5} {
		for _, chunk := range []int{1000, logHead, 4 * all} {
			path := filepath.Join(t.TempDir(), "log")
			l, err := openLog(path, "")
			if err != nil {
				t.Fatal(err)
			}
			text := make([]byte, size)
			for i := range text {
				text[i] = byte('a' + i%23)
			}
			for part := range slices.Chunk(text, chunk) {
				if n, err := l.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
				if len(part) == logHead { // again and again
					l.flushTail()
				}
			}
			if err := l.flushTail(); err != nil {
				t.Fatal(err)
			}
			want := text
			if left := size - all; left > 0 {
				mark := fmt.Sprintf("\n… %d bytes left out …\n", left)
				want = slices.Concat(text[:logHead], []byte(mark), text[size-logTail:])
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes in writes of %d: %d bytes kept, want %d (%v)",
					size, chunk, len(got), len(want), err)
			}
		}
	}
}

func TestTail(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""}, {"a\nb\nc\n", 2, "b\nc"}, {"a\nb\nc", 9, "a\nb\nc"}, {"a\n\n\n", 1, "a"},
		{strings.Repeat("x", 2*tailMax), 1, strings.Repeat("x", tailMax)},
		{"ok \xff\n", 1, "ok �"},
	}
	for _, test := range tests {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readTail(path, test.n); err != nil || got != test.want {
			t.Errorf("%q: %q %v", test.text, got, err)
		}
	}
}

func TestClaimsPort(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range "nginx: [emerg] bind() to 127.0.0.1:80 failed (98: Address already in us" {
		l.Write([]byte(string(c)))
	}
	if l.claimsPort() {
		t.Error("too early")
	}
	l.Write([]byte("e)"))
	if !l.claimsPort() {
		t.Error("not in pieces")
	}
	for _, words := range []string{
		"java.net.BindException: Address already in use (Bind failed)",
		"Error: listen EADDRINUSE: address already in use 127.0.0.1:80",
		"OSError: [Errno 98] Address already in use",
		"Only one usage of each socket address (protocol/network address/port) is normally permitted.",
	} {
		if !mentionsUsedPort(words) {
			t.Error(words)
		}
	}
}

func TestReadyAddress(t *testing.T) {
	tests := []struct {
		url  string
		to   loadplan.Target // but for its URL
		want string          // what is asked for; "": an error
	}{
		{"http://127.0.0.1:81/a?b", loadplan.Target{Host: "127.0.0.1", Port: 81}, "http://127.0.0.1:81/a?b"},
		{"http://[::1]/", loadplan.Target{Host: "::1", Port: 80}, "http://[::1]/"},
		{"https://localhost", loadplan.Target{Host: "localhost", Port: 443, TLS: true}, "https://localhost/"},
		{"http+unix:///a/b.sock:/c?d=:/", loadplan.Target{Unix: "/a/b.sock"}, "http://localhost/c?d=:/"},
		{"http+unix:///a.sock", loadplan.Target{Unix: "/a.sock"}, "http://localhost/"},
		{"h2c://h/a", loadplan.Target{Host: "h", Port: 80, H2C: true}, "http://h/a"},
		{"fcgi://h:9/a", loadplan.Target{Host: "h", Port: 9, FastCGI: true}, "http://h:9/a"},
		{"fcgi+unix:///a.sock:/x", loadplan.Target{Unix: "/a.sock", FastCGI: true}, "http://localhost/x"},
		{url: "http+unix://a.sock:/"}, {url: "fcgi://x/"}, {url: "ftp+unix:///a"}, {url: "http:///"}, {url: "http://[/"}, {url: ""},
	}
	for _, test := range tests {
		got, err := Ready{URL: test.url}.address()
		got.URL = ""
		if got != (address{test.to, test.want}) || (err == nil) != (test.want != "") {
			t.Errorf("%q: %+v %v", test.url, got, err)
		}
	}
}

// A server of HTTP/2 alone is asked in it, and one of FastCGI is ready when it accepts.
func TestReadyProtocols(t *testing.T) {
	var asked []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Proto+" "+r.RequestURI)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fcgi := "fcgi://" + l.Addr().String() + "/"
	for _, url := range []string{"h2c" + strings.TrimPrefix(s.URL, "http") + "/up", fcgi} {
		r, err := Ready{URL: url}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if f := r.awaitReady(context.Background(), alone()); f != nil {
			t.Error(f)
		}
	}
	if !slices.Equal(asked, []string{"HTTP/2.0 /up"}) {
		t.Errorf("%q", asked)
	}
	l.Close()
	nobody := Ready{URL: "fcgi+unix://" + t.TempDir() + "/nobody", Timeout: 50 * time.Millisecond}
	f := nobody.awaitReady(context.Background(), alone())
	if f == nil || f.Kind != NotReady || !strings.Contains(f.Reason, "did not accept a connection within") {
		t.Errorf("nobody accepts, and it is ready: %v", f)
	}
}

// alone is a witness of a machine without strangers.
func alone() witness {
	return witness{complains: func() bool { return false }, owns: func(int) bool { return true }, listens: func() []int { return nil }}
}

// What a process writes can say that it is ready, also if it comes in pieces behind much else; nobody
// asks it then.
func TestReadyByLog(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log"), "now listening")
	if err != nil {
		t.Fatal(err)
	}
	w := alone()
	w.wrote = l.hasSought
	r := Ready{URL: "http://127.0.0.1:1/", Log: "now listening", Timeout: 20 * time.Millisecond}
	if f := r.awaitReady(t.Context(), w); f == nil || f.Kind != NotReady ||
		f.Reason != `not ready: it did not write "now listening" within 20ms` {
		t.Errorf("%+v", f)
	}
	for _, piece := range []string{strings.Repeat("not yet\n", logHead/4), "it is now lis", "", "ten", "ing\n"} {
		if l.hasSought() {
			t.Errorf("found before %q", piece)
		}
		l.Write([]byte(piece))
	}
	r.Timeout = time.Minute
	if f := r.awaitReady(t.Context(), w); f != nil {
		t.Error(f)
	}
}

// A server that answers is ready, whatever it says of the path, and a gateway before it is not.
func TestReadyStatuses(t *testing.T) {
	for status, ready := range map[int]bool{200: true, 204: true, 301: true, 401: true, 404: true, 500: true, 501: true,
		407: false, 502: false, 503: false, 504: false} {
		if got := (Ready{}).fits(status); got != ready {
			t.Errorf("%d: ready %v", status, got)
		}
		if got := (Ready{}).exactly().fits(status); got != (status < 300) {
			t.Errorf("%d on another port: %v", status, got)
		}
		if got := (Ready{Statuses: []int{503}}).fits(status); got != (status == 503) {
			t.Errorf("%d, where 503 is wanted: %v", status, got)
		}
	}
}

// busyTries is how often a server may be asked that does not answer in time on a busy machine.
const busyTries = 20

// Only a port that answers as the server should tells that it has another port, and only after a time.
func TestAstray(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/up" {
			w.WriteHeader(404)
		}
	}))
	defer served.Close()
	address := func(url string) address {
		a, err := Ready{URL: url}.address()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	there, wanted, silent := int(address(served.URL).Port), freePort(t), freePort(t)
	long := time.Now().Add(-2 * elsewhereTime)
	for name, test := range map[string]struct {
		path    string
		ports   []int
		since   time.Time
		sure    bool
		instead int
	}{
		"for long":      {"/up", []int{there}, long, true, there},
		"not the first": {"/up", []int{silent, there}, long, true, there},
		"just now":      {"/up", []int{there}, time.Time{}, false, there},
		"other answers": {"/", []int{there}, long, false, 0},
		"on both":       {"/up", []int{there, wanted}, long, false, 0},
		"nowhere":       {"/up", nil, long, false, 0},
	} {
		a := address(fmt.Sprintf("http://127.0.0.1:%d%s", wanted, test.path))
		var s astray
		var sure bool
		for range busyTries {
			s = astray{witness: witness{listens: func() []int { return test.ports }}, since: test.since}
			sure = s.isSure(t.Context(), Ready{}, a)
			if sure == test.sure && int(s.at.Port) == test.instead {
				break
			}
		}
		if sure != test.sure || int(s.at.Port) != test.instead || s.looked.IsZero() {
			t.Errorf("%s: %v, %v, looked at %v", name, sure, s.at, s.looked)
		}
		s.looked = time.Now().Add(time.Hour) // however long a busy machine takes for the next line
		if s.isSure(t.Context(), Ready{}, a) {
			t.Errorf("%s: it looks again at once", name)
		}
	}
}

// A server that answered on another port, and does not do so in time, is still there. It is refused
// only when it answers again.
func TestAstrayIsBusy(t *testing.T) {
	var free atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !free.Load() {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	wanted := address{loadplan.Target{Host: "127.0.0.1", Port: 1}, "http://127.0.0.1:1/"}
	there := wanted.onPort(server.Listener.Addr().(*net.TCPAddr).Port)
	w := witness{listens: func() []int { return []int{int(there.Port)} }}
	long := time.Now().Add(-2 * elsewhereTime)
	stranger := astray{witness: w}
	if stranger.isSure(t.Context(), Ready{}, wanted); stranger.at != (address{}) {
		t.Errorf("it never answered, and is at %s", stranger.at.url)
	}
	known := astray{witness: w, at: there, since: long}
	if known.isSure(t.Context(), Ready{}, wanted) || known.at != there || known.since != long {
		t.Errorf("it is at %q since %v", known.at.url, known.since)
	}
	free.Store(true)
	sure := false
	for range busyTries {
		known.looked = time.Time{}
		if sure = known.isSure(t.Context(), Ready{}, wanted); sure {
			break
		}
	}
	if !sure || known.at != there {
		t.Errorf("it answers again, and is at %q since %v", known.at.url, known.since)
	}
}

// When the time is over, a server that listens elsewhere is refused with its port.
func TestListensElsewhere(t *testing.T) {
	r := Ready{URL: fmt.Sprintf("http://127.0.0.1:%d/", freePort(t)), Timeout: 50 * time.Millisecond}
	w := alone()
	w.listens = func() []int { return []int{8080} }
	f := r.awaitReady(t.Context(), w)
	if f == nil || f.Kind != NotReady || !strings.HasSuffix(f.Reason, "; it listens on port 8080 instead") || f.Elsewhere != "" {
		t.Errorf("%+v", f)
	}
}

// What a server is asked, and that neither proxies nor redirects are followed.
func TestReadyRequest(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var asked []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, fmt.Sprintf("%s %s %s %s close=%v %s", r.Method, r.RequestURI, r.Proto,
			r.Host, r.Close, r.Header.Get("X-A")))
		switch len(asked) {
		case 1:
			w.WriteHeader(404)
		default:
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	})
	for _, start := range []func(http.Handler) *httptest.Server{httptest.NewServer, httptest.NewTLSServer} {
		asked = nil
		s := start(handler)
		r, err := Ready{URL: s.URL + "/up?x", Statuses: []int{302},
			Header: http.Header{"x-a": {"b"}, "Host": {"example.test"}}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if f := r.awaitReady(context.Background(), alone()); f != nil {
			t.Error(f)
		}
		s.Close()
		const want = "GET /up?x HTTP/1.1 example.test close=true b"
		if !slices.Equal(asked, []string{want, want}) {
			t.Errorf("%q", asked)
		}
	}
}

// A server behind the PROXY protocol is asked as it wants to be, with TLS and without.
func TestReadyProxied(t *testing.T) {
	for _, start := range []func(*httptest.Server){(*httptest.Server).Start, (*httptest.Server).StartTLS} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		l := proxytest.Wrap(t, s.Listener, proxyproto.V1)
		s.Listener = l
		start(s)
		var way loadplan.Way
		way.ProxyProtocol = proxyproto.V1
		r, err := Ready{URL: s.URL, Way: way}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if f := r.awaitReady(context.Background(), alone()); f != nil || l.Accepted.Load() == 0 {
			t.Error(f, l.Accepted.Load())
		}
		s.Close()
	}
}

// A server behind a proxy is asked through it, with the user, and is not ready where the proxy is not.
func TestReadyThroughProxy(t *testing.T) {
	for _, start := range []func(*httptest.Server){(*httptest.Server).Start, (*httptest.Server).StartTLS} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		start(s)
		proxy := tunneltest.Start(t, "u:p")
		var way loadplan.Way
		way.Proxy = proxy.URL
		r, err := Ready{URL: s.URL + "/up", Way: way}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		f := r.awaitReady(context.Background(), alone())
		if n := proxy.Forwarded.Load() + proxy.Tunnels.Load(); f != nil || n != 1 || proxy.Refused.Load() > 0 {
			t.Errorf("%s: %+v, asked %d times", s.URL, f, n)
		}
		r.Way.Proxy = strings.Replace(proxy.URL, "u:p@", "", 1)
		for r.Timeout = 20 * time.Millisecond; ; r.Timeout *= 4 { // a busy machine needs longer to be told
			f := r.awaitReady(context.Background(), alone())
			if f != nil && f.Kind == NotReady && strings.Contains(f.Reason, "407") {
				break
			}
			if f == nil || f.Kind != NotReady || r.Timeout > time.Minute {
				t.Errorf("%s without the user: %+v", s.URL, f)
				break
			}
		}
		s.Close()
	}
}

// A server that accepts and says nothing does not hold the wait up.
func TestReadySilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := Ready{URL: "http://" + l.Addr().String(), Timeout: 50 * time.Millisecond, Statuses: []int{200, 204}}
	f := r.awaitReady(context.Background(), alone())
	if f == nil || f.Kind != NotReady {
		t.Fatalf("%+v", f)
	}
	has(t, f.Reason, "status 200 or 204", "50ms", "deadline")
}

func TestFreePorts(t *testing.T) {
	ports, err := FreePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ports)
	if len(slices.Compact(ports)) != 50 || ports[0] == 0 {
		t.Error(ports)
	}
}

func TestSocketDir(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.MkdirAll(long, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	dir, err := SocketDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	inner := filepath.Join(dir, ".u12")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, strings.Repeat("n", 60)),
		filepath.Join(inner, strings.Repeat("n", 55))} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	if left, err := os.ReadDir(long); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestDirSize(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"one": 1 << 20, "a/two": 2 << 20, "a/b/three": 4 << 20} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if size := measureDir(dir, 1<<40); size < 7<<20 || size > 7<<20+1<<16 {
		t.Errorf("%d bytes", size)
	}
	if size := measureDir(dir, 1<<20); size <= 1<<20 {
		t.Errorf("%d bytes", size)
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		cores             [][]int
		server, generator []int
		apart             bool
	}{
		{[][]int{{0}}, []int{0}, []int{0}, false},
		{[][]int{{0, 1}}, []int{0, 1}, []int{0, 1}, false},
		{[][]int{{0}, {1}}, []int{0}, []int{1}, true},
		{[][]int{{0, 4}, {1, 5}, {2, 6}}, []int{0, 4, 1, 5}, []int{2, 6}, true},
		{[][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, []int{0, 4, 1, 5}, []int{2, 6, 3, 7}, true},
	}
	for _, test := range tests {
		s := splitCores(test.cores)
		if !slices.Equal(s.Server, test.server) || !slices.Equal(s.Generator, test.generator) ||
			s.Apart != test.apart || (s.Reason == "") != test.apart {
			t.Errorf("%v: %+v", test.cores, s)
		}
	}
	if s, err := SplitCPUs(); err != nil || s.Apart == (s.Reason != "") {
		t.Errorf("%+v %v", s, err)
	}
}

func TestCPULists(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-3,8\n": {0, 1, 2, 3, 8}, "5,4": {5, 4}, "0-1,3-4": {0, 1, 3, 4},
	} {
		got, err := ParseCPUs(list)
		if err != nil || !slices.Equal(got, want) || FormatCPUs(got) != strings.TrimSpace(list) {
			t.Errorf("%q: %v %v", list, got, err)
		}
	}
	for _, list := range []string{"", "a", "1-", "3-1", "1,1", "0-9999", "-1", "1,,2"} {
		if got, err := ParseCPUs(list); err == nil {
			t.Errorf("%q: %v", list, got)
		}
	}
}

func FuzzParseCPUs(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := ParseCPUs(list)
		if err != nil {
			return
		}
		again, err := ParseCPUs(FormatCPUs(cpus))
		if err != nil || !slices.Equal(cpus, again) {
			t.Errorf("%q: %v, %v %v", list, cpus, again, err)
		}
	})
}
