package experiment

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/hole"
	"dyno/internal/server"
)

// Defaults of a file. setDefaults runs before the file's own values are decoded. derive runs
// afterwards, and sets what depends on other values.

func (e *Experiment) setDefaults() {
	e.Design.setDefaults()
	e.Fairness.setDefaults()
}

func (d *Design) setDefaults() {
	*d = Design{
		Order: Interleaved, Rounds: 10, AA: true, Isolation: PerProcess,
		Measure: Duration(10 * time.Second), Cooldown: Duration(time.Second),
		Margin: 0.02, Metrics: []Metric{"throughput", "cpu", "p50", "p99"}, // see deriveStreams
	}
	d.Warmup.setDefaults()
	d.Clients.setDefaults()
	d.Quick.setDefaults()
}

func (w *Warmup) setDefaults() {
	*w = Warmup{Min: Duration(3 * time.Second), Max: Duration(30 * time.Second), CoV: 0.02}
}

func (c *Clients) setDefaults() { *c = Clients{Count: 1, Isolate: NoNamespace} }

// LeastRounds is the fewest rounds that can show a difference at 5 %, whatever the number of
// comparisons. The signs of six rounds have 2⁶ combinations, of which a clear difference has two.
// With fewer rounds even the widest interval covers less than 95 %.
const LeastRounds = 6

func (s *Short) setDefaults() { *s = Short{Rounds: LeastRounds, Measure: Duration(time.Second)} }

// quickLevels is how many levels --quick keeps: a file has the most important ones first.
const quickLevels = 2

func (l *Level) setDefaults() {
	p := loadplan.DefaultPlan()
	*l = Level{Connections: Count(p.Connections), HTTP: p.HTTP, Pipeline: p.Pipeline}
}

func (f *Fairness) setDefaults() { *f = Fairness{Mode: Strict, Allow: []string{"server", "date"}} }

func (g *Gate) setDefaults() {
	*g = Gate{Metrics: []Metric{"cpu", "p99"}, Margin: 0.03, Confirm: true}
}

func (p *Profile) setDefaults() {
	*p = Profile{CPU: Duration(10 * time.Second), Kinds: []string{CPU}, Perf: PerfAuto}
}

func (s *Step) setDefaults() { *s = Step{Dir: ".", Timeout: Duration(5 * time.Minute)} }

func (p *Process) setDefaults() {
	*p = Process{Dir: "."}
	p.Stop.setDefaults()
}

func (r *Ready) setDefaults() { *r = Ready{Timeout: Duration(server.DefaultReadyTimeout)} }

func (s *Stop) setDefaults() { *s = Stop{Signal: "TERM", Grace: Duration(2 * time.Second)} }

// derive sets what depends on the rest of the file. It returns the place of each level in the
// file's list, where one with several rates stands for several.
func (e *Experiment) derive() (entries []int) {
	if len(e.Workload.Expect.Status) == 0 {
		e.Workload.Expect.Status = Statuses{{From: 200, To: 299}}
	}
	e.Objectives = separateObjectives(e.Objectives)
	if e.Levels == nil {
		e.Levels = make([]Level, 1)
		e.Levels[0].setDefaults()
	}
	entries = e.separateRates()
	for i := range e.Levels {
		e.Levels[i].derive()
	}
	if e.Design.Baseline == "" && len(e.Variants) > 0 {
		e.Design.Baseline = e.Variants[0].Name
	}
	if e.Fairness.Reference == "" {
		e.Fairness.Reference = e.Design.Baseline
	}
	if e.Gate != nil && e.Gate.Baseline == "" {
		e.Gate.Baseline = e.Design.Baseline
	}
	if d := &e.Design; d.Precision > 0 && d.MaxRounds == 0 {
		d.MaxRounds = max(30, d.Rounds)
	}
	if q := &e.Design.Quick; q.Levels == nil {
		for i, l := range e.Levels {
			if entries[i] < quickLevels {
				q.Levels = append(q.Levels, l.Name)
			}
		}
	}
	for i := range e.Variants {
		for j := range e.Variants[i].Value.Processes {
			e.Variants[i].Value.Processes[j].derive()
		}
	}
	return entries
}

// deriveStreams sets what depends on whether answers are streams, where the file says nothing of
// it.
func (e *Experiment) deriveStreams(entries []int, isGiven func(path string) bool) {
	timeout := Duration(loadplan.DefaultPlan().Timeout)
	metrics := e.Design.Metrics
	if e.Workload.Stream.Format != "" {
		timeout, metrics = Duration(loadplan.StreamTimeout), StreamMetrics
		if e.Gate != nil && !isGiven("gate.metrics") {
			e.Gate.Metrics = []Metric{"cpu", FirstEventP99}
		}
	}
	if len(e.Workload.Goodput) > 0 {
		metrics = append(slices.Clone(metrics), Goodput)
	}
	if !isGiven("design.metrics") {
		e.Design.Metrics = metrics
	}
	for i := range e.Levels {
		if !isGiven(fmt.Sprintf("levels[%d].timeout", entries[i])) {
			e.Levels[i].Timeout = timeout
		}
	}
}

func (l *Level) derive() {
	switch {
	case l.Name != "":
	case l.IsSearch():
		if l.Name = "max"; l.SearchesCount() {
			l.Name += "-" + l.Axis
		}
	case l.Share > 0:
		l.Name = shareName("load", l.Share)
	case l.IsOpen():
		l.Name = "r" + l.Rate.String()
	default:
		l.Name = "c" + strconv.FormatInt(int64(l.Connections), 10)
	}
	if (l.IsOpen() || l.IsSearch() && !l.SearchesCount()) && l.Arrival == "" {
		l.Arrival = "constant"
	}
}

// derive names the process after its program.
func (p *Process) derive() {
	if p.Name != "" || len(p.Cmd) == 0 {
		return
	}
	program := string(p.Cmd[0])
	if parsed, wrong := hole.ParseTemplate(program); len(wrong) == 0 && len(parsed.Mentions) == 1 {
		m := parsed.Mentions[0]
		if program == "{{"+m.Word+"}}" {
			program = m.Word // for example {{dyno}}
		} else if m.Word == "env" && len(m.Args) == 2 {
			program = m.Args[1]
		}
	}
	if p.Name = strings.TrimSuffix(path.Base(program), ".exe"); !nameOf().MatchString(p.Name) {
		p.Name = "server"
	}
}
