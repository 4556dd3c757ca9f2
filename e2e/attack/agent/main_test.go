package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// attackedEnv names another dyno to attack, as an old one, and binaryEnv that of this source, if it
// was built before; geometryEnv what the other says its histograms are; and inflatedEnv how many MiB a
// final then becomes, which an old one keeps many times over.
const (
	attackedEnv = "DYNO_ATTACKED"
	binaryEnv   = "DYNO_E2E_BINARY"
	geometryEnv = "DYNO_GEOMETRY"
	inflatedEnv = "DYNO_INFLATED"
)

// memoryMost is how much memory the controller may ever have, in kB.
const memoryMost = 300_000

// dyno is the program that is attacked.
func dyno(t *testing.T) string {
	t.Helper()
	if path := cmp.Or(os.Getenv(attackedEnv), os.Getenv(binaryEnv)); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "dyno/cmd/dyno")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "dyno/cmd/dyno").CombinedOutput(); err != nil {
		t.Fatalf("building dyno: %v\n%s", err, out)
	}
	return path
}

// A site has a hub, two agents and one that is hostile.
type site struct {
	t      *testing.T
	path   string
	dir    string
	attack *attack
}

// command is dyno with a home of its own: that of who runs the fleet, or an agent's.
func (s *site) command(home string, args ...string) *exec.Cmd {
	c := exec.Command(s.path, args...)
	c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(s.dir, home), "NO_COLOR=1")
	return c
}

// begin starts a process that goes on until the test ends, and waits until it says a word.
func (s *site) begin(c *exec.Cmd, word string) {
	s.t.Helper()
	f, err := os.CreateTemp(s.dir, "said")
	if err != nil {
		s.t.Fatal(err)
	}
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	for range 6000 {
		if b, _ := os.ReadFile(f.Name()); strings.Contains(string(b), word) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b, _ := os.ReadFile(f.Name())
	s.t.Fatalf("%v does not say %q:\n%s", c.Args, word, b)
}

// token is a new one.
func (s *site) token() []byte {
	s.t.Helper()
	out, err := s.command("hub", "fleet", "token").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// open starts all of a site.
func (s *site) open() {
	s.t.Helper()
	s.begin(s.command("hub", "fleet", "up", "--listen", "127.0.0.1:0"), "the fleet's hub is at")
	for _, name := range []string{"one", "two"} {
		c := s.command(name, "agent", "--join", "-", "--name", name, "--weight", "1")
		c.Stdin = bytes.NewReader(s.token())
		s.begin(c, "is on the bus")
	}
	enough, ended := make(chan time.Time), make(chan error, 1)
	token := string(s.token())
	go func() { ended <- s.attack.joinAndAttack(token, "hostile", enough) }()
	s.t.Cleanup(func() {
		close(enough)
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	for range 600 {
		out, _ := s.command("hub", "fleet", "ls").Output()
		if strings.Count(string(out), " ready ") == 3 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatal("the agents do not come")
}

// peak is the most memory that a process ever had, in kB, until it ends.
func peak(pid int, ended <-chan error) (kB int64, err error) {
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, line, found := strings.Cut(string(b), "VmHWM:"); found {
			fmt.Sscan(line, &kB)
		}
		select {
		case err := <-ended:
			return kB, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A controller that has one hostile agent of three stays below 300 MB, whatever that does, and the
// load of the other two is complete and exact: they sent what they should, the server had as much,
// and what they reported is what they measured.
func TestHostileAgent(t *testing.T) {
	path, geometry, inflated := dyno(t), wire.Geometry(), 64
	if g := os.Getenv(geometryEnv); g != "" {
		geometry = g
	}
	fmt.Sscan(os.Getenv(inflatedEnv), &inflated)
	for how, why := range map[string]string{"lie": "does not add up", "flood": "it floods", "inflate": "becomes longer than"} {
		t.Run(how, func(t *testing.T) {
			if os.Getenv(attackedEnv) == "" { // what an old one needs, this machine may have once
				t.Parallel()
			}
			s := &site{t, path, t.TempDir(), &attack{method: how, inflated: inflated << 20, geometry: geometry}}
			s.open()
			s.survive(why)
		})
	}
}

// How often a load is tried, and how often the agents may be lost in one that is attacked though they
// are not in the same load without an attack, right after it. A busy machine can keep an agent from
// being heard in the one by chance, and hardly twice.
const (
	triesMost   = 5
	blamedLeast = 2
)

// survive makes loads of all three until one goes to its end, and checks that. A load in which another
// than the hostile agent is lost is compared with its control: the same load of those two alone. The
// controller's memory is checked in every load. Where no load goes to its end, nothing else is known, and
// the test is skipped.
func (s *site) survive(why string) {
	s.t.Helper()
	blamed := 0
	for try := range triesMost {
		r, served := s.load("one,two,hostile", fmt.Sprintf("attacked-%d", try), 600)
		if whole(r) {
			s.exact(r, served, why)
			return
		}
		s.t.Logf("try %d: the load did not go to its end", try+1)
		s.attack.attackers.Wait()
		control, served := s.load("one,two", fmt.Sprintf("control-%d", try), 400)
		if !whole(control) {
			s.t.Log("nor without an attack: the machine is too busy")
			continue
		}
		s.exact(control, served, "")
		if blamed++; blamed == blamedLeast {
			s.t.Errorf("%d times the load went to its end only without the attack: %+v", blamed, r)
			return
		}
	}
	s.t.Skipf("the machine is too busy: of %d loads with the attack and as many without none went to its end. "+
		"The controller's memory was checked in each", triesMost)
}

// whole reports whether no other than the hostile agent was lost.
func whole(r *result.Result) bool {
	return r != nil && !slices.ContainsFunc(r.Fleet.Agents, func(a result.Agent) bool {
		return a.Name != "hostile" && strings.Contains(a.Lost, "nothing was heard of it")
	})
}

// load makes a load of so many a second, of these agents, and checks the controller's memory. The result
// is nil where the load did not begin.
func (s *site) load(agents, name string, rate int) (*result.Result, int64) {
	t := s.t
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer server.Close()
	file := filepath.Join(s.dir, name+".json")
	c := s.command("hub", "run", "--fleet", agents, "--on-agent-loss", "continue", "--loose-start", "--no-save",
		"-R", fmt.Sprint(rate), "-c", fmt.Sprint(rate/100), "-d", "4s", "--drain", "1m", "--timeout", "1m", "--json", file,
		server.URL)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	kB, err := peak(c.Process.Pid, ended)
	t.Logf("%s: the controller had %d MB at most, and ended with %v", name, kB/1000, err)
	if kB > memoryMost {
		t.Errorf("that is more than %d MB", memoryMost/1000)
	}
	var r result.Result
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil || r.Fleet == nil {
		t.Logf("there is no result: %v\n%s", err, &said)
		return nil, 0
	}
	return &r, served.Load()
}

// exact checks that only the hostile one suffers.
func (s *site) exact(r *result.Result, served int64, why string) {
	s.t.Helper()
	sent := int64(0)
	for _, a := range r.Fleet.Agents {
		if a.Name == "hostile" {
			s.t.Logf("the hostile agent was lost: %s", a.Lost)
			if !strings.Contains(a.Lost, why) {
				s.t.Errorf("it was lost for another reason than %q", why)
			}
			continue
		}
		sent += a.Requests.Sent
		s.t.Logf("%s: sent %d, completed %d, adds up: %v, final: %v", a.Name, a.Requests.Sent, a.Requests.Completed,
			a.AddsUp != nil && *a.AddsUp, a.Final)
		if a.Lost != "" || !a.Final || a.AddsUp == nil || !*a.AddsUp || a.Requests.Sent != 800 || a.Requests.Completed != 800 {
			s.t.Errorf("%s suffers: %+v", a.Name, a)
		}
	}
	if sent != served {
		s.t.Errorf("the server had %d requests, and the two sent %d", served, sent)
	}
}
