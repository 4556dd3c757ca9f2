package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A play is an experiment whose course the test says.
type play struct {
	home   string
	faults []error     // of whatever is begun
	stage  chan string // the state that its record says next; closed: it ends
	begun  chan string // folders
	end    error       // that it ends with
	silent bool        // it never makes its folder
	quick  []bool      // as was asked for
	names  map[string]int
}

func newPlay(t *testing.T) *play {
	return &play{home: t.TempDir(), stage: make(chan string), begun: make(chan string, 10), names: map[string]int{}}
}

func (p *play) offers() []Offer {
	return []Offer{{ID: "hello", From: "ships with dyno", Plan: "10 trials", Quick: "2 trials"},
		{ID: "bad.yaml", From: "here", Problems: []string{"bad.yaml:1:1: no experiment"}}}
}

func (p *play) conduct(id string, quick bool) (Conducting, []error) {
	p.quick = append(p.quick, quick)
	p.names[id]++
	dir := filepath.Join(p.home, "experiments", fmt.Sprintf("%s-%d", id, p.names[id]))
	return Conducting{Name: id, Dir: dir, Run: func(ctx context.Context) error { return p.run(ctx, dir) }}, p.faults
}

func (p *play) run(ctx context.Context, dir string) error {
	if p.silent {
		return p.end
	}
	write := func(state string) error {
		record := fmt.Sprintf(`{"format":"dyno.experiment/1","name":"hello","state":%q,"seed":1,"sha256":"a","arms":[{"name":"a"}]}`, state)
		const file = "version: 1\nname: hello\nlevels: [{name: c1, connections: 1}]\n" +
			"variants: {a: {url: http://127.0.0.1:1/}}\n"
		return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "experiment.yaml"), []byte(file), 0o600),
			os.WriteFile(filepath.Join(dir, ".new"), []byte(record), 0o600),
			os.Rename(filepath.Join(dir, ".new"), filepath.Join(dir, "experiment.json")))
	}
	if err := write("running"); err != nil {
		return err
	}
	p.begun <- dir
	for {
		select {
		case state, more := <-p.stage:
			if !more {
				return p.end
			}
			if err := write(state); err != nil {
				return err
			}
		case <-ctx.Done():
			if err := write("interrupted"); err != nil {
				return err
			}
			return Stopped{errors.New("interrupted; it can go on")}
		}
	}
}

// id is the experiment that an answer says was begun.
func begunID(t *testing.T, answer string) string {
	t.Helper()
	var a struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &a); err != nil || a.ID == "" {
		t.Fatal(answer, err)
	}
	return a.ID
}

// An experiment is begun by its name, watched, and stopped; a load and an experiment, or two of
// one of them, are never under way at once.
func TestConduct(t *testing.T) {
	p := newPlay(t)
	g := begin(t, Config{Home: p.home, Offers: p.offers, Conduct: p.conduct})
	if list := text(t, g.ask(t, "GET", "/api/experiments", "")); !strings.Contains(list, `"id":"hello"`) ||
		!strings.Contains(list, `"problems":["bad.yaml:1:1: no experiment"]`) {
		t.Errorf("offered is %s", list)
	}
	for body, want := range map[string]int{
		`{"experiment":"/etc/passwd"}`: 404, `{"experiment":"../hello"}`: 404, `{"experiment":""}`: 404, `{}`: 404,
		`{"experiment":"hello","file":"/tmp/x.yaml"}`: 422, `{"experiment":"hello","yaml":"version: 1"}`: 422,
		`{"experiment":["hello"]}`: 422, `version: 1`: 422, ``: 422,
		`{"experiment":"` + strings.Repeat("x", bodyBytes) + `"}`: 413,
	} {
		if r := g.ask(t, "POST", "/api/labs", body); r.StatusCode != want {
			t.Errorf("%.40s: %d, want %d: %s", body, r.StatusCode, want, text(t, r))
		}
	}
	p.faults = []error{errors.New("hello.yaml:3:1: what is this?")}
	r := g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)
	if said := text(t, r); r.StatusCode != 422 || !strings.Contains(said, "hello.yaml:3:1") {
		t.Errorf("a file with a fault: %d, %s", r.StatusCode, said)
	}
	p.faults, p.names, p.quick = nil, map[string]int{}, nil

	r = g.ask(t, "POST", "/api/labs", `{"experiment":"hello","quick":true}`)
	id := begunID(t, text(t, r))
	if r.StatusCode != 201 || id != "hello-1" || len(p.quick) != 1 || !p.quick[0] {
		t.Errorf("%d, %s, quick %v", r.StatusCode, id, p.quick)
	}
	next := g.follow(t, "/api/labs/"+id+"/events", "")
	if e := next(); e.kind != "lab" || !strings.Contains(e.data, `"state":"running"`) || !strings.Contains(e.data, `"ours":true`) {
		t.Errorf("while it runs: %v", e)
	}
	for path, body := range map[string]string{"/api/labs": `{"experiment":"hello"}`, "/api/load": `{}`} {
		r := g.ask(t, "POST", path, body)
		if why := text(t, r); r.StatusCode != 409 || !strings.Contains(why, "the experiment hello") {
			t.Errorf("%s while it runs: %d, %s", path, r.StatusCode, why)
		}
	}
	if r := g.ask(t, "DELETE", "/api/load", ""); r.StatusCode != 409 {
		t.Errorf("stopping a load stops an experiment: %d", r.StatusCode)
	}
	if r := g.ask(t, "DELETE", "/api/labs/"+id, ""); r.StatusCode != 202 {
		t.Errorf("stopping it: %d", r.StatusCode)
	}
	for e := next(); ; e = next() {
		if strings.Contains(e.data, `"ours"`) {
			continue
		}
		if strings.Contains(e.data, `"state":"interrupted"`) && strings.Contains(e.data, `interrupted; it can go on`) {
			break
		}
	}
	if r := g.ask(t, "DELETE", "/api/labs/"+id, ""); r.StatusCode != 409 {
		t.Errorf("stopping it again: %d", r.StatusCode)
	}
	if r := g.ask(t, "POST", "/api/labs/"+id+"/resume", ""); r.StatusCode != 409 {
		t.Errorf("a dashboard that resumes none: %d", r.StatusCode)
	}
	if r := g.ask(t, "DELETE", "/api/labs/..%2Fhello-1", ""); r.StatusCode != 404 {
		t.Errorf("stopping a path: %d", r.StatusCode)
	}
}

// An experiment that was stopped goes on in its folder, if that is in the store.
func TestResume(t *testing.T) {
	p := newPlay(t)
	outside := filepath.Join(t.TempDir(), "other")
	g := begin(t, Config{Home: p.home, Folders: []string{outside}, Offers: p.offers, Conduct: p.conduct,
		Resume: func(dir string) Conducting {
			return Conducting{Name: "hello", Dir: dir, Run: func(ctx context.Context) error { return p.run(ctx, dir) }}
		}})
	id := begunID(t, text(t, g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)))
	next := g.follow(t, "/api/labs/"+id+"/events", "")
	if r := g.ask(t, "POST", "/api/labs/"+id+"/resume", ""); r.StatusCode != 409 {
		t.Errorf("while it runs: %d", r.StatusCode)
	}
	g.ask(t, "DELETE", "/api/labs/"+id, "")
	stop := next()
	for ; !strings.Contains(stop.data, `"resumable":true`); stop = next() {
	}
	if strings.Contains(stop.data, `"ours":true`) || strings.Contains(stop.data, "it can go on") {
		t.Errorf("it runs and can be resumed, or says what its button does: %s", stop.data)
	}
	stopped := os.DirFS(<-p.begun)
	imported := filepath.Join(p.home, "experiments", "imported") // as dyno import leaves one
	if err := errors.Join(os.CopyFS(outside, stopped), os.CopyFS(imported, stopped)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"other": 409, "imported": 409, "none": 404, "..%2F" + id: 404} {
		if r := g.ask(t, "POST", "/api/labs/"+path+"/resume", ""); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, want)
		}
	}
	if r := g.ask(t, "POST", "/api/labs/"+id+"/resume", ""); r.StatusCode != 202 {
		t.Errorf("going on: %d, %s", r.StatusCode, text(t, r))
	}
	for e := next(); !strings.Contains(e.data, `"ours":true`) || !strings.Contains(e.data, `"state":"running"`); e = next() {
	}
	if again := <-p.begun; filepath.Base(again) != id {
		t.Errorf("it goes on in %s", again)
	}
}

// Its end is told even where its files do not say it; then the next may begin.
func TestConductedEnds(t *testing.T) {
	p := newPlay(t)
	p.end = errors.New("killed by somebody")
	g := begin(t, Config{Home: p.home, Offers: p.offers, Conduct: p.conduct})
	id := begunID(t, text(t, g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)))
	next := g.follow(t, "/api/labs/"+id+"/events", "")
	next()
	close(p.stage)
	for e := next(); !strings.Contains(e.data, `"problem":"killed by somebody"`); e = next() {
	}
	p.silent = true
	r := g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)
	if said := text(t, r); r.StatusCode != 422 || !strings.Contains(said, "killed by somebody") {
		t.Errorf("one that ended before it had a folder: %d, %s", r.StatusCode, said)
	}
	if r := g.ask(t, "POST", "/api/load", `{}`); r.StatusCode != 201 {
		t.Errorf("a load after it: %d", r.StatusCode)
	}
	r = g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)
	if why := text(t, r); r.StatusCode != 409 || !strings.Contains(why, "http://127.0.0.1:1/") {
		t.Errorf("an experiment beside a load: %d, %s", r.StatusCode, why)
	}
}

// The end of the dashboard is the end of its experiment, and it waits for that.
func TestEndStopsTheExperiment(t *testing.T) {
	p := newPlay(t)
	g := begin(t, Config{Home: p.home, Offers: p.offers, Conduct: p.conduct})
	begunID(t, text(t, g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)))
	dir := <-p.begun
	g.end()
	if b, err := os.ReadFile(filepath.Join(dir, "experiment.json")); !strings.Contains(string(b), "interrupted") {
		t.Errorf("%s, %v", b, err)
	}
}

// A dashboard of one run offers no experiments.
func TestNoOffers(t *testing.T) {
	g := begin(t, Config{})
	if list := text(t, g.ask(t, "GET", "/api/experiments", "")); list != "[]\n" {
		t.Errorf("offered is %q", list)
	}
	if r := g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`); r.StatusCode != 404 {
		t.Errorf("%d", r.StatusCode)
	}
}

// A Resume that fails at once is told, with its problem, though nobody saw it run.
func TestResumeFailsAtOnce(t *testing.T) {
	p := newPlay(t)
	g := begin(t, Config{Home: p.home, Offers: p.offers, Conduct: p.conduct,
		Resume: func(dir string) Conducting {
			return Conducting{Name: "hello", Dir: dir,
				Run: func(context.Context) error { return errors.New("the server is not there") }}
		}})
	id := begunID(t, text(t, g.ask(t, "POST", "/api/labs", `{"experiment":"hello"}`)))
	next := g.follow(t, "/api/labs/"+id+"/events", "")
	g.ask(t, "DELETE", "/api/labs/"+id, "")
	for e := next(); !strings.Contains(e.data, `"resumable":true`); e = next() {
	}
	if r := g.ask(t, "POST", "/api/labs/"+id+"/resume", ""); r.StatusCode != 202 {
		t.Fatalf("going on: %d, %s", r.StatusCode, text(t, r))
	}
	for e := next(); !strings.Contains(e.data, `"problem":"the server is not there"`) ||
		!strings.Contains(e.data, `"resumable":true`); e = next() {
	}
}

// Who learns of the end of an experiment may begin the next at once.
func TestNextAfterTheEnd(t *testing.T) {
	g := begin(t, Config{})
	for i := range 2000 {
		begun, err := g.startConducted(Conducting{Name: "short", Run: func(context.Context) error { return nil }})
		if err != nil {
			t.Fatalf("experiment %d: %v", i, err)
		}
		<-begun.ended
	}
}
