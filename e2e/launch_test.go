//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A real is a real server, run as a plain process in a directory of its own.
type real struct {
	name    string
	command string // looked for in the usual places
	pack    string // Debian's package of it
	files   map[string]string
	start   string // arguments; DIR, PORT, CLEAR and SECURE stand for the launch's
	log     string // file that gets a line for each request, with its URL
	socket  string // where it listens and does not speak HTTP

	closes  int    // a connection after so many requests; 0: never
	keeps   bool   // HTTP/1.0 connections alive, when asked to
	proxies bool   // it answers no request without a host
	few     bool   // requests are enough: it is slow
	unread  bool   // bodies are left so, and the connection closed if they are long
	refuses string // a method
}

// A launched is a server that runs.
type launched struct {
	real
	url, dir              string
	clearPort, securePort string // for other protocols
	pid                   int
	exited                chan struct{}
}

// launchServer starts the server, on a free port, and skips the test if it is missing.
func (s real) launchServer(t *testing.T) *launched {
	t.Helper()
	path := lookUpCommand(s.command)
	if path == "" {
		t.Skipf("%s is not installed; Debian's package is %s (see e2e/install.sh)", s.command, s.pack)
	}
	const attempts = 3 // another process may be given the port between our look and the start
	for i := 1; ; i++ {
		l, err := s.tryLaunch(t, path)
		if err == nil {
			return l
		}
		if i == attempts {
			t.Fatal(err)
		}
	}
}

// lookUpCommand finds a command, also where only root's PATH leads.
func lookUpCommand(command string) string {
	for _, name := range []string{command, "/usr/sbin/" + command, "/usr/local/sbin/" + command} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (s real) tryLaunch(t *testing.T, path string) (*launched, error) {
	l := &launched{real: s, dir: publicDir(t), clearPort: freePort(t), securePort: freePort(t),
		exited: make(chan struct{})}
	port := freePort(t)
	l.url = "http://127.0.0.1:" + port
	words := strings.NewReplacer("DIR", l.dir, "PORT", port, "CLEAR", l.clearPort, "SECURE", l.securePort,
		"ROOT", rootOnly("user root;"),
		"WWW", rootOnly("User www-data\nGroup www-data"))
	for name, content := range s.files {
		file := filepath.Join(l.dir, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(words.Replace(content)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, strings.Fields(words.Replace(s.start))...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+l.dir, "XDG_CONFIG_HOME="+l.dir)
	out, err := os.Create(filepath.Join(l.dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.pid = cmd.Process.Pid
	go func() {
		cmd.Wait()
		close(l.exited)
	}()
	t.Cleanup(l.stopServer)
	return l, l.checkReady()
}

// stopServer ends the server's process group, gently if it lets us.
func (l *launched) stopServer() {
	syscall.Kill(-l.pid, syscall.SIGTERM)
	select {
	case <-l.exited:
	case <-time.After(2 * time.Second):
	}
	syscall.Kill(-l.pid, syscall.SIGKILL) // whoever outlived it
	<-l.exited
}

// checkReady waits for the first proper answer.
func (l *launched) checkReady() error {
	client := &http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true}}
	var last error
	if l.socket != "" {
		client.Transport = dialer(filepath.Join(l.dir, l.socket))
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		res, err := client.Get(l.url + "/?ready")
		if errors.Is(err, errThere) {
			return nil
		}
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK || l.proxies {
				return nil
			}
			err = fmt.Errorf("status %s", res.Status)
		}
		last = err
		select {
		case <-l.exited:
			said, _ := os.ReadFile(filepath.Join(l.dir, "output"))
			return fmt.Errorf("%s ended: %s", l.name, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s is not ready: %w", l.name, last)
}

// A dialer is a transport that only checks whether it can connect to a unix socket.
type dialer string

var errThere = errors.New("somebody listens there")

func (d dialer) RoundTrip(*http.Request) (*http.Response, error) {
	c, err := net.Dial("unix", string(d))
	if err != nil {
		return nil, err
	}
	c.Close()
	return nil, errThere
}

// servedSince waits until the server's log has n requests with this word in their
// URL: it may write after it has answered. Then it returns how many there are.
func (l *launched) servedSince(t *testing.T, word string, n int64) int64 {
	t.Helper()
	var count int64
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(l.dir, l.log))
		if err != nil {
			t.Fatal(err)
		}
		count = int64(bytes.Count(b, []byte(word)))
		if count >= n || time.Now().After(end) {
			return count
		}
	}
}

// publicDir makes a directory with a short name, because socket paths must be short. Servers can
// read it after they have given up root.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dyno")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// rootOnly returns a line of configuration that is valid for root only.
func rootOnly(line string) string {
	if os.Geteuid() != 0 {
		return ""
	}
	return line
}
