package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/hub"
	"dyno/internal/fleet/wire"
	"dyno/internal/lab"
	labrun "dyno/internal/lab/run"
	"dyno/internal/result"
	"dyno/internal/setting"
)

// fleetFlags name the machines that make the load. The zero value is this machine alone.
type fleetFlags struct {
	bus    busFlags
	agents []string // their names, or wire.Everyone alone; none: no fleet
	onLoss string
	loose  bool // clocks need not be known precisely
	total  bool // the plan's threads are the total of all agents

	was *lab.Fleet // of a resumed experiment
}

// fleetGroup is the flags that say who makes a load.
func (f *fleetFlags) fleetGroup() group {
	return titled(tableGroups(setting.Run, nil, f.readers()), "Fleet")
}

func (f *fleetFlags) readers() readers {
	all := readers{"fleet": storeParsed(&f.agents, parseAgents),
		"on-agent-loss": storeParsed(&f.onLoss, parseOnLoss), "loose-start": setSwitch(&f.loose)}
	maps.Copy(all, f.bus.readers())
	return all
}

// parseAgents parses names of agents, each once, or all.
func parseAgents(s string) ([]string, error) {
	all, err := parseList(s, func(name string) (string, error) {
		if !wire.ValidName(name) {
			return "", fmt.Errorf("%q is not the name of an agent", name)
		}
		return name, nil
	})
	if err == nil && len(all) > 1 && slices.Contains(all, wire.Everyone) {
		err = fmt.Errorf("%q names all agents, and some", s)
	}
	return all, err
}

func parseOnLoss(s string) (string, error) {
	if !slices.Contains(fleet.OnLoss, s) {
		return "", fmt.Errorf("%q is not %s", s, strings.Join(fleet.OnLoss, " or "))
	}
	return s, nil
}

// isAsked reports whether a fleet is to make the load.
func (f *fleetFlags) isAsked() bool { return len(f.agents) > 0 }

// setGiven records which flags were given, and returns the faults of those that need a fleet. A
// watch on an agent needs a bus too.
func (f *fleetFlags) setGiven(given map[string]bool, watches bool) []error {
	f.total = given["threads"]
	if f.isAsked() || given["fleet"] {
		return f.bus.faults()
	}
	var all []error
	for _, flag := range []string{"on-agent-loss", "loose-start", "nats", "creds", "nats-ca"} {
		if given[flag] && (!watches || flag == "on-agent-loss" || flag == "loose-start") {
			all = append(all, loadplan.Flaw{Setting: "--" + flag,
				Problem: "says something of a fleet; add --fleet"})
		}
	}
	if watches {
		all = append(all, f.bus.faults()...)
	}
	return all
}

// resumeFleet has a resumed experiment use the fleet that it was begun with, if any. The command
// line may give another address of its bus. Then --fleet all means the agents of then.
func (f *fleetFlags) resumeFleet(was *lab.Fleet) []error {
	if f.was = was; was == nil {
		return nil
	}
	bad := func(name string) bool { return !wire.ValidName(name) }
	if i := slices.IndexFunc(was.Agents, bad); i >= 0 {
		return []error{fmt.Errorf("the experiment's record is damaged: %q is not the name of an agent",
			was.Agents[i])}
	}
	if !f.isAsked() || f.agents[0] == wire.Everyone {
		f.agents = was.Agents
	}
	f.onLoss, f.loose = cmp.Or(f.onLoss, was.OnAgentLoss), f.loose || was.Loose
	if f.bus.URL == "" {
		f.bus.External = bus.External{URL: was.NATS, Creds: was.Creds, CACert: was.CACert}
	}
	faults := f.bus.faults()
	if len(faults) > 0 {
		faults = append(faults, errors.New("the experiment was begun so; if it has moved, add "+
			"--fleet all, --nats and --creds"))
	}
	return faults
}

// recordedFleet is the fleet in the form of an experiment's record.
func (f *fleetFlags) recordedFleet(agents []string) (was *lab.Fleet, err error) {
	was = &lab.Fleet{Agents: agents, OnAgentLoss: f.onLoss, Loose: f.loose, NATS: f.bus.URL,
		Creds: f.bus.Creds, CACert: f.bus.CACert}
	for _, file := range []*string{&was.Creds, &was.CACert} {
		if *file == "" {
			continue
		}
		if *file, err = filepath.Abs(*file); err != nil {
			return nil, err
		}
	}
	return was, nil
}

// absentFleet explains why the fleet is not available and, for a resumed experiment, what it needs.
func (f *fleetFlags) absentFleet(err error) error {
	if f.was == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, fmt.Errorf("the experiment goes on with %v alone: when the hub "+
		"and all of them are there, give the same command again", f.was))
}

// openController returns the controller of the fleet and its connection to the bus.
func (f *fleetFlags) openController(tell func(string)) (*fleet.Controller, *bus.Link, error) {
	folder, err := fleetFolder()
	if err != nil {
		return nil, nil, err
	}
	key, err := bus.OpenPlanKey(folder)
	if err != nil {
		return nil, nil, err
	}
	link, err := f.bus.openBus()
	if err != nil {
		return nil, nil, err
	}
	c := &fleet.Controller{Conn: link.Conn, Names: f.agents, Sign: key.SignPlan, OnLoss: f.onLoss,
		TotalThreads: f.total, LooseStart: f.loose, Progress: tell}
	if f.bus.URL == "" { // another bus has no hub that knows who joined
		c.VerifyAgent = func(agent string, text, signature []byte) error {
			return hub.VerifyAgent(folder, agent, text, signature)
		}
	}
	if f.agents[0] == wire.Everyone {
		c.Names = nil
	}
	return c, link, nil
}

// fleetRunner is the runner of the fleet if one was requested, otherwise usual. The caller must
// call the returned function at the end.
func (f *fleetFlags) fleetRunner(usual result.Runner, tell func(string)) (_ result.Runner,
	leave func(), err error) {
	if !f.isAsked() {
		return usual, func() {}, nil
	}
	c, link, err := f.openController(tell)
	if err != nil {
		return nil, nil, err
	}
	return auditedRunner(link, enclosingRunner(c.Run)), link.Close, nil
}

// enclosingRunner is run with plans that contain the contents of their files. The result has the
// names.
func enclosingRunner(run result.Runner) result.Runner {
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		named := p.TLS
		p, err := p.Enclose()
		if err != nil {
			return nil, err
		}
		r, err := run(ctx, p, each)
		if r != nil {
			t := &r.Plan.TLS
			t.CAFile, t.CertFile, t.KeyFile = named.CAFile, named.CertFile, named.KeyFile
		}
		return r, err
	}
}

// setLabFleet has a fleet make the laboratory's loads, if one was requested. Servers then listen at
// the address where agents reach the hub, if that is this machine. If an agent is missing later,
// lose is called with the remedy: this is no failure of the server, and would fail every later
// trial. The caller must call the returned function at the end.
func (f *fleetFlags) setLabFleet(l *labrun.Lab, stage *labrun.Stage,
	lose context.CancelCauseFunc) (leave func(),
	err error) {
	if !f.isAsked() {
		return func() {}, nil
	}
	c, link, err := f.openController(nil)
	if err != nil {
		return nil, f.absentFleet(err)
	}
	if err = c.ChooseAgents(context.Background()); err != nil {
		err = f.absentFleet(err)
	} else {
		l.Fleet, err = f.recordedFleet(c.Names)
	}
	if err != nil {
		link.Close()
		return nil, err
	}
	stage.Address = ownAddress(link.ConnectedAddr())
	run := wholeRunner(auditedRunner(link, c.Run)) // the laboratory's plans name no files
	l.Load = func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		p.CPUs = nil // the laboratory's CPUs are those of this machine
		r, err := run(ctx, p, each)
		_, missing := errors.AsType[fleet.MissingAgent](err)
		if ctx.Err() == nil && (missing || errors.Is(err, errPartial)) {
			lose(fmt.Errorf("%w: %w; when all are there, go on with: dyno lab run --resume %s",
				errWithout, err, l.Dir))
		}
		return r, err
	}
	return link.Close, nil
}

// ownAddress is the address of a host and port if this machine has it on a network; otherwise "".
func ownAddress(at string) string {
	addr, err := netip.ParseAddrPort(at)
	all, err2 := net.InterfaceAddrs()
	if err != nil || err2 != nil || addr.Addr().IsLoopback() {
		return ""
	}
	for _, a := range all {
		if n, err := netip.ParsePrefix(a.String()); err == nil && n.Addr() == addr.Addr().Unmap() {
			return addr.Addr().Unmap().String()
		}
	}
	return ""
}

// fleetReporter shows the progress of a fleet's run, unless quiet is set.
func (s streams) fleetReporter(quiet bool) func(string) {
	if quiet {
		return nil
	}
	return func(line string) { s.writeLine("fleet: %s", line) }
}

// errPartial is the error of a measurement that became worthless because an agent was lost.
var errPartial = errors.New("the load was only a part of what was asked for")

// errWithout is the error of an experiment that stopped because an agent is missing.
var errWithout = errors.New("the experiment stopped")

// wholeRunner is run, with an error if an agent was lost, for measurements that are compared.
func wholeRunner(run result.Runner) result.Runner {
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		r, err := run(ctx, p, each)
		if err == nil && len(r.Fleet.Lost()) > 0 {
			err = fmt.Errorf("%w: %s", errPartial, lostAgents(r))
		}
		return r, err
	}
}

// lostAgents names the agents that a run lost.
func lostAgents(r *result.Result) string {
	return "lost: agent " + strings.Join(r.Fleet.Lost(), ", agent ")
}
