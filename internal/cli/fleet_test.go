package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dyno/internal/engine/loadplan"
)

// started is a line of the help that goes on until it is told to end; its first line on
// stdout is awaited.
func started(t *testing.T, dir, line string) (first string, c *exec.Cmd) {
	t.Helper()
	c = shell(t, dir, line)
	errs := new(bytes.Buffer)
	c.Stderr = errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	first, err = in.ReadString('\n')
	if err != nil {
		c.Wait()
		t.Fatalf("%s: %v\n%s", line, err, errs)
	}
	go io.Copy(io.Discard, in)
	return first, c
}

// ended ends c as a service manager does, and fails unless it exits in peace.
func ended(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// done is what a line prints, which must succeed.
func done(t *testing.T, dir, line string) string {
	t.Helper()
	c := shell(t, dir, line)
	errs := new(bytes.Buffer)
	c.Stderr = errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, errs)
	}
	return string(out)
}

// tryFleet tries an example of a fleet's verbs, with a fleet of one agent, web1.
func tryFleet(t *testing.T, verb, line string) {
	dir := t.TempDir()
	up := "dyno fleet up"
	if verb == "fleet up" {
		up = listening.ReplaceAllString(line, "")
	}
	first, hub := started(t, dir, up+" --listen 127.0.0.1:0")
	if !strings.HasPrefix(first, "the fleet's hub is at 127.0.0.1:") {
		t.Errorf("%s: %s", line, first)
	}
	if verb == "fleet up" {
		ended(t, hub)
		return
	}
	token := filepath.Join(dir, "join-token")
	if err := os.WriteFile(token, []byte(done(t, dir, "dyno fleet token")), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := "dyno agent --join @join-token --name web1"
	if verb == "agent" {
		agent = line
	}
	first, c := started(t, dir, agent)
	if !strings.HasPrefix(first, "agent ") || strings.Contains(line, "web1") && verb == "agent" &&
		!strings.HasPrefix(first, "agent web1 ") {
		t.Errorf("%s: %s", line, first)
	}
	if verb != "agent" {
		out := done(t, dir, line)
		want := map[string]string{"fleet ls": "web1", "fleet revoke": "revoked: web1",
			"fleet stop": "the agents stop"}[verb]
		if !strings.Contains(out, want) {
			t.Errorf("%s: %s", line, out)
		}
	}
	if verb == "fleet revoke" {
		c.Wait() // it has been thrown out
	} else {
		ended(t, c)
	}
	if line == "dyno fleet stop" {
		if err := hub.Wait(); err != nil {
			t.Error(err)
		}
		return
	}
	ended(t, hub)
}

// A NATS server that somebody else keeps carries a fleet as a hub does, for an agent that is
// told whose plans to obey.
func TestForeignBus(t *testing.T) {
	t.Parallel()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	bus.Start()
	defer bus.WaitForShutdown()
	defer bus.Shutdown()
	if !bus.ReadyForConnections(time.Minute) {
		t.Fatal("no bus")
	}
	loaded := httptest.NewServer(answer(new(atomic.Int64)))
	defer loaded.Close()
	dir, on := t.TempDir(), " --nats "+bus.ClientURL()
	key := strings.TrimSpace(done(t, dir, "dyno fleet key"))
	first, agent := started(t, dir, "dyno agent --name web1 --plan-key "+key+on)
	if !strings.HasPrefix(first, "agent web1 is on the bus") {
		t.Error(first)
	}
	list := done(t, dir, "dyno fleet ls"+on)
	for range 200 { // it has said that it is there before it listens
		if strings.Contains(list, "web1   ready") {
			break
		}
		list = done(t, dir, "dyno fleet ls"+on)
	}
	if !strings.Contains(list, "web1   ready") {
		t.Error(list)
	}
	run := "dyno run --fleet web1 -n 20 -c 2 " + loaded.URL + on
	if out := done(t, dir, run); !strings.Contains(out, "20 sent: 20 completed") ||
		!strings.Contains(out, "reports = agents = run") {
		t.Error(out)
	}
	done(t, dir, "dyno fleet stop"+on)
	ended(t, agent)
	other, agent := started(t, dir, "dyno agent --name web2 --plan-key "+
		strings.TrimSpace(done(t, dir, "env DYNO_HOME=other dyno fleet key"))+on)
	defer ended(t, agent)
	c := shell(t, dir, strings.ReplaceAll(run, "web1", "web2"))
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not signed by") {
		t.Errorf("%s obeys another's plans: %v\n%s", other, err, out)
	}
}

// The script that starts agents by ssh does, with a dyno that it brings along, and the fleet
// sees them. ssh is one that has each host in a folder of its own.
func TestSSH(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the script is for a POSIX shell, and there is none: ", err)
	}
	dir := t.TempDir()
	fake := filepath.Join(dir, "bin", "ssh")
	if err := os.Mkdir(filepath.Dir(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	const ssh = `#!/bin/sh
while :; do case $1 in -o|-R) shift 2 ;; -*) shift ;; *) break ;; esac; done
unset DYNO_HOME XDG_DATA_HOME
HOME=%[1]s/$1; export HOME
mkdir -p "$HOME" && cd "$HOME" && shift && exec sh -c "$*"
`
	if err := os.WriteFile(fake, fmt.Appendf(nil, ssh, dir), 0o700); err != nil {
		t.Fatal(err)
	}
	_, hub := started(t, dir, "dyno fleet up --listen 127.0.0.1:0")
	defer ended(t, hub)
	script := filepath.Join(dir, "agents.sh")
	text := done(t, dir, "dyno fleet deploy ssh root@web1 web2.example")
	if !strings.Contains(text, "-R 127.0.0.1:") {
		t.Errorf("a hub on loopback is not brought to the agents: %s", text)
	}
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	c := shell(t, dir, script)
	c.Env = append(c.Env, "PATH="+filepath.Dir(fake)+string(os.PathListSeparator)+os.Getenv("PATH"))
	errs := new(bytes.Buffer)
	c.Stderr = errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	list := ""
	for range 200 {
		list = done(t, dir, "dyno fleet ls")
		if strings.Count(list, " ready ") == 2 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, name := range []string{"web1 ", "web2-example "} {
		if !strings.Contains(list, name) {
			t.Errorf("no agent %sin\n%s", name, list)
		}
	}
	done(t, dir, "dyno fleet revoke web1 web2-example")
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != exitRefused ||
		!strings.Contains(errs.String(), "was revoked") {
		t.Errorf("agents that were revoked: %v\n%s", err, errs)
	}
}

// The audit log says where a load goes, also if that is no port.
func TestAgainst(t *testing.T) {
	for want, p := range map[string]loadplan.Plan{
		"web port 80: 2 connections":       {Target: loadplan.Target{Host: "web", Port: 80}, Connections: 2},
		"/run/s: 1 connection, up to 50/s": {Target: loadplan.Target{Unix: "/run/s"}, Connections: 1, Rate: loadplan.RatePerSecond(50)},
	} {
		if got := loadedTarget(p); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
