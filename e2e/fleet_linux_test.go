package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"dyno/internal/result"
)

// runInNamespaces runs body in a test process of its own, in a network namespace without a way
// out. It checks that before it sends anything.
func runInNamespaces(t *testing.T, most time.Duration, body func(t *testing.T)) {
	if outside := os.Getenv(outsideEnv); outside != "" {
		inside, err := os.Readlink("/proc/self/ns/net")
		links, err2 := net.Interfaces()
		if err != nil || err2 != nil || inside == outside || len(links) != 1 || links[0].Name != "lo" {
			t.Fatalf("not in a network namespace of its own: %s, outside %s, with %v (%v, %v)",
				inside, outside, links, err, err2)
		}
		body(t)
		return
	}
	t.Parallel()
	args := []string{"--net"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	probe := append(slices.Clone(args), "ip", "link", "add", "br0", "type", "bridge")
	if out, err := exec.Command("unshare", probe...).CombinedOutput(); err != nil {
		t.Skipf("no network namespace can be had here: %v: %s", err, out)
	}
	outside, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout="+most.String())
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), outsideEnv+"="+outside, binaryEnv+"="+binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// Hosts are network namespaces on a bridge. The controller's is the test's own.
type hosts struct {
	t    *testing.T
	dir  string // has a home for each
	pids map[string]int
}

const (
	controllerAt = "10.123.0.1"
	nginxAt      = "10.123.0.2"
)

func newHosts(t *testing.T) *hosts {
	h := &hosts{t: t, dir: t.TempDir(), pids: map[string]int{}}
	runIP(t, "link", "set", "lo", "up")
	runIP(t, "link", "add", "br0", "type", "bridge")
	runIP(t, "address", "add", controllerAt+"/24", "dev", "br0")
	runIP(t, "link", "set", "br0", "up")
	return h
}

// addHost makes a host that has a link to the bridge, called as the host is.
func (h *hosts) addHost(name, address string) {
	h.t.Helper()
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		h.t.Fatal(err)
	}
	holder := exec.Command("unshare", "--net", "sleep", "600")
	holder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := holder.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		holder.Process.Kill()
		holder.Wait()
	})
	h.pids[name] = holder.Process.Pid
	waitUntil(h.t, "the host "+name+" is there", func() bool {
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", holder.Process.Pid))
		return err == nil && its != own
	})
	runIP(h.t, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns",
		strconv.Itoa(holder.Process.Pid))
	runIP(h.t, "link", "set", name, "master", "br0", "up")
	for _, args := range []string{"link set lo up", "address add " + address + "/24 dev eth0",
		"link set eth0 up"} {
		if out, err := h.commandOn(name, "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			h.t.Fatalf("%s: ip %s: %v: %s", name, args, err, out)
		}
	}
}

// commandOn is a program's on a host.
func (h *hosts) commandOn(name, program string, args ...string) *exec.Cmd {
	c := exec.Command("nsenter", append([]string{"--net", "--target", strconv.Itoa(h.pids[name]), program},
		args...)...)
	c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(h.dir, name), "NO_COLOR=1")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// A said is what a process has written so far. Others may read it meanwhile.
type said struct {
	file *os.File
}

func (s said) String() string {
	b, _ := os.ReadFile(s.file.Name())
	return string(b)
}

// startUntilReady starts a process that goes on until the test ends, and waits until it says so.
func (h *hosts) startUntilReady(c *exec.Cmd, ready string) (*os.Process, said) {
	h.t.Helper()
	f, err := os.CreateTemp(h.dir, "said")
	if err != nil {
		h.t.Fatal(err)
	}
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		c.Process.Signal(syscall.SIGCONT)
		c.Process.Kill()
		c.Wait()
	})
	out := said{f}
	waitUntil(h.t, fmt.Sprintf("%v says %q", c.Args, ready), func() bool {
		return ready == "" || strings.Contains(out.String(), ready)
	})
	return c.Process, out
}

// commandHere is dyno on the controller's host.
func (h *hosts) commandHere(args ...string) *exec.Cmd {
	c := exec.Command(binary, args...)
	c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(h.dir, "controller"), "NO_COLOR=1")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// startFleet starts a hub, and an agent on each of the hosts.
func (h *hosts) startFleet(weights map[string]int) map[string]*os.Process {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, "controller"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.startUntilReady(h.commandHere("fleet", "up", "--listen", controllerAt+":3967"), "the fleet's hub is at")
	all := map[string]*os.Process{}
	for name, weight := range weights {
		token, err := h.commandHere("fleet", "token").Output()
		if err != nil {
			h.t.Fatal(err)
		}
		c := h.commandOn(name, binary, "agent", "--join", "-", "--name", name, "--weight", strconv.Itoa(weight))
		c.Stdin = bytes.NewReader(token)
		all[name], _ = h.startUntilReady(c, "is on the bus")
	}
	return all
}

// runFleet is dyno run on all agents, which may take a while. It begins however well their clocks are
// known, for all of them are processes of this machine, which may be busy.
func (h *hosts) runFleet(args ...string) *running {
	h.t.Helper()
	file := filepath.Join(h.dir, "controller", "result.json")
	os.Remove(file)
	r := startCommand(h.t, file, exec.Command(binary, runArgs(file, append([]string{"--fleet", "all", "--loose-start"}, args...))...))
	r.killer.Reset(5 * time.Minute)
	return r
}

// fleetNginx answers on one port, and reports its count on another.
const fleetNginx = `
daemon off; master_process off; pid DIR/nginx.pid; error_log stderr warn; ROOT
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fcgi;
  uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server { listen ADDRESS:8080 backlog=4096; location / { return 200 "ok\n"; } }
  server { listen ADDRESS:8081; location / { stub_status; } }
}
`

// startNginx starts one on the server's host.
func (h *hosts) startNginx() {
	h.t.Helper()
	program := lookUpCommand("nginx")
	if program == "" {
		h.t.Skip("nginx is not installed; Debian's package is nginx-light (see e2e/install.sh)")
	}
	config := filepath.Join(h.dir, "nginx.conf")
	text := strings.NewReplacer("DIR", h.dir, "ROOT", rootOnly("user root;"), "ADDRESS", nginxAt).
		Replace(fleetNginx)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	h.startUntilReady(h.commandOn("server", program, "-e", "stderr", "-c", config), "")
	waitUntil(h.t, "nginx answers", func() bool {
		r, err := http.Get("http://" + nginxAt + ":8081/")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	})
}

// answeredCounter is how many requests nginx has answered from now on by its own account, without
// those that ask for it.
func (h *hosts) answeredCounter() func() int64 {
	h.t.Helper()
	count := func() (n int64) {
		r, err := http.Get("http://" + nginxAt + ":8081/")
		if err != nil {
			h.t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		found := regexp.MustCompile(`(?m)^ \d+ \d+ (\d+) `).FindSubmatch(b)
		if err != nil || found == nil {
			h.t.Fatalf("%v: %s", err, b)
		}
		fmt.Sscan(string(found[1]), &n)
		return n
	}
	before := count()
	return func() int64 {
		before++ // this question
		return count() - before
	}
}

// awaitLoad waits until the load has been under way for a while.
func (h *hosts) awaitLoad(served func() int64, requests int64) {
	h.t.Helper()
	waitUntil(h.t, "there is load", func() bool { return served() >= requests })
}

// checkTogether checks a result of a fleet that lost nobody: its sums are right.
func checkTogether(t *testing.T, r *result.Result, served int64) {
	t.Helper()
	q := r.Requests
	if served != q.Sent || q.Completed != q.Sent || !r.Fleet.AddsUp {
		t.Errorf("nginx counted %d; the agents %+v, adds up: %v", served, q, r.Fleet.AddsUp)
	}
	sum := int64(0)
	for _, a := range r.Fleet.Agents {
		sum += a.Requests.Sent
		if !a.Final || a.AddsUp == nil || !*a.AddsUp || a.Lost != "" {
			t.Errorf("%+v", a)
		}
	}
	if sum != served {
		t.Errorf("the agents sent %d together, and nginx counted %d", sum, served)
	}
}

// Three client hosts load a real nginx as one: the sum is what nginx counted, to the
// request. Weights share a rate out exactly. An agent that dies is missed, and what no
// agent may load is loaded by none.
func TestFleet(t *testing.T) {
	runInNamespaces(t, 3*time.Minute, func(t *testing.T) {
		h := newHosts(t)
		h.addHost("server", nginxAt)
		for i, name := range []string{"c1", "c2", "c3"} {
			h.addHost(name, fmt.Sprintf("10.123.0.%d", 11+i))
		}
		h.startNginx()
		agents := h.startFleet(map[string]int{"c1": 2, "c2": 1, "c3": 1})
		url := "http://" + nginxAt + ":8080/"
		t.Run("closed", func(t *testing.T) { h.testClosedLoad(t, url) })
		t.Run("weights", func(t *testing.T) { h.testWeights(t, url) })
		t.Run("refused", func(t *testing.T) { h.testRefused(t) })
		t.Run("killed", func(t *testing.T) { h.testKilledAgent(t, url, agents) })
	})
}

// testClosedLoad has each host open its share of 1,500 connections, again and again.
func (h *hosts) testClosedLoad(t *testing.T, url string) {
	var spreads []float64
	for range 3 {
		served := h.answeredCounter()
		r := h.runFleet("-c", "1500", "-d", "500ms", "--drain", "1m", url).waitForExit().expectExit(t, 0).result
		checkTogether(t, r, served())
		var connections []int
		for _, a := range r.Fleet.Agents {
			connections = append(connections, a.Connections)
		}
		if !slices.Equal(connections, []int{750, 375, 375}) || r.Connections.Opened != 1500 {
			t.Errorf("connections %v, %+v", connections, r.Connections)
		}
		spreads = append(spreads, *r.Fleet.StartSpread)
	}
	slices.Sort(spreads)
	t.Logf("start spread of 3 runs: median %.0f µs, worst %.0f µs", spreads[1], spreads[2])
}

// testWeights are exact in a constant rate.
func (h *hosts) testWeights(t *testing.T, url string) {
	served := h.answeredCounter()
	r := h.runFleet("-c", "60", "-R", "4000", "-d", "3s", "--drain", "1m", url).waitForExit().expectExit(t, 0).result
	checkTogether(t, r, served())
	for i, want := range []int64{6000, 3000, 3000} {
		if a := r.Fleet.Agents[i]; a.Requests.Sent != want {
			t.Errorf("%s sent %d of 12,000, want %d", a.Name, a.Requests.Sent, want)
		}
	}
}

// testRefused is what the agents' own policy forbids, in whatever way it is written.
func (h *hosts) testRefused(t *testing.T) {
	for _, url := range []string{"http://169.254.169.254/", "http://[::ffff:169.254.169.254]/",
		"http://[fe80::1]/", "http://198.51.100.1/"} {
		o := h.runFleet("-d", "1s", url).waitForExit().expectExit(t, 2)
		if !strings.Contains(o.stderr, "c1 refuses: ") || !strings.Contains(o.stderr, "c3 refuses: ") {
			t.Errorf("%s: %s", url, o.stderr)
		}
	}
}

// testKilledAgent is an agent that ends without a word. On a machine whose CPUs others have taken for
// seconds the rest may be silent as long: then each must have waited for a CPU itself.
func (h *hosts) testKilledAgent(t *testing.T, url string, agents map[string]*os.Process) {
	served, waited := h.answeredCounter(), map[string]time.Duration{}
	for name, p := range agents {
		waited[name] = waitForCPU(t, p.Pid)
	}
	running := h.runFleet("-c", "60", "-R", "2000", "-d", "14s", "--on-agent-loss", "continue", url)
	h.awaitLoad(served, 4000)
	if err := agents["c2"].Kill(); err != nil {
		t.Fatal(err)
	}
	o := running.waitForExit().expectExit(t, 3)
	a, q := o.result.Fleet.Agents[1], o.result.Requests
	if a.Name != "c2" || a.Lost == "" || a.Final || o.result.Fleet.Covered >= o.result.Fleet.Planned ||
		!strings.Contains(o.lastLine(), "agent c2") {
		t.Errorf("%+v\n%s", a, o.stderr)
	}
	lost := int64(1)
	for _, a := range o.result.Fleet.Agents {
		if a.Name == "c2" || a.Lost == "" {
			continue
		}
		lost++
		if d := waitForCPU(t, agents[a.Name].Pid) - waited[a.Name]; d < time.Second {
			t.Errorf("%s was lost (%s), and waited for a CPU for %v", a.Name, a.Lost, d)
		} else {
			t.Logf("%s was lost (%s) on a busy machine: it waited for a CPU for %v", a.Name, a.Lost, d)
		}
	}
	if lost == 1 && o.result.Ended != "duration" {
		t.Errorf("ended: %s", o.result.Ended)
	}
	// What an agent sent after its last report is nobody's: seconds of its share. A lost one's is
	// a second of it, at most two, where it was killed.
	most := q.Sent + 1000
	if lost > 1 {
		most = 14 * 2000
	}
	if n := served(); n < q.Completed || n > most || q.Completed+q.Errors+q.Unfinished != q.Sent {
		t.Errorf("nginx counted %d; the agents %+v", n, q)
	}
}

// waitForCPU is how long the threads of a process that lives have been ready and had no CPU.
func waitForCPU(t *testing.T, pid int) (sum time.Duration) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file) // a thread may have ended
		var ran, waited int64
		if _, scan := fmt.Sscan(string(b), &ran, &waited); err == nil && scan == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}

// A fleet is the same on a NATS server that somebody else keeps.
func TestFleetOnAnothersNATS(t *testing.T) {
	t.Parallel()
	s, err := nats.NewServer(&nats.Options{Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server does not start")
	}
	h := &hosts{t: t, dir: t.TempDir()}
	_, said := h.startUntilReady(h.commandHere("target", "--listen", "127.0.0.1:0"), "listening on ")
	url := strings.TrimSpace(strings.TrimPrefix(said.String(), "listening on "))
	key, err := h.commandHere("fleet", "key").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		h.startUntilReady(h.commandHere("agent", "--nats", s.ClientURL(), "--plan-key", strings.TrimSpace(string(key)), "--name", name,
			"--weight", "1"), "is on the bus")
	}
	r := h.runFleet("--nats", s.ClientURL(), "-n", "3001", "-c", "9", url).waitForExit().expectExit(t, 0).result
	served, err := http.Get(url + "/.dyno/served")
	if err != nil {
		t.Fatal(err)
	}
	defer served.Body.Close()
	var count struct{ Served int64 }
	if err := json.NewDecoder(served.Body).Decode(&count); err != nil {
		t.Fatal(err)
	}
	checkTogether(t, r, count.Served)
	if count.Served != 3001 || len(r.Fleet.Agents) != 3 {
		t.Errorf("%d requests, %d agents", count.Served, len(r.Fleet.Agents))
	}
}
