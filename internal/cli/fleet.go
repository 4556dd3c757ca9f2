package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fault"
	"dyno/internal/fleet"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/deploy"
	"dyno/internal/fleet/hub"
	"dyno/internal/setting"
)

const upNotes = `A fleet is machines that lend themselves to one load. This keeps what they meet
on, until Ctrl-C; its agents come back when it is started again. Agents dial
this machine, over TLS 1.3, and listen on nothing: with an ADDR of a network,
let them through to its port. docs/fleet.md has the rest.
`

const tokenNotes = `A token is good for one machine, once: dyno agent --join. It is a secret; have
it go by a file or a pipe, as in
  dyno fleet token | ssh web1 dyno agent --join -
With -o each token is a file in DIR: 0, 1, 2 and so on.
`

const deployNotes = `KIND is %s.
No file has a secret in it: each says how its agents get their tokens.
`

func fleetVerbs() []verb {
	return []verb{
		{name: "agent", args: "--join TOKEN|@FILE|-",
			does: "run an agent: this machine makes loads for a fleet", run: runAgent,
			groups: new(agentFlags).groups, more: agentNotes, examples: agentExamples},
		{name: "fleet up", args: "[flags]", does: "run the hub that agents of a fleet join",
			run: fleetUp, groups: newUpFlags().groups, more: upNotes,
			examples: []string{"dyno fleet up", "dyno fleet up --listen 10.0.0.5:3967"}},
		{name: "fleet token", args: "[flags]", does: "make a token by which a machine joins, once",
			run: fleetToken, groups: newTokenFlags().groups, more: tokenNotes,
			examples: []string{"dyno fleet token", "dyno fleet token --life 5m --count 3 -o tokens"}},
		{name: "fleet ls", args: "[flags]", does: "list the agents, and the tokens that are out",
			run: fleetList, groups: new(listFlags).groups, examples: []string{"dyno fleet ls"}},
		{name: "fleet revoke", args: "NAME...", does: "throw an agent out, or make a token worthless",
			run: fleetRevoke, groups: new(helpFlag).groups,
			examples: []string{"dyno fleet revoke web1"}},
		{name: "fleet stop", args: "[flags]", does: "end what the agents run, and the hub",
			run: fleetStop, groups: new(stopFlags).groups,
			examples: []string{"dyno fleet stop --loads", "dyno fleet stop"}},
		{name: "fleet key", does: "print the plan key that agents obey, for --plan-key", run: fleetKey,
			groups: new(helpFlag).groups, examples: []string{"dyno fleet key"}},
		{name: "fleet deploy", args: "[flags] KIND [HOST...]",
			does: "write the file that starts agents elsewhere", run: fleetDeploy,
			groups: newDeployFlags().groups, more: fmt.Sprintf(deployNotes, deployKinds()),
			examples: []string{"dyno fleet deploy systemd", "dyno fleet deploy ssh web1 web2",
				"dyno fleet deploy kubernetes --agents 3 --hub 10.0.0.5:3967"}},
	}
}

// deployKinds lists the kinds of dyno fleet deploy, for a message.
func deployKinds() string {
	var all []string
	for _, k := range deploy.Kinds {
		all = append(all, k.Name+" ("+k.Does+")")
	}
	return strings.Join(all, ",\n")
}

// upFlags is the command line of dyno fleet up.
type upFlags struct {
	helpFlag
	hub.Config
}

func newUpFlags() *upFlags {
	return &upFlags{Config: hub.Config{Listen: "127.0.0.1:" + strconv.Itoa(hub.Port)}}
}

func (f *upFlags) groups() []group {
	return []group{{"Flags", []option{
		{"listen", "", "ADDR", fmt.Sprintf("HOST:PORT, where port 0 is a free one (127.0.0.1:%d, which\n"+
			"only this machine reaches)", hub.Port), setText(&f.Listen)},
		{"advertise", "", "HOST", "what agents are told to dial, perhaps with a port; {again}\n" +
			"(where it listens)", func(s string) error {
			f.Advertise = append(f.Advertise, s)
			return nil
		}},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// fleetUp is dyno fleet up.
func fleetUp(s streams, args []string) int {
	f := newUpFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet up")
	}
	faults := append(p.faults, p.extraWords(0)...)
	if err := f.Check(); err != nil {
		faults = append(faults, err)
	}
	var err error
	if f.Folder, err = fleetFolder(); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return s.refuseFlags("fleet up", faults)
	}
	f.Log = func(line string) {
		s.writeLine("%s %s", time.Now().Format(time.TimeOnly), line)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	h, err := hub.StartHub(f.Config)
	if err != nil {
		return s.refuseFlags("fleet up", []error{err})
	}
	fmt.Fprintf(s.out, "the fleet's hub is at %s\n", strings.Join(h.Addresses(), ", "))
	fmt.Fprintln(s.err, "dyno: machines join with dyno fleet token and dyno agent; Ctrl-C ends it")
	if err := h.Serve(ctx); err != nil {
		return s.failWith(exitFault, err)
	}
	return exitOK
}

// tokenFlags is the command line of dyno fleet token.
type tokenFlags struct {
	helpFlag
	bus.TokenRequest
	count  int
	folder string
}

func newTokenFlags() *tokenFlags {
	return &tokenFlags{TokenRequest: bus.TokenRequest{Life: 15 * time.Minute}, count: 1}
}

func (f *tokenFlags) groups() []group {
	return []group{{"Flags", []option{
		{"life", "", "D", fmt.Sprintf("how long it can be used, up to %.0fh (15m)", hub.LifeMax.Hours()),
			storeParsed(&f.Life, setting.ParseDuration)},
		{"name", "", "NAME", "only for an agent of that name", setText(&f.Name)},
		{"from", "", "CIDR", "only from these addresses, and so the agent; {again}",
			func(s string) error {
				f.From = append(f.From, s)
				return nil
			}},
		{"count", "", "N", fmt.Sprintf("so many, one a line, up to %d (1)", deploy.AgentsMax),
			storeParsed(&f.count, setting.Positive(setting.ParseInt))},
		{"output", "o", "DIR", "each into a file of that new folder", setText(&f.folder)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// fleetToken is dyno fleet token.
func fleetToken(s streams, args []string) int {
	f := newTokenFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet token")
	}
	faults := append(p.faults, p.extraWords(0)...)
	if f.Name != "" && f.count > 1 {
		faults = append(faults, errors.New("--name and --count: two agents cannot have one name"))
	}
	if f.count > deploy.AgentsMax {
		faults = append(faults, fmt.Errorf("--count: %d is more than %d", f.count, deploy.AgentsMax))
	}
	if len(faults) > 0 {
		return s.refuseFlags("fleet token", faults)
	}
	l, err := new(busFlags).openBus()
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	defer l.Close()
	if f.folder != "" {
		if err := os.Mkdir(f.folder, 0o700); err != nil {
			return s.refuseFlags("fleet token", []error{
				loadplan.Flaw{Setting: "--output", Problem: fault.Text(err)}})
		}
	}
	tokens, err := f.requestTokens(l)
	switch {
	case err != nil && f.folder != "":
		os.Remove(f.folder) // so that the user can try again
		fallthrough
	case err != nil:
		return s.failWith(busExitCode(err), err)
	case f.folder == "":
		return s.printText(strings.Join(tokens, "\n") + "\n")
	}
	return s.writeExitCode(writeTokens(f.folder, tokens))
}

// requestTokens has the hub create the tokens.
func (f *tokenFlags) requestTokens(l *bus.Link) (tokens []string, err error) {
	for range f.count {
		var t bus.IssuedToken
		if err := bus.QueryHub(l.Conn, bus.SubjectToken, f.TokenRequest, &t); err != nil {
			return nil, err
		}
		tokens = append(tokens, t.Token)
	}
	return tokens, nil
}

// writeTokens writes each token to a file that any user of a container can read, whatever the
// umask, in a folder that no other user can enter.
func writeTokens(folder string, tokens []string) error {
	for i, t := range tokens {
		name := filepath.Join(folder, strconv.Itoa(i))
		err := os.WriteFile(name, []byte(t+"\n"), 0o400)
		if err == nil {
			err = os.Chmod(name, 0o444)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fleetRevoke is dyno fleet revoke.
func fleetRevoke(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet revoke")
	}
	if len(p.words) == 0 {
		p.faults = append(p.faults, errors.New("one NAME or more is wanted: of agents, or IDs of tokens"))
	}
	if len(p.faults) > 0 {
		return s.refuseFlags("fleet revoke", p.faults)
	}
	l, err := new(busFlags).openBus()
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	defer l.Close()
	var errs []error
	var revoked []string
	for _, name := range p.words {
		err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: name}, nil)
		if errs = append(errs, err); err == nil {
			revoked = append(revoked, name)
		}
	}
	code := exitOK
	if len(revoked) > 0 {
		code = s.printText(fmt.Sprintf("revoked: %s\n", strings.Join(revoked, ", ")))
	}
	if err := errors.Join(errs...); err != nil {
		return s.failWith(busExitCode(err), err)
	}
	return code
}

// stopFlags is the command line of dyno fleet stop.
type stopFlags struct {
	helpFlag
	busFlags
	loads bool
}

func (f *stopFlags) groups() []group {
	return []group{{"Flags", slices.Concat([]option{
		{"loads", "", "", "only what the agents run; the hub stays", setSwitch(&f.loads)},
	}, f.options(), []option{{"help", "h", "", "this", setSwitch(&f.help)}})}}
}

// fleetStop is dyno fleet stop.
func fleetStop(s streams, args []string) int {
	var f stopFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet stop")
	}
	if faults := slices.Concat(p.faults, p.extraWords(0), f.faults()); len(faults) > 0 {
		return s.refuseFlags("fleet stop", faults)
	}
	l, err := f.openBus()
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	defer l.Close()
	folder, err := fleetFolder()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	key, err := bus.OpenPlanKey(folder)
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	err = fleet.StopAllRuns(ctx, l.Conn, key.SignPlan, "dyno fleet stop")
	said := "the agents stop what they run"
	if !f.loads && f.URL == "" { // without it no load continues
		err = errors.Join(err, bus.QueryHub(l.Conn, bus.SubjectStop, struct{}{}, nil))
		said += "; the hub is down"
	}
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	return s.printText(said + "\n")
}

// fleetKey is dyno fleet key.
func fleetKey(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet key")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("fleet key", faults)
	}
	folder, err := fleetFolder()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	key, err := bus.OpenPlanKey(folder)
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	return s.printText(key.Public + "\n")
}
