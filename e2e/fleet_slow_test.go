//go:build linux && slow

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
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

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
)

// What happens to a fleet whose machines and links fail, for as long as it takes.
func TestFleetFails(t *testing.T) {
	runInNamespaces(t, 10*time.Minute, func(t *testing.T) {
		h := newHosts(t)
		h.addHost("server", nginxAt)
		for i, name := range []string{"c1", "c2", "c3"} {
			h.addHost(name, fmt.Sprintf("10.123.0.%d", 11+i))
		}
		h.startNginx()
		agents := h.startFleet(map[string]int{"c1": 2, "c2": 1, "c3": 1})
		url := "http://" + nginxAt + ":8080/"
		t.Run("rate", func(t *testing.T) { h.testRate(t, url) })
		for _, cut := range []int{1, 5, 20} {
			t.Run(strconv.Itoa(cut)+" s without a link", func(t *testing.T) { h.testCutOff(t, url, cut) })
		}
		t.Run("stopped", func(t *testing.T) {
			h.testFailing(t, url, func() {
				agents["c2"].Signal(syscall.SIGSTOP)
				time.Sleep(8 * time.Second)
				agents["c2"].Signal(syscall.SIGCONT)
			}, true)
		})
		t.Run("laboratory", func(t *testing.T) { h.testLaboratory(t) })
		t.Run("nginx-tuning", func(t *testing.T) { h.testTuning(t) })
		t.Run("without its controller", func(t *testing.T) { h.testOrphaned(t, url) })
	})
}

// testRate is 30,000 a second for 20 s, by one machine half of it.
func (h *hosts) testRate(t *testing.T, url string) {
	served := h.answeredCounter()
	r := h.runFleet("-c", "300", "-R", "30k", "-d", "20s", url).waitForExit().expectExit(t, 0).result
	checkTogether(t, r, served())
	for i, want := range []int64{300_000, 150_000, 150_000} {
		if a := r.Fleet.Agents[i]; a.Requests.Sent != want {
			t.Errorf("%s sent %d of 600,000, want %d", a.Name, a.Requests.Sent, want)
		}
	}
	worst := 0.0
	for _, p := range r.Series[:20] {
		worst = max(worst, float64(max(p.Sent-30_000, 30_000-p.Sent))/30_000)
	}
	// What is sent late at the end of a second is missing there and too much in the next: how
	// seconds are cut must add nothing to that.
	late := *r.Requests.LateMax / 1e6
	t.Logf("the worst second was off by %.2f %%; the latest request was sent %.2f ms late", 100*worst, 1e3*late)
	if worst > max(0.01, late+0.002) {
		t.Errorf("a second was off by %.2f %%, and no request was later than %.2f ms", 100*worst, 1e3*late)
	}
}

// testCutOff takes c2's link away for so many seconds.
func (h *hosts) testCutOff(t *testing.T, url string, seconds int) {
	h.testFailing(t, url, func() {
		runIP(t, "link", "set", "c2", "down")
		time.Sleep(time.Duration(seconds) * time.Second)
		runIP(t, "link", "set", "c2", "up")
	}, seconds >= 20)
}

// testFailing has something happen to c2 in the third second of a run. What comes out must be
// what happened: nothing is counted that nginx did not answer, nothing that an agent said
// is left out, and the other agents are none the worse.
func (h *hosts) testFailing(t *testing.T, url string, happen func(), lost bool) {
	served := h.answeredCounter()
	running := h.runFleet("-c", "60", "-R", "2000", "-d", "30s", "--timeout", "60s", "--drain", "20s",
		"--on-agent-loss", "continue", url)
	h.awaitLoad(served, 4000)
	happen()
	o := running.waitForExit()
	if o.result == nil || o.code != 0 && o.code != 3 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	r, n := o.result, served()
	names := r.Fleet.Lost()
	c2 := r.Fleet.Agents[1]
	t.Logf("exit code %d, lost %v, covered %.1f of %.1f agent-seconds; %d sent, %d completed, %d unfinished, "+
		"nginx had %d; c2: %d sent, %d reports, %d of them again, its own total: %v", o.code, names,
		r.Fleet.Covered, r.Fleet.Planned, r.Requests.Sent, r.Requests.Completed, r.Requests.Unfinished, n,
		c2.Requests.Sent, c2.Reports, c2.Repeated, c2.Final)
	if (o.code == 3) != (len(names) > 0) || lost && !slices.Equal(names, []string{"c2"}) {
		t.Errorf("exit code %d, lost %v", o.code, names)
	}
	for _, i := range []int{0, 2} {
		a := r.Fleet.Agents[i]
		if want := []int64{30_000, 0, 15_000}[i]; a.Requests.Completed != want || !a.Final || !*a.AddsUp {
			t.Errorf("%+v, want %d", a, want)
		}
	}
	// c2 may have sent more than it could still say if it was lost, and never less.
	if q := r.Requests; n < q.Completed || len(names) == 0 && n != q.Completed || !r.Fleet.AddsUp {
		t.Errorf("nginx counted %d; the agents %+v", n, q)
	}
}

// testLaboratory has the agents load an experiment's nginx, which listens where they find it. Its
// log has a line for each request, with the address that it came from.
func (h *hosts) testLaboratory(t *testing.T) {
	dir := publicDir(t)
	text := strings.NewReplacer("DIR", dir, "NGINX", lookUpCommand("nginx"), "ROOT", rootOnly("user root;")).
		Replace(clientsOfNginx)
	file, out := filepath.Join(dir, "clients.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := h.commandHere("lab", "run", file, "-o", out, "--fleet", "all").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	line := regexp.MustCompile(`(?m)^10\.123\.0\.1([123]) 200 `)
	for _, name := range trialFiles(t, out, 6, said) {
		var trial labTrial
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &trial)
		}
		if err != nil || trial.Failure != nil {
			t.Fatalf("%s: %v, %+v", name, err, trial.Failure)
		}
		log, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.log", trial.Result.Plan.Target.Port)))
		if err != nil {
			t.Fatal(err)
		}
		served, sum := map[string]int64{}, int64(0)
		for _, found := range line.FindAllSubmatch(log, -1) {
			served["c"+string(found[1])]++
			sum++
		}
		want := map[string]int64{"closed": 5001, "reconnecting": 401, "open": 3001}[trial.Level]
		if q := trial.Result.Requests; len(served) != 3 || sum != want || q.Sent != want || q.Completed != want {
			t.Errorf("%s: nginx served %v, %d in all; dyno counted %+v; want %d", trial.ID, served, sum, q, want)
		}
	}
}

// testTuning has the agents be the three clients of nginx-tuning, of which what needs kernel parameters
// is left out: nginx's own count is what they sent together, to the request.
func (h *hosts) testTuning(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	said, err := h.commandHere("lab", "run", shortTuning(t), "-o", out, "--fleet", "all").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	r := countedTogether(t, out)
	for _, a := range r.Arms {
		if none := len(a.Missing) > 0; a.Name == "tuned-kernel" && !none || a.Name == "tuned" && none {
			t.Errorf("%+v", a)
		}
	}
}

// Three clients in network namespaces of their own load nginx-tuning's servers, and nginx's own
// count is what they sent together, to the request.
func TestTuningCountsAsItsClients(t *testing.T) {
	if lookUpCommand("nginx") == "" {
		t.Skip("nginx is not installed; Debian's package is nginx-light (see e2e/install.sh)")
	}
	out := filepath.Join(t.TempDir(), "out")
	said, err := exec.Command(binary, "lab", "run", shortTuning(t), "-o", out).CombinedOutput()
	if bytes.Contains(said, []byte("it needs root with CAP_SYS_ADMIN")) {
		t.Skipf("no network namespaces here:\n%s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	countedTogether(t, out)
}

// shortTuning returns the file of nginx-tuning as it ships, but with one round of short trials.
func shortTuning(t *testing.T) string {
	t.Helper()
	_, e := openShipped(t, "nginx-tuning")
	e.Published, e.Design.Rounds, e.Design.AA = nil, 1, false
	e.Variants = slices.DeleteFunc(e.Variants, func(v experiment.Entry[experiment.Definition]) bool {
		return slices.Contains(e.Design.Quick.Without, v.Name)
	})
	e.Design.Quick.Without = nil
	e.Design.Measure = experiment.Duration(time.Second)
	e.Design.Warmup.Min, e.Design.Warmup.Max, e.Design.Cooldown = 0, 0, 0
	for i := range e.Levels {
		if e.Levels[i].Requests > 0 {
			e.Levels[i].Requests = 30_000
		}
	}
	text, err := json.Marshal(e)
	file := filepath.Join(e.Here, "short.yaml")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// countedTogether checks that the server counted what its clients sent in each trial of an
// experiment. It need not have seen failed requests.
func countedTogether(t *testing.T, out string) *lab.Record {
	t.Helper()
	r, err := judge.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	alike := map[string]int{} // by level
	for _, b := range r.Trials {
		trial, err := lab.ReadTrial(out, b.ID)
		if err != nil || trial.Failure != nil || trial.Served == nil {
			t.Errorf("%s: %v, %+v", b.ID, err, trial)
			continue
		}
		q, s := trial.Result.Requests, trial.Served
		t.Logf("%s: nginx counted %d; %+v", b.ID, s.Server, q)
		flawless := q.Errors+q.Unfinished+q.Retried+q.WarmupLost == 0
		if s.Clients != q.Sent+q.Warmup || flawless && s.Server != s.Clients {
			t.Errorf("%s: nginx and its clients counted %+v", b.ID, *s)
		}
		if s.Server == s.Clients {
			alike[b.Level]++
		}
		if f := trial.Result.Fleet; r.Fleet != nil {
			sum := int64(0)
			for _, a := range f.Agents {
				sum += a.Requests.Sent + a.Requests.Warmup
			}
			if sum != s.Clients || len(f.Agents) != 3 || !f.AddsUp {
				t.Errorf("%s: %d agents sent %d, and together %d", b.ID, len(f.Agents), sum, s.Clients)
			}
		}
	}
	for _, l := range r.Experiment.Levels {
		if alike[l.Name] < 3 { // of five variants at least
			t.Errorf("%s: nginx and its clients agree in %d trials only", l.Name, alike[l.Name])
		}
	}
	return r
}

// testOrphaned agents end the load by themselves.
func (h *hosts) testOrphaned(t *testing.T, url string) {
	served := h.answeredCounter()
	running := h.runFleet("-c", "60", "-R", "2000", "-d", "10m", url)
	h.awaitLoad(served, 6000)
	if err := running.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(6 * time.Second)
	n := served()
	time.Sleep(time.Second)
	if more := served() - n; more != 0 || n < 10_000 {
		t.Errorf("6 s after the controller was killed nginx had %d, and then %d more", n, more)
	}
	r := h.runFleet("-c", "60", "-n", "1000", url).waitForExit().expectExit(t, 0).result
	if r.Requests.Completed != 1000 {
		t.Errorf("%+v", r.Requests)
	}
}
