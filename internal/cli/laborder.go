package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	labrun "dyno/internal/lab/run"
	"dyno/internal/view/labreport"
	dashboard "dyno/internal/view/serve"
)

// An order is an experiment that a dashboard wants a dyno process to run.
type order struct {
	Shipped string   `json:"shipped,omitempty"` // its name, or else File
	File    string   `json:"file,omitempty"`
	Versus  []string `json:"versus,omitempty"` // in the place of both: the words of a dyno vs
	Quick   bool     `json:"quick,omitempty"`
	Dir     string   `json:"dir"`              // for its folder
	Resume  bool     `json:"resume,omitempty"` // what Dir has is to go on; nothing else is given
}

// readOrdered reads the experiment of the order.
func (o order) readOrdered() (*experiment.Experiment, error) {
	if o.Shipped != "" { // never a local file of the same name
		return experiment.OpenShipped(o.Shipped)
	}
	return experiment.ReadFile(o.File)
}

// addExperiments adds a folder of files that the page may start.
func (f *serveFlags) addExperiments(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is no folder", dir)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	f.experiments = append(f.experiments, dir)
	return err
}

// A choice is an experiment that the page may start.
type choice struct {
	id, from string
	order
}

// experimentChoices are the shipped experiments, and the files that are now in the folders.
func (f *serveFlags) experimentChoices() (all []choice) {
	for _, name := range experiment.ShippedNames() {
		all = append(all, choice{name, "ships with dyno", order{Shipped: name}})
	}
	all = append(all, f.fileChoices()...)
	had := map[string]int{}
	for i := range all { // files of the same name get a number
		had[all[i].id]++
		if n := had[all[i].id]; n > 1 {
			all[i].id += fmt.Sprintf("~%d", n)
		}
	}
	return all
}

// fileChoices are the files that are now in the folders.
func (f *serveFlags) fileChoices() (all []choice) {
	for _, dir := range f.experiments {
		entries, _ := os.ReadDir(dir) // a folder that is gone has no choices
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			info, err := os.Stat(file)
			is := slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(file))
			if is && err == nil && info.Mode().IsRegular() {
				all = append(all, choice{e.Name(), file, order{File: file}})
			}
		}
	}
	return all
}

// offerAge is for how long offers count whose files are as they were. A program that a variant
// needs may be installed meanwhile.
const offerAge = time.Minute

// newOffers returns the function that lists the offers. Pages ask every few seconds, also beside a
// load, so files are read again only when one has changed.
func (f *serveFlags) newOffers() func() []dashboard.Offer {
	var mu sync.Mutex
	var of string
	var made time.Time
	var all []dashboard.Offer
	return func() []dashboard.Offer {
		mu.Lock()
		defer mu.Unlock()
		if now := stampOf(f.fileChoices()); now != of || time.Since(made) > offerAge {
			of, made, all = now, time.Now(), f.experimentOffers()
		}
		return all
	}
}

// stampOf is another text when a file of the choices has changed.
func stampOf(choices []choice) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintln(&b, c.from)
		if info, err := os.Stat(c.order.File); err == nil {
			fmt.Fprintln(&b, info.ModTime().UnixNano(), info.Size())
		}
	}
	return b.String()
}

// experimentOffers are the choices, each with its plan, or with the faults of its file.
func (f *serveFlags) experimentOffers() (all []dashboard.Offer) {
	for _, c := range f.experimentChoices() {
		o := dashboard.Offer{ID: c.id, Name: c.id, From: c.from}
		e, err := c.readOrdered()
		for _, fault := range joinedErrors(err) {
			o.Problems = append(o.Problems, fault.Error())
		}
		if err == nil {
			o.Name = e.Name
			o.Plan = labreport.IntentText((&labrun.Lab{Experiment: e}).Intent())
			o.Quick = labreport.IntentText((&labrun.Lab{Experiment: design.Quick(e)}).Intent())
		}
		all = append(all, o)
	}
	return all
}

// newConductor returns the function that starts an experiment for the page: in a process of the
// program exe, with a folder in the store of home.
func (f *serveFlags) newConductor(exe, home string) func(string, bool) (dashboard.Conducting,
	[]error) {
	return func(id string, quick bool) (dashboard.Conducting, []error) {
		all := f.experimentChoices()
		i := slices.IndexFunc(all, func(c choice) bool { return c.id == id })
		if i < 0 {
			return dashboard.Conducting{}, []error{fmt.Errorf("%q is not there any more", id)}
		}
		o := all[i].order
		e, err := o.readOrdered()
		if err != nil {
			return dashboard.Conducting{}, joinedErrors(err)
		}
		o.Quick, o.Dir = quick, experimentFolder(home, e.Name)
		return dashboard.Conducting{Name: e.Name, Dir: o.Dir, Run: func(ctx context.Context) error {
			return o.carryOut(ctx, exe)
		}}, nil
	}
}

// newResumer returns the function that has an experiment of a folder go on, in a process of exe.
func newResumer(exe string) func(string) dashboard.Conducting {
	return func(dir string) dashboard.Conducting {
		o := order{Dir: dir, Resume: true}
		return dashboard.Conducting{Name: filepath.Base(dir), Dir: dir,
			Run: func(ctx context.Context) error { return o.carryOut(ctx, exe) }}
	}
}

// stopTimeout is the timeout for an experiment to stop. Its servers may take time.
const stopTimeout = time.Minute

// carryOut has the program exe run the order. The process ends when its stdin is closed, so it does
// not outlive this process, however that ends.
func (o order) carryOut(ctx context.Context, exe string) error {
	cmd := exec.CommandContext(ctx, exe, "conduct")
	out, said := new(tail), new(tail)
	cmd.Stdout, cmd.Stderr = out, said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("pipe to the experiment: %w", err)
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, stopTimeout
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting the experiment: %w", err), in.Close())
	}
	json.NewEncoder(in).Encode(o) // if this fails the process has ended, and reports why
	err = cmd.Wait()
	if cmd.ProcessState.Success() { // even if it was told to stop just then
		return nil
	}
	var end conducted
	if json.Unmarshal(out.kept, &end) != nil || end.Why == "" { // a fault of dyno, or killed
		return fmt.Errorf("the experiment's process: %w: %s", err, said.lastLine())
	}
	if cmd.ProcessState.ExitCode() == exitInterrupted {
		return dashboard.Stopped{Err: errors.New(end.Why)}
	}
	return errors.New(end.Why)
}

// A conducted is what the process of an experiment writes to stdout at its end.
type conducted struct {
	Why string `json:"why,omitempty"` // it failed, or was stopped
}

// conductExperiment is the hidden verb by which a dashboard runs an experiment: dyno lab run, with
// an order as a line on stdin. It stops when stdin is closed, and says how it ended on stdout.
func conductExperiment(s streams, args []string) int {
	var end conducted
	out := s.out
	s.out, s.failed = io.Discard, &end.Why
	code := s.conduct(args)
	json.NewEncoder(out).Encode(end) // who ordered it may be gone
	return code
}

func (s streams) conduct(args []string) int {
	if len(args) > 0 {
		return s.refuseFlags("conduct", tooManyWords(args, 0))
	}
	// The end of the dashboard closes stderr, too. A line that is written to it before the experiment
	// has stopped must not end this process: its state would not be stored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	in := json.NewDecoder(s.in)
	var o order
	if err := in.Decode(&o); err != nil {
		return s.failWith(exitUsage, fmt.Errorf("reading what to run: %w", err))
	}
	go func() {
		io.Copy(io.Discard, s.in)
		stop()
	}()
	if len(o.Versus) > 0 {
		return s.conductVersus(ctx, o)
	}
	if o.Resume {
		f := labFlags{resume: o.Dir}
		e, faults := f.readExperiment(parsed{}, s.writeRemark)
		if len(faults) > 0 {
			return s.refuseFlags("lab run", faults)
		}
		return s.runExperiment(ctx, e, f)
	}
	e, err := o.readOrdered()
	faults := joinedErrors(err)
	if err == nil {
		faults = experimentMarkFaults(e, false)
	}
	if len(faults) > 0 {
		return s.refuseFlags("lab run", faults)
	}
	if o.Quick {
		e = design.Quick(e)
	}
	return s.runExperiment(ctx, e, labFlags{quick: o.Quick, output: o.Dir})
}

// A tail keeps the end of what is written to it.
type tail struct{ kept []byte }

// tailBytes is how much a tail keeps, enough for a line with an error.
const tailBytes = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	t.kept = t.kept[max(0, len(t.kept)-tailBytes):]
	return len(b), nil
}

// lastLine is the last line that has anything.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.kept))
	return text[strings.LastIndex(text, "\n")+1:]
}
