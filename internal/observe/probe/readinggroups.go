package probe

import (
	"fmt"
	"math"
	"time"

	"dyno/internal/cgroup"
)

// A group is readings that are taken together, at most once in every, and not before
// rest times the CPU time that they took last: 1/rest of a core at most.
type group struct {
	every float64 // s
	rest  float64
	read  func(now float64)
	last  func() bool // whether to read it when the sampler stops, although it is not due
	due   float64     // s after the start
	never func()      // nil, or what to do if it was not read at all
	done  bool        // it was
}

// The paces. The shares of a core that their rests allow add up to 1 %.
const (
	briefRest   = 250             // CPU of host and processes, at Config.Every
	detailEvery = time.Second     // memory, files, switches, waiting of processes
	detailRest  = 500             //
	hostEvery   = time.Second     // memory, pressure, network, cgroup
	hostRest    = 1000            //
	pssEvery    = 2 * time.Second // walks the page tables of the process
	pssRest     = 500             //
	sensorEvery = 5 * time.Second // frequency, temperature
	sensorRest  = 2000            //
	socketEvery = 5 * time.Second // by state: the kernel walks over its whole hash table
	socketRest  = 2000            //
	scanEvery   = time.Second     // a look for new processes although none was forked

	// sourceGap is how long the sampler sleeps between two sources of the machine: who waits
	// for the CPU meanwhile, and that may be who makes the load, then waits for one to
	// three files, some 0.2 ms, and not for all.
	sourceGap = time.Millisecond
)

// runDue reads the group if it is due, or must be.
func (g *group) runDue(now, slack float64, must bool) {
	if !must && now+slack < g.due {
		return
	}
	g.done = true
	began := threadCPU()
	g.read(now)
	cost := threadCPU() - began
	if math.IsNaN(cost) {
		cost = 0
	}
	g.due = now + max(g.every, g.rest*cost/1e9)
}

// A samplerState is the state of a sampler at work.
type samplerState struct {
	started time.Time
	every   float64
	notes   *notes
	forest  *forest
	host    *host
	groups  []*group // the first is the fastest
	samples int
}

func newSamplerState(c Config) (*samplerState, error) {
	v := &samplerState{started: time.Now(), every: c.Every.Seconds(), notes: newNotes()}
	system, err := openSystem(v.notes)
	if err != nil {
		return nil, err
	}
	sources, cpus := system.tables()
	v.host = newHost(sources, cpus, v.notes)
	v.host.quota = cgroup.Own().Quota
	v.forest = newForest(system, v.notes, v.secondsNow)
	v.groups = []*group{
		{every: v.every, rest: briefRest, read: func(float64) {
			v.host.readSources(paceFast, v.secondsNow)
			v.forest.sampleTrees(v.host.forkCount(), c.Trees())
		}, last: alwaysNeeded},
		{every: detailEvery.Seconds(), rest: detailRest, read: v.forest.readDetails, last: alwaysNeeded},
		{every: pssEvery.Seconds(), rest: pssRest, read: v.forest.readShares,
			last: v.forest.hasUnshared},
		{every: hostEvery.Seconds(), rest: hostRest, read: func(float64) {
			v.host.readSources(paceHost, v.secondsNow)
		}, last: alwaysNeeded},
		{every: sensorEvery.Seconds(), rest: sensorRest, read: func(float64) {
			v.host.readSources(paceSensors, v.secondsNow)
		}, last: alwaysNeeded},
		// A walk takes some 10 ms of CPU time: too much for a run of few seconds.
		{every: socketEvery.Seconds(), rest: socketRest, due: socketEvery.Seconds(),
			read:  func(float64) { v.host.readSources(paceSockets, v.secondsNow) },
			never: func() { v.notes.addNote("sockets by state", errSoonOver) }},
	}
	v.sampleDue()
	return v, nil
}

func (v *samplerState) secondsNow() float64 { return time.Since(v.started).Seconds() }

// sampleDue reads the groups that are due. The slower ones only ever run along with
// the fastest: there are no wakes but its, and those between two sources.
func (v *samplerState) sampleDue() {
	v.samples++
	for _, g := range v.groups {
		g.runDue(v.secondsNow(), v.every/2, false)
	}
}

func alwaysNeeded() bool { return true }

// finishSampling reads what has counters once more, and gauges that were never read.
func (v *samplerState) finishSampling() {
	v.samples++
	for _, g := range v.groups {
		g.runDue(v.secondsNow(), 0, g.last != nil && g.last())
		if !g.done && g.never != nil {
			g.never()
		}
	}
}

var errSoonOver = fmt.Errorf("the sampling ended before they were counted, which is %v after "+
	"its start", socketEvery)

func (v *samplerState) timeToNext() time.Duration {
	return time.Duration(max(v.groups[0].due-v.secondsNow(), 0) * float64(time.Second))
}

func (v *samplerState) closeSystem() { v.forest.system.close() }

func (v *samplerState) newRecording(cost float64) *Recording {
	wall := v.secondsNow()
	r := &Recording{
		Started: v.started,
		Every:   v.every,
		Cost: Cost{
			CPU:       Value(cost),
			PerSample: Value(cost / float64(v.samples)),
			Share:     Value(cost / 1e9 / wall * 100),
			Samples:   v.samples,
		},
		host:  v.host,
		trees: v.forest.trees,
	}
	r.Series = v.host.hostSeries()
	for _, t := range v.forest.trees {
		r.Series = append(r.Series, t.treeSeries()...)
	}
	r.Trees = r.usesBetween(0, wall)
	r.Unavailable = v.notes.sortedNotes()
	return r
}
