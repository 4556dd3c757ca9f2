package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/policy"
	fleetwatch "dyno/internal/fleet/watch"
	"dyno/internal/remote"
	"dyno/internal/setting"
)

const agentNotes = `TOKEN is what dyno fleet token prints, @FILE a file with it, - stdin. It is used
once; the agent's own key, made here, is kept in $DYNO_HOME/agents, so that it is
started again with the same command line or with none. It dials out and listens
on nothing, obeys one plan key, and loads what its policy allows: without a FILE
and without ` + policyFile + `, private addresses only, and this machine's own if
the hub is on loopback. Exit codes: 0 it was ended, 2 bad usage or a bad file, 4
nobody is there, 6 it is refused, or revoked: starting it again is no use.
`

var agentExamples = []string{
	"dyno agent --join @join-token",
	"dyno agent --join @join-token --name web1 --weight 2",
}

// policyFile is the default path of an agent's policy.
const policyFile = "/etc/dyno/agent.yaml"

// agentFlags is the command line of dyno agent.
type agentFlags struct {
	helpFlag
	busFlags
	join, name, policy, planKey string
	weight                      int
	watch                       bool
	leave                       time.Duration
}

func (f *agentFlags) groups() []group {
	return []group{
		{"Who", []option{
			{"join", "", "TOKEN", "how to join (as it did before)", setText(&f.join)},
			{"name", "", "NAME", "small letters, digits and dashes (the host's)",
				storeParsed(&f.name, parseName)},
		}},
		{"What it lends", []option{
			{"weight", "", "N", "of its share of a load, beside those of others; or calibrated: the\n" +
				"thousands of requests a second that dyno calibrate found (its cores)",
				storeParsed(&f.weight, parseWeight)},
			{"policy", "", "FILE", "what it may load, and how much (" + policyFile + ")",
				setText(&f.policy)},
			{"watch", "", "", "it makes no load; dyno run --watch NAME@AGENT sees its\nprocesses",
				setSwitch(&f.watch)},
			{"leave-after", "", "D", "end when the bus was away for so long (never)",
				storeParsed(&f.leave, setting.ParseDuration)},
		}},
		{"Another's bus", append(f.options(),
			option{"plan-key", "", "KEY", "with --nats: whose plans it obeys; dyno fleet key prints it,\n" +
				"where the fleet is run", storeParsed(&f.planKey, parsePlanKey)},
			option{"help", "h", "", "this", setSwitch(&f.help)})},
	}
}

func parseName(s string) (string, error)    { return s, bus.CheckAgentName(s) }
func parsePlanKey(s string) (string, error) { return s, bus.CheckPlanKey(s) }

// faults are contradictions between the flags.
func (f *agentFlags) faults() []error {
	all := f.busFlags.faults()
	wrong := func(is bool, text string) {
		if is {
			all = append(all, errors.New(text))
		}
	}
	wrong(f.URL != "" && f.join != "", "--nats and --join: a token leads to a hub; give one of them")
	wrong(f.URL != "" && f.planKey == "", "--plan-key: with --nats it has to be said whose plans are "+
		"obeyed; dyno fleet key prints it")
	wrong(f.URL == "" && f.planKey != "", "--plan-key: who joins is told it; it is for --nats")
	wrong(f.watch && f.weight != 0, "--watch and --weight: who makes no load has no share of it")
	wrong(f.watch && f.policy != "", "--watch and --policy: who makes no load needs no policy for it")
	return all
}

// runAgent is dyno agent.
func runAgent(s streams, args []string) int {
	var f agentFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("agent")
	}
	faults := slices.Concat(p.faults, p.extraWords(0), f.faults())
	allowed, err := f.readPolicy()
	faults = append(faults, joinedErrors(err)...)
	home, err := dynohome.Dir()
	faults = append(faults, joinedErrors(err)...)
	exe, err := os.Executable()
	faults = append(faults, joinedErrors(err)...)
	if len(faults) > 0 {
		return s.refuseFlags("agent", faults)
	}
	a := fleet.Agent{Name: f.name, Weight: f.weight, Policy: allowed, WatchOnly: f.watch,
		Log: s.logAgent, ChooseRing: ringHere,
		Load: remote.Child{Args: []string{exe, "worker"}, Memory: remote.HalfOfMemory()}.RunShared}
	if f.URL != "" {
		return s.serveAgent(f, &a)
	}
	i, err := s.openIdentity(f, home)
	if err != nil {
		return s.failWith(agentExitCode(err), err)
	}
	l, err := i.Connect(f.leave)
	if err != nil {
		return s.failWith(agentExitCode(err), err)
	}
	defer l.Close()
	if err := registerAgent(&i, l); err != nil {
		return s.failWith(agentExitCode(err), err)
	}
	if err := i.Save(home); err != nil {
		s.logAgent(err.Error() + "; started again, it will need another token")
	}
	a.Name, a.Verify, a.Sign = i.Name, orderVerifier(i.PlanKey), i.SignText
	return s.serveFleet(&a, l, func(ctx context.Context) {
		i.KeepRenewed(ctx, l, func(i bus.Identity) error { return i.Save(home) }, s.logAgent)
	})
}

// serveAgent is dyno agent on a bus that somebody else runs.
func (s streams) serveAgent(f agentFlags, a *fleet.Agent) int {
	if a.Name == "" {
		a.Name = bus.AgentNameFor(hostname())
	}
	l, err := f.Connect(bus.Settings{Name: a.Name, GiveUpAfter: f.leave})
	if err != nil {
		return s.failWith(agentExitCode(err), err)
	}
	defer l.Close()
	a.Verify = orderVerifier(f.planKey)
	return s.serveFleet(a, l, func(context.Context) {})
}

// agentExitCode is busExitCode of an agent. A service that starts again what crashed must know a
// refusal from a crash, for which Go has the exit code 2.
func agentExitCode(err error) int {
	switch {
	case errors.As(err, new(agentUsage)):
		return exitUsage
	case errors.Is(err, bus.ErrRefused):
		return exitRefused
	}
	return busExitCode(err)
}

// An agentUsage is a fault of the command line that only the files of this machine show.
type agentUsage struct{ error }

func (u agentUsage) Unwrap() error { return u.error }

// logAgent logs what the agent does, with the time.
func (s streams) logAgent(line string) {
	s.writeLine("%s %s", time.Now().Format(time.DateTime), line)
}

// orderVerifier accepts what was signed with the plan key.
func orderVerifier(planKey string) func(order, signature []byte) error {
	return func(order, signature []byte) error { return bus.VerifyPlan(planKey, order, signature) }
}

// readPolicy reads the agent's policy: from the given file, else from the machine's file, else the
// default. An agent that only watches refuses every load.
func (f *agentFlags) readPolicy() (*policy.Policy, error) {
	if f.watch {
		return new(policy.Policy), nil
	}
	if f.policy != "" {
		return policy.ReadFile(f.policy)
	}
	p, err := policy.ReadFile(policyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return policy.Default(), nil
	}
	return p, err
}

// hostname is this machine's host name.
func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}

// openIdentity opens the agent's earlier identity, or joins to get one.
func (s streams) openIdentity(f agentFlags, home string) (bus.Identity, error) {
	all, err := bus.Identities(home)
	if err != nil {
		return bus.Identity{}, err
	}
	if f.join == "" {
		return f.knownIdentity(all)
	}
	token, err := s.readToken(f.join)
	if err != nil {
		return bus.Identity{}, agentUsage{fmt.Errorf("--join: %w", err)}
	}
	for _, i := range all {
		if i.Token == token.TokenID() && (f.name == "" || f.name == i.Name) {
			return i, nil
		}
	}
	return bus.Join(token, bus.JoinRequest{Name: f.name, Host: hostname(), Version: loadplan.Version})
}

// knownIdentity is the only identity, or the one of the given name.
func (f *agentFlags) knownIdentity(all []bus.Identity) (bus.Identity, error) {
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
		if i.Name == f.name || f.name == "" && len(all) == 1 {
			return i, nil
		}
	}
	switch {
	case len(all) == 0:
		return bus.Identity{}, agentUsage{errors.New("--join: a token is wanted: this machine " +
			"has joined no fleet; dyno fleet token makes one, where the fleet is run")}
	case f.name == "":
		return bus.Identity{}, agentUsage{fmt.Errorf("--name: which? this machine has joined as %q",
			names)}
	}
	return bus.Identity{}, agentUsage{fmt.Errorf("--name: this machine has joined as %q and "+
		"not as %s: give --join and a token", names, f.name)}
}

// How often, and at which interval, an agent registers before it accepts that another agent has its
// identity. The hub may not have noticed yet that its own last connection was lost.
const (
	presentations = 4
	presentAgain  = 1500 * time.Millisecond
)

// registerAgent registers the agent with the hub.
func registerAgent(i *bus.Identity, l *bus.Link) (err error) {
	for n := range presentations {
		if n > 0 {
			time.Sleep(presentAgain)
		}
		if err = i.Renew(l); err == nil || !errors.Is(err, bus.ErrRefused) {
			return err
		}
	}
	return err
}

// serveFleet runs the agent until it is interrupted or its bus is gone for good. beside runs at the
// same time and maintains what the agent needs.
func (s streams) serveFleet(a *fleet.Agent, l *bus.Link, beside func(context.Context)) int {
	a.Conn, a.Policy = l.Conn, a.Policy.WithLocalBus(l.ConnectedAddr())
	ctx, stop := untilInterrupted()
	defer stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	var helpers sync.WaitGroup
	var gone error
	helpers.Go(func() { beside(ctx) })
	if a.WatchOnly {
		w := fleetwatch.Agent{Conn: l.Conn, Name: a.Name, Verify: a.Verify, Log: a.Log}
		helpers.Go(func() {
			if err := w.Serve(ctx); err != nil {
				s.logAgent(err.Error())
			}
		})
	}
	helpers.Go(func() {
		select {
		case <-ctx.Done():
		case gone = <-l.Ended():
			end()
		}
	})
	fmt.Fprintf(s.out, "agent %s is on the bus at %s\n", a.Name, l.ConnectedAddr())
	s.logAgent("its policy: " + a.Policy.String())
	err := a.Serve(ctx)
	end()
	helpers.Wait()
	switch {
	case err != nil:
		return s.failWith(exitFault, err)
	case errors.Is(gone, bus.ErrBusLost):
		s.logAgent(gone.Error())
	case gone != nil:
		return s.failWith(agentExitCode(gone), gone)
	}
	return exitOK
}
