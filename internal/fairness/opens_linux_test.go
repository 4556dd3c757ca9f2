package fairness

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// counted asks until no other program hides what was counted.
func counted(t *testing.T, q asking) (*Answer, float64) {
	t.Helper()
	for range 10 {
		a := ask(t, q)
		if n := a.Opens.PerExchange; n != nil {
			return a, *n
		}
		t.Log(a.Opens.Problem)
	}
	t.Fatal("other programs open too many connections to count a proxy's")
	return nil, 0
}

// proxying opens this many connections to the upstream for each request.
func proxying(upstream string, connects int, then life) life {
	return answering(func(int, *http.Request) string {
		for range connects {
			c, err := net.Dial("tcp", upstream)
			if err != nil {
				return ""
			}
			c.Close()
		}
		return plain() + map[bool]string{true: last}[then == nil]
	})
}

func TestOpens(t *testing.T) {
	upstream := strings.Trim(strings.TrimPrefix(serve(t, always(plain())), "http:"), "/")
	keeps := always("")
	for _, c := range []struct {
		connects int
		then     life
	}{{0, keeps}, {1, keeps}, {2, keeps}, {0, nil}, {1, nil}} {
		_, n := counted(t, asking{URL: serve(t, proxying(upstream, c.connects, c.then))})
		// Other programs may add some; a proxy cannot have had fewer.
		if want := float64(c.connects); n < want || n >= want+surely {
			t.Errorf("%v connects counted, made were %v; kept %v", n, want, c.then != nil)
		}
	}
}

func TestJudgeCounts(t *testing.T) {
	for _, c := range []struct {
		counts []count
		want   float64 // -1: not known
	}{
		{[]count{{1, 0}, {1.4, 0}, {1.05, 0.1}}, 1},
		{[]count{{0, 3}, {0.05, 0}, {7, 0}}, 0},
		{[]count{{0.4, 9}, {3, 0}, {5, 0}}, 0.4},
		{[]count{{1.2, 0}, {1.5, 0.9}, {1.9, 0}}, -1},
		{append(slices.Repeat([]count{{1, 0}}, 11), count{1.5, 3}), 1}, // one burst of others
	} {
		o := judgeCounts(c.counts)
		if known := o.PerExchange != nil; known != (c.want >= 0) || known && *o.PerExchange != c.want ||
			known == (o.Problem != "") {
			t.Errorf("%v: %+v, want %v", c.counts, o, c.want)
		}
	}
}

// Connections are counted until a batch is without them, or there are many batches.
func TestIsCounted(t *testing.T) {
	opened, none := count{opened: 2.55}, count{opened: 0.05}
	for _, c := range []struct {
		counts []count
		took   time.Duration
		want   bool
	}{
		{nil, 0, false},
		{[]count{none, none}, 0, false},
		{[]count{opened, none, opened}, 0, true},
		{[]count{opened, opened, opened}, 0, false},
		{[]count{opened, opened}, time.Minute, false},
		{[]count{opened, opened, opened}, time.Minute, true},
		{[]count{opened, opened, opened, opened, none}, 0, true},
		{slices.Repeat([]count{opened}, manyBatches-1), 0, false},
		{slices.Repeat([]count{opened}, manyBatches), 0, true},
	} {
		if isCounted(c.counts, c.took) != c.want {
			t.Errorf("%v: %v", c.counts, !c.want)
		}
	}
}

func TestParseActiveOpens(t *testing.T) {
	const good = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn ActiveOpens\nTcp: 200 -1 57\nUdp: A\n"
	if n, err := parseActiveOpens([]byte(good)); n != 57 || err != nil {
		t.Error(n, err)
	}
	for _, bad := range []string{"", "Tcp: ActiveOpens\n", "Tcp: A ActiveOpens\nTcp: 1\n",
		"Tcp: ActiveOpens\nTcp: x\n"} {
		if n, err := parseActiveOpens([]byte(bad)); err == nil {
			t.Errorf("%q: %d", bad, n)
		}
	}
}

const nginxConf = `daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http {
	access_log off; default_type text/plain;
	client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
	scgi_temp_path t5;
	upstream kept { server UPSTREAM; keepalive 8; }
	proxy_http_version 1.1;
	server {
		listen unix:DIR/kept;
		location / { proxy_pass http://kept; proxy_set_header Connection ""; }
	}
	server { listen unix:DIR/closing; location / { proxy_pass http://UPSTREAM; } }
	server {
		listen unix:DIR/zipping; gzip on; gzip_types text/plain;
		location / { proxy_pass http://kept; proxy_set_header Connection ""; }
	}
	server { listen unix:DIR/short; keepalive_requests 5; location / { return 301 http://a/; } }
	server { listen unix:DIR/found; location / { return 302 http://a/; } }
}
`

// startNginx starts one process of nginx and returns the folder of its sockets.
func startNginx(t *testing.T, upstream string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("nginx is not installed; Debian's package is nginx-light")
		}
	}
	dir, err := os.MkdirTemp("", "fair")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conf := strings.NewReplacer("UPSTREAM", upstream, "DIR", dir).Replace(nginxConf)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd := exec.Command(program, "-e", "stderr", "-p", dir, "-c", "nginx.conf")
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if c, err := net.Dial("unix", filepath.Join(dir, "found")); err == nil {
			c.Close()
			return dir
		}
		select {
		case <-exited:
			t.Fatalf("nginx ended: %s", said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("nginx does not listen")
	return ""
}

// The two faults that once made a published comparison of nginx and Go worthless,
// and others, at the real nginx in front of a real Go server.
func TestNginx(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, strings.Repeat("Hello World\n", 20))
	}))
	defer upstream.Close()
	dir := startNginx(t, strings.TrimPrefix(upstream.URL, "http://"))
	at := func(name string) asking {
		return asking{URL: "http+unix://" + filepath.Join(dir, name) + ":/", KeepAlive: 200}
	}
	direct, n := counted(t, asking{URL: upstream.URL, KeepAlive: 200})
	if n >= surely {
		t.Errorf("the Go server opened %v connections for each exchange", n)
	}
	kept, n := counted(t, at("kept"))
	if n >= surely {
		t.Errorf("nginx with upstream keep-alive opened %v connections for each exchange", n)
	}
	closing, n := counted(t, at("closing"))
	if n < 1 || n >= 1+surely {
		t.Errorf("nginx without upstream keep-alive opened %v connections for each exchange", n)
	}
	zipping, _ := counted(t, at("zipping"))

	table := Compare("direct", []Asked{{"direct", direct}, {"kept", kept}, {"closing", closing},
		{"zipping", zipping}}, []string{"server", "connection"})
	var got []string
	for _, v := range table.Violations() {
		got = append(got, fmt.Sprintf("%s %s: %s, not %s", v.Variant, v.Aspect, v.Value, v.Reference))
	}
	want := []string{
		"zipping gzip: gzip when accepted, not none when accepted",
		fmt.Sprintf("closing new_connections: %.2f per request, not %.2f per request",
			*closing.Opens.PerExchange, *direct.Opens.PerExchange),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNginxRedirects(t *testing.T) {
	t.Parallel()
	dir := startNginx(t, "127.0.0.1:1")
	at := func(name string) *Answer {
		q := asking{URL: "http+unix://" + filepath.Join(dir, name) + ":/", KeepAlive: 20, Brief: true}
		a := ask(t, q)
		for try := 1; try < 10 && a.Kept.End == EndTime; try++ { // it has a second; a busy machine may need more
			t.Logf("try %d: %+v", try, *a.Kept)
			a = ask(t, q)
		}
		return a
	}
	moved, found := at("short"), at("found")
	if want := (Kept{20, 5, EndAnnounced}); *moved.Kept != want {
		t.Errorf("%+v, want %+v", *moved.Kept, want)
	}
	got := broken(moved, found)
	for _, want := range []string{"status", "reason", "keep_alive", "body"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
}
