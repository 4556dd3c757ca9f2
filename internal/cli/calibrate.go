package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/dynohome"
	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/view/report"
)

// calibrateFlags is the command line of dyno calibrate.
type calibrateFlags struct {
	helpFlag
	time time.Duration
}

func (f *calibrateFlags) groups() []group {
	return []group{{"Flags", []option{
		{"time", "", "D", "measure so long in each of up to eighteen runs (2s)",
			storeParsed(&f.time, parseProbeTime)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

const calibrateNotes = `The server is dyno target, on CPUs of its own where there are two or
more. What is found is kept in the store, for this machine and this version;
from then on dyno run warns of rates above 80 % of it, and --ring auto is epoll
where epoll took less CPU time per request than io_uring, by 3 % or more. Do it
when nothing else runs.
`

// calibrate is dyno calibrate: it measures what the generator can do on this machine.
func calibrate(s streams, args []string) int {
	f := calibrateFlags{time: 2 * time.Second}
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("calibrate")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("calibrate", faults)
	}
	home, err := dynohome.Dir()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	if err := capacity.Storable(home); err != nil {
		return s.writeExitCode(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	c, err := s.runCalibration(ctx, f.time)
	switch {
	case ctx.Err() != nil:
		return s.failWith(exitInterrupted, errors.New("interrupted: nothing is kept"))
	case errors.Is(err, capacity.ErrNoAnswer):
		return s.failWith(exitUnreachable, err)
	case err != nil:
		return s.failWith(exitFault, err)
	}
	path, err := c.Save(home)
	if err == nil {
		err = report.Calibration(s.out, c)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.out, "\n  stored in %s\n", path)
	}
	return s.writeExitCode(err)
}

// runCalibration starts a server and measures against it.
func (s streams) runCalibration(ctx context.Context, each time.Duration) (*capacity.Calibration,
	error) {
	cpus, err := server.SplitCPUs()
	if err != nil {
		return nil, err
	}
	url, stop, err := startTarget(ctx, cpus.Server)
	if err != nil {
		return nil, err
	}
	defer stop()
	u, err := requests.Parse(url)
	if err != nil {
		return nil, err
	}
	plan := loadplan.DefaultPlan()
	plan.Target, plan.Duration = u.Target, loadplan.Seconds(each)
	plan.Warmup = plan.Duration / 5
	plan.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET",
		Authority: u.Authority, Path: u.Path}}}
	if cpus.Apart {
		plan.CPUs, plan.Threads = cpus.Generator, min(plan.Threads, len(cpus.Generator))
	}
	c, err := capacity.Calibrate(ctx, generateLoad, plan, func(what string) {
		fmt.Fprintln(s.err, what)
	})
	if err == nil {
		c.Apart = cpus.Apart
	}
	return c, err
}

// startTarget starts dyno target as a process of its own, with a thread for each of its CPUs. It
// returns the URL and a function that stops the process.
func startTarget(ctx context.Context, cpus []int) (url string, stop func(), err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("finding dyno itself: %w", err)
	}
	port, err := server.FreePort()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "dyno-calibrate-")
	if err != nil {
		return "", nil, err
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	url = "http://" + addr + "/"
	running, err := server.Start(ctx, server.Spec{Dir: dir, Temporary: true,
		Supervisor: []string{exe, "supervise"},
		Processes: []server.Process{{Name: "target", Env: os.Environ(), CPUs: cpus,
			Args: []string{exe, "target", "--listen", addr,
				"--workers", strconv.Itoa(max(len(cpus), 1))},
			Ready: &server.Ready{URL: url}}}})
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("starting dyno target: %w", err)
	}
	return url, func() {
		running.Stop()
		os.RemoveAll(dir)
	}, nil
}

// thisCalibration is the calibration of this machine; nil if there is none.
func thisCalibration() (*capacity.Calibration, error) {
	home, err := dynohome.Dir()
	if err != nil { // there is no folder for one
		return nil, nil
	}
	return capacity.OpenCalibration(home, result.ThisHost(), loadplan.Version)
}

// ringHere is the ring that a plan should use on this machine.
func ringHere(p loadplan.Plan) string {
	c, _ := thisCalibration() // dyno run reports why it cannot be read
	return c.Ring(p)
}

// calibratedRunner is run, a generator of this machine, with what is known of it: which ring auto
// is, and when a result is near what it can do. What is known and cannot be read is a
// warning. The plan of the result is the one that was given. The ring is asked for by its name, so
// that neither load nor the rings know of calibrations; an agent uses its own.
func calibratedRunner(run result.Runner) result.Runner {
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		given := p.Ring
		c, unread := thisCalibration()
		p.Ring = c.Ring(p)
		r, err := run(ctx, p, each)
		if err != nil {
			return nil, err
		}
		r.Plan.Ring = given
		switch {
		case unread != nil:
			r.Warn(fact.Noticed(fact.CalibrationUnread{Why: unread.Error()}))
		case c == nil:
		default:
			if f := c.Warning(r); f != nil {
				r.Warn(*f)
			}
		}
		return r, nil
	}
}

// runHere is the generator in this process, with the machine's calibration.
func runHere(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*result.Result, error) {
	return calibratedRunner(generateLoad)(ctx, p, each)
}

// garbage is by how many percent the memory in use may grow during a load before garbage is
// collected, which takes CPU time from the load and stops it for a moment.
const garbage = 400

// generateLoad is the generator in this process, without the calibration.
func generateLoad(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*result.Result,
	error) {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	r, err := load.Run(ctx, p, each)
	if err != nil {
		return nil, err
	}
	return result.From(r, loadplan.Version)
}
