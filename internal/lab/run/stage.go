package run

import (
	"context"
	"dyno/internal/lab"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/observe/probe"
	"dyno/internal/remote"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A Stage starts servers as processes of this machine. Each trial has a private directory, ports
// and sockets of its own.
type Stage struct {
	Output     string   // folder for what servers write
	Build      string   // folder for what is built
	Dyno       string   // path of dyno's executable
	Supervisor []string // its command line as a supervisor
	CPUs       server.Split
	Worker     []string // its command line as a generator, or for other requests to the server
	Clients    experiment.Clients
	Address    string // where servers listen; "": their usual address

	Ring func(loadplan.Plan) string // for Workers
}

// portTries is how often other ports are tried if another program has taken one.
const portTries = 3

// Start starts a variant and returns when it answers.
func (g *Stage) Start(ctx context.Context, s Setting) (Stand, error) {
	if len(s.Variant.Processes) == 0 {
		return g.startExisting(ctx, s)
	}
	for try := 1; ; try++ {
		stand, err := g.startProcesses(ctx, s)
		f, failed := errors.AsType[*server.Failure](err)
		if !failed || f.Kind != server.PortTaken || try == portTries {
			return stand, err
		}
	}
}

// startExisting is a stand of a server that runs already.
func (g *Stage) startExisting(ctx context.Context, s Setting) (Stand, error) {
	i, err := experiment.Render(s.Variant, experiment.Values{Dyno: g.Dyno,
		Port: noPort, Socket: noSocket, Connections: int(s.Level.Connections),
		Threads: workload.GeneratorThreads(s.Level, g.CPUs.Generator)})
	if err != nil {
		return nil, err
	}
	if g.Clients.Count < 2 && i.Generator == nil {
		return externalStand{i}, nil
	}
	dir, err := server.SocketDir()
	if err != nil {
		return nil, err
	}
	return g.startStand(ctx, s, i, server.Spec{Dir: dir, Temporary: true, Supervisor: g.Supervisor})
}

// startStand starts what spec says, for an instance.
func (g *Stage) startStand(ctx context.Context, s Setting, i *experiment.Instance,
	spec server.Spec) (Stand, error) {
	running, err := server.Start(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(spec.Dir))
	}
	workers := &remote.Workers{Server: running, Args: g.Worker, Count: max(g.Clients.Count, 1),
		Isolated: g.isIsolated(), Ring: g.Ring}
	h := &localStand{Instance: i, server: running, private: spec.Netns != nil, workers: workers}
	if i.Generator != nil {
		h.foreign = newForeignGenerator(running, i.Generator, func(process string) string {
			return g.outputFile(s, process)
		})
	}
	return h, nil
}

// outputFile is the file for the output of a process of a trial.
func (g *Stage) outputFile(s Setting, process string) string {
	return filepath.Join(g.Output, s.Trial+lab.PartMark+lab.ShortName(lab.SafeName(process))+".log")
}

// isIsolated reports whether each client has a network namespace of its own.
func (g *Stage) isIsolated() bool { return g.Clients.Isolate == experiment.NetNS }

func noPort(string) (int, error) {
	return 0, errors.New("a server by url alone has no port of ours")
}

func noSocket(_, _ string) (string, error) {
	return "", errors.New("a server by url alone has no socket of ours")
}

func (g *Stage) startProcesses(ctx context.Context, s Setting) (_ Stand, err error) {
	dir, err := server.SocketDir() // short enough for paths of sockets
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	i, err := experiment.Render(s.Variant, experiment.Values{
		Dir: dir, Build: filepath.Join(g.Build, lab.SafeName(s.Variant.Name)), Dyno: g.Dyno,
		CPUs: len(g.CPUs.Server), Connections: int(s.Level.Connections),
		Threads: workload.GeneratorThreads(s.Level, g.CPUs.Generator),
		Port:    distinctPorts(), Address: g.serverAddress(),
		Socket: func(in, name string) (string, error) { return filepath.Join(in, name+".sock"), nil },
	})
	if err != nil {
		return nil, err
	}
	if err := fillRunDir(dir, i); err != nil {
		return nil, err
	}
	spec, err := g.serverSpec(s, i, dir)
	if err != nil {
		return nil, err
	}
	return g.startStand(ctx, s, i, spec)
}

// isSameServer reports whether connections of two URLs lead to one address, whatever they speak.
func isSameServer(a, b string) bool {
	one, err := requests.Parse(a)
	other, err2 := requests.Parse(b)
	x, y := one.Target, other.Target
	return err == nil && err2 == nil && x.Unix == y.Unix && x.Port == y.Port &&
		strings.EqualFold(x.Host, y.Host)
}

// serverAddress is where servers are reached; "" for their usual address.
func (g *Stage) serverAddress() string {
	if g.isIsolated() {
		return server.NetnsAddress
	}
	return g.Address
}

// serverSpec converts an instance for package server.
func (g *Stage) serverSpec(s Setting, i *experiment.Instance, dir string) (spec server.Spec,
	err error) {
	spec = server.Spec{Dir: dir, Temporary: true, Supervisor: g.Supervisor, Waits: s.Waits}
	if len(i.Sysctl) > 0 || g.isIsolated() {
		spec.Netns = &server.Netns{Sysctl: map[string]string{}}
		if g.isIsolated() {
			spec.Netns.Clients = g.Clients.Count
		}
		for _, e := range i.Sysctl {
			spec.Netns.Sysctl[e.Name] = e.Value
		}
	}
	// The size of the environment decides where the stack begins, and so how memory is aligned. A
	// random length for each trial turns this bias into noise. Source: Mytkowicz, Diwan, Hauswirth,
	// Sweeney, "Producing Wrong Data Without Doing Anything Obviously Wrong!", ASPLOS 2009.
	pad := "DYNO_PADDING=" + strings.Repeat("x", rand.IntN(4096))
	for _, p := range i.Processes {
		q := server.Process{Name: p.Name, Args: p.Args, Dir: p.Dir, User: p.User, NoFile: p.NoFile,
			Env:    append(append(os.Environ(), pad), p.Env...),
			CPUs:   g.CPUs.Server,
			Output: g.outputFile(s, p.Name),
			Stop:   signals[p.Signal], Grace: p.Grace}
		if p.Ready != nil {
			q.Ready = &server.Ready{URL: p.Ready.URL, Log: p.Ready.Log, Timeout: p.Ready.Timeout,
				Statuses: statusCodes(p.Ready.Status)}
			if isSameServer(p.Ready.URL, i.URL) {
				if q.Ready.Way, err = s.Level.Way(); err != nil {
					return spec, err
				}
			}
		}
		spec.Processes = append(spec.Processes, q)
	}
	return spec, nil
}

// statusCodes lists all expected codes.
func statusCodes(from experiment.Statuses) (all []int) {
	for _, s := range from {
		for code := s.From; code <= s.To; code++ {
			all = append(all, code)
		}
	}
	return all
}

// externalStand is a Stand of a server that dyno neither starts nor watches.
type externalStand struct{ *experiment.Instance }

func (e externalStand) URL() string                 { return e.Instance.URL }
func (e externalStand) PProf() string               { return e.Instance.PProf }
func (e externalStand) Trees() []probe.Tree         { return nil }
func (e externalStand) Died() <-chan server.Failure { return nil }
func (e externalStand) Load() result.Runner         { return nil }
func (e externalStand) Reach() Reach {
	return Reach{Count: remote.NewCounter(e.Served)}
}
func (e externalStand) Stop() server.Report { return server.Report{} }

// localStand is a Stand of processes of this machine: servers, generators, or both.
type localStand struct {
	*experiment.Instance
	server  *server.Server
	workers *remote.Workers
	foreign *foreignGenerator // nil: dyno loads
	private bool              // in a network namespace that this process is not in
}

func (h *localStand) URL() string                 { return h.Instance.URL }
func (h *localStand) PProf() string               { return h.Instance.PProf }
func (h *localStand) Died() <-chan server.Failure { return h.server.Died() }

func (h *localStand) Trees() (all []probe.Tree) {
	for _, p := range h.server.Processes() {
		all = append(all, probe.Tree{Name: p.Name, PID: p.PID})
	}
	if h.foreign != nil {
		all = append(all, h.foreign.Trees()...)
	}
	return append(all, h.workers.ProcessTrees()...)
}

func (h *localStand) Load() result.Runner {
	if h.foreign != nil {
		return h.foreign.runLoad
	}
	if !h.private && h.workers.Count < 2 {
		return nil
	}
	return h.workers.RunLoad
}

func (h *localStand) Reach() Reach {
	if !h.private {
		return Reach{Count: remote.NewCounter(h.Served)}
	}
	r := Reach{Ask: h.workers.AskServer, Fetch: h.workers.FetchProfile}
	if h.Served != "" {
		r.Count = func(ctx context.Context) (remote.Count, error) {
			return h.workers.CountServed(ctx, h.Served)
		}
	}
	return r
}

// Stop stops the processes, and removes their directory.
func (h *localStand) Stop() server.Report {
	report, err := h.server.Stop()
	if err != nil {
		report.Killed = append(report.Killed, err.Error())
	}
	return report
}

// distinctPorts returns a function that finds free ports, each only once.
func distinctPorts() func(string) (int, error) {
	given := map[int]bool{}
	return func(string) (int, error) {
		for {
			port, err := server.FreePort()
			if err != nil || !given[port] {
				given[port] = true
				return port, err
			}
		}
	}
}
