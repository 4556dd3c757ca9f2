package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/fact"
	"dyno/internal/fleet/bus"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/setting"
)

// longestProfile is long enough for exact shares, and short enough to wait for.
const longestProfile = 30 * time.Second

// addWatch finds the processes that a --watch names, or notes the agent on whose machine they are.
func (f *runFlags) addWatch(s string) (err error) {
	if s == "" {
		return setting.ErrNoValue
	}
	f.watch = append(f.watch, s)
	if process, agent := splitWatch(s); agent != "" {
		return f.away.addWatched(process, agent)
	}
	if f.watched, err = probe.Also(f.watched, s); err != nil {
		return err
	}
	return nil
}

// splitWatch splits the value of --watch into the process and, if it is elsewhere, the agent.
func splitWatch(s string) (process, agent string) {
	if i := strings.LastIndex(s, "@"); i > 0 && bus.CheckAgentName(s[i+1:]) == nil {
		return s[:i], s[i+1:]
	}
	return s, ""
}

func (f *runFlags) setPprof(s string) error {
	if _, err := requests.Parse(s); err != nil {
		return err
	}
	f.pprof = s
	return nil
}

// profileDuration is the length of the profile. Go's handlers accept only whole seconds.
func (f *runFlags) profileDuration() time.Duration {
	return min(time.Duration(f.plan.Duration), longestProfile).Truncate(time.Second)
}

// A watch observes the server while it is loaded. The zero value observes nothing.
type watch struct {
	sampler   *probe.Sampler // nil: the machine cannot be watched
	server    bool           // a server is watched too
	asked     []string       // the processes, as they were given
	found     []fact.Fact    // about which of them are watched
	away      *awayWatch     // on an agent's machine; nil: none
	profiling *profiling     // nil: none
}

// machinePace is how often the machine is sampled if no server is watched.
const machinePace = time.Second

// startWatch begins to watch what the flags name, and always the machine, which the generator's
// verdict needs. The caller must end it.
func startWatch(ctx context.Context, f *runFlags) (w watch, err error) {
	found := f.leaveOthers()
	config := probe.Config{Every: machinePace}
	if len(f.watched) > 0 {
		config = probe.Config{Trees: func() []probe.Tree { return f.watched }}
	}
	w, err = beginWatch(ctx, f, config)
	w.found = found
	return w, err
}

// beginWatch is startWatch with the configuration of the machine's probe.
func beginWatch(ctx context.Context, f *runFlags, config probe.Config) (w watch, err error) {
	if w.sampler, err = probe.Start(config); err != nil && len(f.watched) > 0 {
		return w, loadplan.Flaw{Setting: "--watch", Problem: err.Error()}
	}
	w.server, w.asked = len(f.watched) > 0, f.watch
	if w.away, err = f.away.beginAwayWatch(ctx, f.fleet.bus); err != nil {
		if w.sampler != nil { // otherwise this machine cannot be watched
			w.sampler.Stop()
		}
		return w, err
	}
	if f.pprof != "" {
		w.profiling = startProfile(ctx, f.pprof, time.Duration(f.plan.Warmup), f.profileDuration())
	}
	return w, nil
}

// endWatch stops watching, and returns a function that adds what was seen to a result.
func (w watch) endWatch() (add func(*result.Result)) {
	var rec *probe.Recording
	var taken *profile.Profile
	var err error
	if w.sampler != nil {
		rec = w.sampler.Stop()
	}
	if w.profiling != nil {
		taken, err = w.profiling.waitProfile()
	}
	return func(r *result.Result) {
		if rec != nil && r.Fleet == nil { // this machine made the load
			r.AddObserved(rec)
		}
		if w.server {
			r.Server = r.Watched(rec)
		}
		addFound(r, w.found)
		w.away.addSeen(r)
		if r.Server != nil {
			r.Server.Watch = w.asked
		}
		if taken != nil {
			r.Profile = result.NewProfile(profile.CPU, taken)
			if p := r.Plan; p.Open() && p.Replay == 0 && p.Arrival != loadplan.Poisson {
				r.Warn(inStep)
			}
		}
		if err != nil {
			r.Warn(fact.Fact{Severity: fact.Warning, Args: fact.ProfileLacking{Why: err.Error()}})
		}
	}
}

// inStep warns of a profile under evenly spaced requests. With 500 a second, and a kernel that
// has 250 ticks a second, all samples are of one moment of a request.
var inStep = fact.Fact{Severity: fact.Warning, Args: fact.ProfileInStep{},
	Remedies: []fact.Remedy{{Setting: "arrival", Value: loadplan.Poisson}}}

// A profiling is a profile in progress.
type profiling struct {
	until  time.Time // when it will be complete
	long   time.Duration
	cancel context.CancelFunc
	done   chan struct{}

	// The profile or the error, valid once done is closed.
	taken *profile.Profile
	err   error
}

// startProfile takes a CPU profile of that length, after a delay.
func startProfile(ctx context.Context, url string, after, long time.Duration) *profiling {
	ctx, cancel := context.WithCancel(ctx)
	p := &profiling{until: time.Now().Add(after + long), long: long, cancel: cancel,
		done: make(chan struct{})}
	go func() {
		defer close(p.done)
		select {
		case <-ctx.Done():
			p.err = ctx.Err()
		case <-time.After(after):
			p.taken, p.err = profile.Fetch(ctx, url, profile.CPU, long)
		}
	}()
	return p
}

// errNotLoaded is the error of a profile of an idle server.
var errNotLoaded = errors.New("the load ended before the time to profile did")

// waitProfile waits for the profile, unless a large part of it would still come from a server that
// is no longer loaded.
func (p *profiling) waitProfile() (*profile.Profile, error) {
	defer p.cancel()
	if time.Until(p.until) > p.long/10 {
		p.cancel()
	}
	<-p.done
	if errors.Is(p.err, context.Canceled) {
		return nil, errNotLoaded
	}
	return p.taken, p.err
}
