package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/fault"
	"dyno/internal/lab"
	"dyno/internal/remote"
	"dyno/internal/result"
	"dyno/internal/setting"
	dashboard "dyno/internal/view/serve"
)

const serveNotes = `DIR is the folder of an experiment that runs or has run; those in the store are
there anyway. The URL has a token, which lets one in: who has it can start loads.
Whatever the form says, loads go to this machine only, unless --allow-target
allows more; dyno run has no such limit. Of experiments it begins those that ship
with dyno, the files of --experiments, and comparisons of servers that are
running, as dyno vs URL URL does. docs/serve.md has the rest.
`

var serveExamples = []string{
	"dyno serve",
	"dyno serve --listen 127.0.0.1:0 --allow-target '*.staging.example' results",
}

// serveFlags is the command line of dyno serve.
type serveFlags struct {
	helpFlag
	listen           string
	exposed, notOpen bool
	targets          dashboard.Policy
	experiments      []string // folders of files
}

func newServeFlags() *serveFlags {
	return &serveFlags{listen: fmt.Sprintf("127.0.0.1:%d", dashboard.Port)}
}

func (f *serveFlags) groups() []group {
	return []group{{"Flags", []option{
		{"listen", "", "ADDR", fmt.Sprintf("HOST:PORT, where port 0 is a free one (127.0.0.1:%d)",
			dashboard.Port), setText(&f.listen)},
		{"expose", "", "", "ADDR may be one that other machines reach: what they send and\n" +
			"get, the token too, is unencrypted", setSwitch(&f.exposed)},
		{"allow-target", "", "GLOB", "hosts that the form may load besides this machine: 10.1.0.0/16,\n" +
			"'*.staging.example', 'unix:/run/*.sock'; {again}", f.targets.Allow},
		{"experiments", "", "DIR", "the page may begin the experiments of DIR's .yaml files too,\n" +
			"besides those that ship: commands that are run; {again}", f.addExperiments},
		{"no-open", "", "", "do not open a browser", setSwitch(&f.notOpen)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// serveDashboard is dyno serve.
func serveDashboard(s streams, args []string) int {
	f := newServeFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("serve")
	}
	faults := p.faults
	for _, dir := range p.words {
		if _, err := lab.ReadHeading(dir); err != nil {
			faults = append(faults, err)
		}
	}
	home, err := dynohome.Dir()
	if err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return s.refuseFlags("serve", faults)
	}
	exe, err := os.Executable()
	if err = errors.Join(err, widenPath()); err != nil {
		return s.failWith(exitFault, fmt.Errorf("finding dyno itself, and servers: %w", err))
	}
	d, err := dashboard.New(dashboard.Config{Listen: f.listen, Exposed: f.exposed, Home: home,
		Targets: f.targets, Folders: p.words, Form: formFields(), Read: formReader(exe),
		Offers: f.newOffers(), Conduct: f.newConductor(exe, home),
		VersusForm: versusFields(), Versus: newVersusReader(exe, home), Resume: newResumer(exe)})
	if err != nil {
		return s.refuseFlags("serve", []error{loadplan.Flaw{Setting: "--listen", Problem: err.Error()}})
	}
	fmt.Fprintf(s.out, "%s\n", d.URL("/"))
	fmt.Fprintln(s.err, "dyno: open that in a browser; Ctrl-C ends it")
	if !f.notOpen && isTerminal(s.err) {
		openBrowser(d.OnceURL("/"))
	}
	ctx, stop := untilInterrupted()
	defer stop()
	if err := d.Serve(ctx); err != nil {
		return s.failWith(exitFault, err)
	}
	return exitOK
}

// openBrowser opens url in the user's browser, if there is one. A failure is ignored, because the
// URL was printed.
func openBrowser(url string) {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

// formFields are the fields of the form: settings of dyno run, in the order of its help. None of
// them reads or writes a file or fetches a URL, because a browser must not reach what belongs to
// the user who started the dashboard.
func formFields() (all []dashboard.Group) {
	for _, g := range setting.Groups(setting.Run) {
		var fields []dashboard.Field
		for _, s := range g.Settings {
			if s.Form != nil {
				fields = append(fields, dashboard.Field{Name: s.Name, Value: s.Value, Short: s.Short,
					Many: s.Value != "" && s.Repeats(), Does: s.FormHelp(s.Form), Hint: s.Hints(s.Form)})
			}
		}
		if len(fields) > 0 {
			all = append(all, dashboard.Group{Title: g.Title, Fields: fields})
		}
	}
	return all
}

// isFormField reports whether the form has a field of that name.
func isFormField(name string) bool {
	s := setting.Named(name)
	return s != nil && s.Form != nil
}

// formPurpose is the purpose of the marks of what a form of the dashboard asks for.
const formPurpose = "forms"

// formReader parses forms as dyno run parses its command line. The loads run in a process of the
// program exe, and are stored.
func formReader(exe string) func(dashboard.Form) (dashboard.Job, []error) {
	return func(form dashboard.Form) (dashboard.Job, []error) {
		args, faults := formArgs(form)
		f := newRunFlags()
		f.purpose = formPurpose // otherwise form users could guess secrets and compare marks
		_, more := f.parseArgs(args, strings.NewReader(""))
		if faults = append(faults, more...); len(faults) > 0 {
			return dashboard.Job{}, ofFields(faults)
		}
		return dashboard.Job{Plan: f.plan, Run: func(ctx context.Context, p loadplan.Plan,
			each func(loadresult.Interval)) (*result.Result, error) {
			r, err := f.carryOutPlan(ctx, p, workerRunner(exe), each)
			if err != nil {
				return nil, errors.Join(joinedErrors(err)...)
			}
			if r.Answers() > 0 {
				if failed := storeResult(r); failed != nil {
					r.Warn(fact.Fact{Severity: fact.Error, Args: fact.NotStored{Why: failed.Error()}})
				}
			}
			return r, nil
		}}, nil
	}
}

// ofFields are faults of a form, those of templates by the field that has them.
func ofFields(faults []error) []error {
	for i, err := range faults {
		if f, is := errors.AsType[fault.Fault](err); is {
			field, _, _ := strings.Cut(f.File, " ") // as --header X-Id
			faults[i] = loadplan.Flaw{Setting: field,
				Problem: fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Problem)}
		}
	}
	return faults
}

// workerRunner is the generator in a process of its own.
func workerRunner(exe string) result.Runner {
	return calibratedRunner(remote.Child{Args: []string{exe, "worker"}}.RunLoad)
}

// formArgs is the command line that means the same as the form.
func formArgs(form dashboard.Form) (args []string, faults []error) {
	var names []string
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case name == "url":
			continue
		case !isFormField(name):
			faults = append(faults, loadplan.Flaw{Setting: "--" + name,
				Problem: "is not a field of the form"})
			continue
		case (name == "body" || name == "header") && slices.ContainsFunc(form[name], isFileName):
			faults = append(faults, loadplan.Flaw{Setting: "--" + name, Problem: "a form sends no files " +
				"of this machine; write what is to be sent"})
			continue
		case name == "watch" && slices.ContainsFunc(form[name], isOnAgent):
			faults = append(faults, loadplan.Flaw{Setting: "--watch",
				Problem: "a form watches processes of " +
					"this machine, and names no agent's; dyno run does"})
			continue
		}
		for _, value := range form[name] {
			args = append(args, "--"+name+"="+value)
		}
	}
	return append(append(args, "--"), form["url"]...), faults
}

// isFileName reports whether a value stands for the contents of a file.
func isFileName(value string) bool { return strings.HasPrefix(value, "@") }

// isOnAgent reports whether a --watch names a process on an agent's machine.
func isOnAgent(watch string) bool {
	_, agent := splitWatch(watch)
	return agent != ""
}

// A shownRun is a run with a dashboard of its own, with --serve. A nil one has none.
type shownRun struct {
	exe       string
	dashboard *dashboard.Server
	show      *dashboard.Show
	stop      context.CancelFunc
	ended     chan error
}

// serveRun opens a dashboard for the run, if the flags ask for one.
func (s streams) serveRun(f *runFlags, stop func()) (*shownRun, error) {
	if !f.serve {
		return nil, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding dyno itself: %w", err)
	}
	home, err := dynohome.Dir()
	if err != nil {
		return nil, err
	}
	d, err := dashboard.New(dashboard.Config{Listen: "127.0.0.1:0", Home: home})
	if err != nil {
		return nil, err
	}
	show, err := d.Show(f.plan, stop)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	v := &shownRun{exe: exe, dashboard: d, show: show, stop: end, ended: make(chan error, 1)}
	go func() { v.ended <- d.Serve(ctx) }()
	url := d.URL("/live")
	fmt.Fprintf(s.err, "dyno: watch it at %s\n", url)
	if isTerminal(s.err) {
		openBrowser(d.OnceURL("/live"))
	}
	return v, nil
}

// loadRunner is the generator of the run: a process of its own if this process serves browsers.
func (v *shownRun) loadRunner() result.Runner {
	if v == nil {
		return runHere
	}
	return workerRunner(v.exe)
}

// showInterval shows an interval.
func (v *shownRun) showInterval(iv loadresult.Interval) {
	if v != nil {
		v.show.Interval(iv)
	}
}

// showEnd shows the result of the run until ctx ends.
func (v *shownRun) showEnd(ctx context.Context, s streams, r *result.Result, err error) {
	if v == nil {
		return
	}
	v.show.End(r, err)
	if ctx.Err() == nil && err == nil {
		fmt.Fprintf(s.err, "dyno: the page stays at %s until Ctrl-C\n", v.dashboard.Base())
		<-ctx.Done()
	}
	v.stop()
	if err := <-v.ended; err != nil {
		s.writeLine("dyno: --serve: %v", err)
	}
}
