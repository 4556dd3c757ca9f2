package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// A reading is a plot of what was watched while the servers were loaded.
type reading struct {
	title, unit string
	stacked     bool // the parts of a whole, up to 100
	more        bool // folded in the page: few ask for it

	// pick names the line of a series, by the series' name and what it is of; "": it has none.
	pick func(name, of string) string
}

// readings are all, in the page's order.
var readings = []reading{
	{"CPU of the machine", "% of all CPUs", true, false, named("host.cpu.", "user", "user",
		"sys", "system", "softirq", "softirq", "irq", "irq", "iowait", "I/O wait", "steal", "steal")},
	{"CPU by process", "% of one core", false, false, ofProcess("cpu", "cpu")},
	{"CPU by process, user part", "% of one core", false, true, ofProcess("cpu.user", "")},
	{"Memory, RSS", "MB", false, false, ofProcess("rss", "rss")},
	{"Memory, PSS", "MB", false, true, ofProcess("pss", "pss")},
	{"Threads", "", false, false, ofProcess("threads", "threads")},
	{"Processes", "", false, true, ofTree("processes", "")},
	{"File descriptors", "", false, false, ofProcess("fds", "fds")},
	{"Context switches, voluntary", "1/s", false, false,
		ofProcess("switches.voluntary", "switches.voluntary")},
	{"Context switches, involuntary", "1/s", false, true,
		ofProcess("switches.involuntary", "switches.involuntary")},
	{"Context switches of the machine", "1/s", false, true, named("host.", "context_switches", "all")},
	{"Waiting for a CPU", "% of a core, all threads", false, false,
		ofProcess("runqueue.wait", "runqueue.wait")},
	{"Pressure (PSI)", "% of the time", false, false, named("host.psi.", "cpu", "CPU",
		"memory", "memory", "io", "I/O")},
	{"Sockets by state", "", false, false, named("host.tcp.", "established", "established",
		"time_wait", "time wait", "close_wait", "close wait", "fin_wait1", "fin wait1",
		"fin_wait2", "fin wait2",
		"syn_recv", "syn recv", "syn_sent", "syn sent", "listen", "listen", "inuse", "inuse",
		"orphan", "orphan")},
	{"Network, bytes", "MB/s", false, false, named("host.net.", "lo.received", "loopback",
		"other.received", "other, in", "other.sent", "other, out")},
	{"Network, packets", "1/s", false, true, named("host.net.", "lo.packets_received", "loopback",
		"other.packets_received", "other, in", "other.packets_sent", "other, out")},
	{"Lost in the network", "1/s", false, false, named("host.", "tcp.retransmits", "sent again",
		"tcp.listen_overflows", "listen overflows", "tcp.listen_drops", "listen drops",
		"softnet.drops", "softnet drops")},
	{"Storage", "MB/s", false, true, eitherOf(ofTree("io.read", ", read"), ofTree("io.written",
		", written"))},
	{"Load and run queue", "", false, true, named("host.", "load1", "load, 1 min", "procs_running",
		"running", "procs_blocked", "blocked")},
	{"Memory of the machine", "MB", false, true, named("host.memory.", "used", "used")},
	{"The generator's CPU", "% of one core", false, false, named("dyno.", "cpu", "dyno")},
	{"Throttled by the cgroup", "% of the time", false, true,
		named("cgroup.", "throttled", "throttled")},
	{"CPU frequency", "MHz", false, true, named("host.cpu.", "frequency", "mean")},
	{"Temperature", "°C", false, true, named("host.", "temperature", "hottest")},
}

// named picks series by what follows a prefix; names are pairs of that and of the line's name.
func named(prefix string, names ...string) func(name, of string) string {
	return func(name, _ string) string {
		rest, found := strings.CutPrefix(name, prefix)
		for i := 0; found && i < len(names); i += 2 {
			if names[i] == rest {
				return names[i+1]
			}
		}
		return ""
	}
}

// ofTree picks a reading of every tree of processes.
func ofTree(reading, suffix string) func(name, of string) string {
	return func(name, of string) string {
		if name == "tree."+reading {
			return of + suffix
		}
		return ""
	}
}

// ofProcess picks a reading of every process, and another of a tree whose processes have none.
func ofProcess(reading, also string) func(name, of string) string {
	one := func(name, of string) string {
		if name == "process."+reading {
			return of
		}
		return ""
	}
	if also == "" {
		return one
	}
	return eitherOf(one, ofTree(also, ", all"))
}

func eitherOf(a, b func(name, of string) string) func(name, of string) string {
	return func(name, of string) string { return cmp.Or(a(name, of), b(name, of)) }
}

// A readLine is a line of a reading of one trial.
type readLine struct {
	name       string
	at, values []float64
}

// linesOf are the lines of the n-th panel. What the one process of a tree shows is not shown of the
// tree again; processes of the same name are numbered as they began.
func (r reading) linesOf(p *payload.Experiment, n int) (lines []readLine) {
	processes := map[string]map[int]bool{} // of a tree, by their IDs
	for _, g := range p.Panels.Trials[n].Groups {
		for _, s := range g.Series {
			if s.PID != 0 && r.pick(s.Name, s.Of) != "" {
				if processes[s.Tree] == nil {
					processes[s.Tree] = map[int]bool{}
				}
				processes[s.Tree][s.PID] = true
			}
		}
	}
	times := map[string]int{}
	for _, g := range p.Panels.Trials[n].Groups {
		for _, s := range g.Series {
			name := r.pick(s.Name, s.Of)
			if name == "" || strings.HasPrefix(s.Name, "tree.") && len(processes[s.Of]) == 1 {
				continue
			}
			times[name]++
			lines = append(lines, readLine{name: name, at: g.T, values: s.V})
		}
	}
	seen := map[string]int{}
	for i, l := range lines {
		if times[l.name] > 1 {
			seen[l.name]++
			lines[i].name = fmt.Sprintf("%s %d", l.name, seen[l.name])
		}
	}
	return lines
}

// A watched is a trial whose readings there are.
type watched struct {
	arm   string
	panel int // of the payload
}

// watchedAt are the trials of a round at a level that were watched, of each arm the last attempt.
func (e experiment) watchedAt(level string, round int) (all []watched) {
	last := map[string]int{}
	for k, one := range e.Panels.Trials {
		if t := e.Record.Trials[one.Trial]; t.Level == level && t.Round == round {
			last[t.Arm] = k
		}
	}
	for _, a := range e.Record.Arms {
		if k, found := last[a.Name]; found {
			all = append(all, watched{a.Name, k})
		}
	}
	return all
}

// roundsAt are the rounds of which trials were watched at a level.
func (e experiment) roundsAt(level string) (all []int) {
	for _, one := range e.Panels.Trials {
		if t := e.Record.Trials[one.Trial]; t.Level == level && !slices.Contains(all, t.Round) {
			all = append(all, t.Round)
		}
	}
	slices.Sort(all)
	return all
}

// serverViews are the readings at a level: of each round a view of each reading, and in it a small
// plot of each variant. What never was anything but 0 has none.
func (e experiment) serverViews(i int) (views []View) {
	rounds := e.roundsAt(e.Levels[i].Name)
	if len(rounds) == 0 {
		return []View{{Name: nameAt("server", i), Title: "Servers and machine at " + e.load(i),
			Empty: "Nothing was watched: the servers are not processes of this machine, or the " +
				"trials failed."}}
	}
	for k, round := range rounds {
		shown := e.watchedAt(e.Levels[i].Name, round)
		of := fmt.Sprintf("n = %s of round %d", format.Plural(int64(len(shown)), "trial"), round)
		for _, r := range readings {
			v := View{Name: nameAt("server", i) + "-" + slug(r.title), Title: r.title + " at " + e.load(i),
				Of: cmp.Or(r.unit, "number"), Cursor: true,
				Foot: []string{of,
					"a point is a reading, or the mean of as many as there was no room for",
					"vertical lines: the window"},
				Figure: r.title, Choice: []Choice{{Of: "level", Name: e.Levels[i].Name, Label: e.load(i)},
					{Of: "round", Name: fmt.Sprint(round)}}}
			v.Unit = v.Of + " over the time of the window, s"
			if k > 0 {
				v.Name = ""
			}
			if e.addReadings(&v, r, shown) {
				views = append(views, v)
			}
		}
	}
	return views
}

// slug is a title as a part of a view's name.
func slug(title string) string {
	title = strings.ToLower(strings.ReplaceAll(title, "'", ""))
	return strings.Join(strings.FieldsFunc(title, func(r rune) bool {
		return r == ' ' || r == ',' || r == '(' || r == ')'
	}), "-")
}

// addReadings adds the plots of a reading, all with the same scales and one legend. It reports
// whether there is anything to see.
func (e experiment) addReadings(v *View, r reading, shown []watched) bool {
	lines := make([][]readLine, len(shown))
	var reach reached
	for k, one := range shown {
		lines[k] = r.linesOf(e.Experiment, one.panel)
		reach.add(lines[k], e.Panels.Trials[one.panel].MeasuredS)
	}
	names, kind := reach.names, Line
	switch {
	case len(names) == 0 || reach.most == 0 && !r.stacked:
		return false
	case r.stacked:
		kind, reach.most = Rect, 100/1.05
	case len(names) > linesMax:
		v.Left = fmt.Sprintf("the %d largest of %d lines", linesMax, len(names))
		v.Foot = append(v.Foot, v.Left)
		names = reach.largest(linesMax)
	}
	for k, name := range names {
		v.Legend = append(v.Legend, Key{Name: format.Clip(format.PlainLine(name), 40), Dash: k,
			Kind: kind, Ink: r.ink(k)})
	}
	for k, one := range shown {
		p := Panel{Title: format.PlainLine(one.arm), Of: one.arm, Y: linear(reach.most, "", ""),
			X: linearBetween(reach.first, reach.last, "s", ""), Marks: r.marks(names, lines[k])}
		p.Marks = append(p.Marks, Mark{Kind: Rule, Name: "window", Ink: "faint", Alpha: 0.5, Width: 1,
			Points: []Point{{}, {X: e.Panels.Trials[one.panel].MeasuredS}}})
		v.Panels = append(v.Panels, p)
	}
	if r.more || reach.points <= pointsFew {
		v.Section = "servers-more"
	}
	return true
}

// A reached is how far the lines of a reading go, in all plots.
type reached struct {
	names       []string // in the order in which they were seen
	peaks       map[string]float64
	first, last float64 // s
	most        float64
	points      int // of the longest line
}

// pointsFew are too few to draw among the first: such readings are folded.
const pointsFew = 3

// add adds the lines of a trial whose window took so many seconds.
func (r *reached) add(lines []readLine, measured float64) {
	if r.peaks == nil {
		r.peaks = map[string]float64{}
	}
	r.last = max(r.last, measured)
	for _, l := range lines {
		r.points = max(r.points, len(l.at))
		if _, known := r.peaks[l.name]; !known {
			r.names = append(r.names, l.name)
		}
		if _, high, found := extent(l.values, false); found {
			r.peaks[l.name], r.most = max(r.peaks[l.name], high), max(r.most, high)
		} else {
			r.peaks[l.name] += 0
		}
		if from, to, found := extent(l.at, false); found {
			r.first, r.last = min(r.first, from), max(r.last, to)
		}
	}
}

// largest are the names of the n lines with the highest peaks, in their order.
func (r *reached) largest(n int) []string {
	by := slices.Clone(r.names)
	slices.SortStableFunc(by, func(a, b string) int { return cmp.Compare(r.peaks[b], r.peaks[a]) })
	return slices.DeleteFunc(slices.Clone(r.names), func(name string) bool {
		return !slices.Contains(by[:n], name)
	})
}

// ink is the colour of the i-th line of a reading.
func (r reading) ink(i int) string {
	if r.stacked {
		return fmt.Sprintf("a%d", i%6+1)
	}
	return lineInk(i)
}

// marks are the lines of those names, or areas upon one another.
func (r reading) marks(names []string, lines []readLine) (marks []Mark) {
	below := map[float64]float64{}
	for k, name := range names {
		i := slices.IndexFunc(lines, func(l readLine) bool { return l.name == name })
		if i < 0 {
			continue
		}
		m := Mark{Kind: Line, Name: name, Ink: r.ink(k), Dash: k, Width: 1.5}
		for at, y := range lines[i].values {
			p := Point{X: lines[i].at[at], Y: y}
			if r.stacked {
				p.Low = below[p.X]
				p.Y = p.Low + known(y)
				below[p.X] = p.Y
			}
			m.Points = append(m.Points, p)
		}
		switch {
		case r.stacked:
			m.Kind = Area
		case len(m.Points) == 1:
			m.Kind, m.Width = Dot, 3
		}
		marks = append(marks, m)
	}
	return marks
}
