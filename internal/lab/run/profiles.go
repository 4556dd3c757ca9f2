package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"os"
	"path/filepath"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/stats"
)

const (
	profileLead = time.Second     // of load before a profile begins and after it ends
	profileTop  = 15              // functions that are listed
	profileWait = 5 * time.Second // how much longer than requested a profile may take
)

// takeProfiles takes a profile of each arm at each level, each in a trial of its own. These trials
// are not judged, because profiling slows the server. Profiles of earlier sessions are kept.
func (r *running) takeProfiles(ctx context.Context) {
	want := r.Experiment.Profile
	if want == nil {
		return
	}
	if err := os.MkdirAll(filepath.Join(r.Dir, lab.ProfilesFolder), 0o755); err != nil {
		return
	}
	had := r.record.Profiles
	r.record.Profiles = nil
	took := map[string]*profile.Profile{} // by arm, level and kind
	for _, a := range r.loadableArms() {
		for _, l := range r.Experiment.Levels {
			for _, kind := range want.Kinds {
				if a.Control || l.IsSearch() {
					continue
				}
				t, p := r.storedProfile(had, lab.TakenProfile{Arm: a.Name, Level: l.Name, Kind: kind})
				if p == nil {
					t, p = r.takeProfile(ctx, a, l, kind)
				}
				if p == nil && ctx.Err() != nil {
					continue // an interrupted profile does not count
				}
				took[a.Name+"\x00"+l.Name+"\x00"+kind] = p
				base := took[a.Baseline+"\x00"+l.Name+"\x00"+kind]
				if p != nil && base != nil && len(p.Sample) > 0 && len(base.Sample) > 0 {
					t.Different, _ = profile.Diff(base, p)
					t.Different = t.Different[:min(profileTop, len(t.Different))]
				}
				r.record.Profiles = append(r.record.Profiles, t)
			}
		}
	}
}

// storedProfile finds a profile that an earlier session took; nil if it must be taken. If two
// profiles have the same file it could be the other's, so it must be taken again.
func (r *running) storedProfile(had []lab.TakenProfile,
	want lab.TakenProfile) (lab.TakenProfile, *profile.Profile) {
	for _, t := range had {
		if t.Arm != want.Arm || t.Level != want.Level || t.Kind != want.Kind || t.File == "" ||
			lab.CountSharing(had, t) > 1 {
			continue
		}
		if p, err := profile.Load(filepath.Join(r.Dir, t.File)); err == nil {
			return t, p
		}
	}
	return want, nil
}

// takeProfile takes one profile during a load.
func (r *running) takeProfile(ctx context.Context, a *arm, l experiment.Level,
	kind string) (lab.TakenProfile, *profile.Profile) {
	t := lab.TakenProfile{Arm: a.Name, Level: l.Name, Kind: kind}
	if ctx.Err() != nil {
		return t, nil
	}
	r.Tell(Event{Step: "profile", Arm: a.Name, Level: l.Name, Remark: kind})
	p, rate, by, err := r.profileUnderLoad(ctx, a, l, kind)
	if t.By = by; err != nil {
		t.Problem = r.conceal.said(err.Error())
		return t, nil
	}
	name := filepath.Join(lab.ProfilesFolder, lab.FileName(kind, a.Name, l.Name)+".pb.gz")
	if err := profile.Save(filepath.Join(r.Dir, name), p); err != nil {
		t.Problem = r.conceal.said(err.Error())
		return t, nil
	}
	t.File = name
	m, _ := lab.MeasureNamed("throughput")
	if usual := judge.CellValues(r.trials, m, a.Name, l.Name); len(usual) > 0 && rate > 0 {
		t.Slowdown = stats.Median(usual) / rate
	}
	for _, f := range r.Experiment.Profile.Functions {
		if s, ok := profile.Share(p, f); ok {
			t.Shares = append(t.Shares, s)
		}
	}
	t.Top = profile.Top(p, profileTop)
	return t, p
}

// profileUnderLoad starts a server, loads it, and takes a profile meanwhile. The rate is that of
// answers, or 0 if the plan has a rate.
func (r *running) profileUnderLoad(ctx context.Context, a *arm, l experiment.Level, kind string) (
	p *profile.Profile, rate float64, by string, err error) {
	want := r.Experiment.Profile
	stand, err := r.start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l, Aside: true,
		Trial: lab.FileName("profile", a.Name, l.Name, kind)})
	if err != nil {
		return nil, 0, "", err
	}
	defer stand.Stop()
	take, by, err := profilerFor(stand, want, kind)
	if err != nil {
		return nil, 0, by, err
	}
	l.Requests = 0
	plan, _, err := r.plans(a, l, stand.URL(), r.record.CPUs.Generator)
	if err != nil {
		return nil, 0, by, err
	}
	underProfile(&plan, time.Duration(want.CPU), kind == experiment.CPU && by == "pprof")
	plan.Seed = uint64(r.record.Seed) // all arms have the same arrivals
	run := r.runnerFor(stand)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type loaded struct {
		*result.Result
		error
	}
	ended := make(chan loaded, 1)
	go func() {
		res, err := run(ctx, plan, func(loadresult.Interval) {})
		ended <- loaded{res, err}
	}()
	sleepFor(ctx, time.Duration(plan.Warmup)+profileLead)
	p, err = take(ctx)
	stop()
	end := <-ended
	if err = errors.Join(err, end.error); err != nil {
		return nil, 0, by, err
	}
	if plan.Open() {
		return p, 0, by, nil // the plan has the rate, not the server
	}
	return p, end.Rate.Completed, by, nil
}

// underProfile makes plan the load under a profile that takes that long. Go takes a profile of CPU
// time at the kernel's ticks, of which there are 250 a second or so. With 500 evenly spaced
// requests a second, every sample is of one moment of a request, or there is none. So arrivals are
// random.
func underProfile(plan *loadplan.Plan, takes time.Duration, atTicks bool) {
	plan.Duration = loadplan.Seconds(takes + 2*profileLead + profileWait)
	if plan.Open() && atTicks {
		plan.Arrival = loadplan.Poisson
	}
}

// profilerFor is the profiler of a server for a kind of profile: Go's own if the variant says how
// to reach it, otherwise perf.
func profilerFor(stand Stand, want *experiment.Profile, kind string) (
	func(context.Context) (*profile.Profile, error), string, error) {
	long := time.Duration(want.CPU)
	usePerf := want.Perf == experiment.PerfOn ||
		want.Perf == experiment.PerfAuto && stand.PProf() == ""
	switch {
	case kind == experiment.CPU && usePerf:
		var pids []int
		for _, t := range stand.Trees() {
			pids = append(pids, t.PID)
		}
		if len(pids) == 0 {
			return nil, "perf", errors.New("the server is not a process of ours, and has no pprof")
		}
		return func(ctx context.Context) (*profile.Profile, error) {
			return profile.Record(ctx, pids, long)
		}, "perf", nil
	case stand.PProf() == "":
		return nil, "pprof", errors.New("the variant has no pprof, by which alone this kind can be taken")
	}
	fetch := stand.Reach().Fetch
	if fetch == nil {
		fetch = profile.Fetch
	}
	return func(ctx context.Context) (*profile.Profile, error) {
		return fetch(ctx, stand.PProf(), profile.Kind(kind), long)
	}, "pprof", nil
}
