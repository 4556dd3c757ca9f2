package probe

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A kernel is a small real one: processes burn, fork, end, and are waited for.
type kernel struct {
	now    float64 // s
	next   int
	tasks  map[int]*simulated
	share  float64 // proportional set size of each
	during func()  // happens before each reading
}

type simulated struct {
	pid, parent int
	born        float64
	own, reaped float64 // ns
	dead        bool    // and not waited for
	ignores     bool    // SIGCHLD: its children vanish
}

func (k *kernel) fork(parent int) *simulated {
	k.next++
	p := &simulated{pid: k.next, parent: parent, born: k.now}
	k.tasks[p.pid] = p
	return p
}

// end makes a zombie, and gives its children to the root, a subreaper.
func (k *kernel) end(p *simulated, root int) {
	p.dead = true
	for _, c := range k.tasks {
		if c.parent == p.pid {
			c.parent = root
		}
	}
	if up := k.tasks[p.parent]; up != nil && up.ignores {
		delete(k.tasks, p.pid)
	}
}

func (k *kernel) wait(p *simulated) {
	if up := k.tasks[p.parent]; up != nil {
		up.reaped += p.own + p.reaped
	}
	delete(k.tasks, p.pid)
}

func (k *kernel) tables() ([]source, int) { return nil, 1 }
func (k *kernel) close()                  {}

func (k *kernel) kin() func(pid, threads int) []int {
	return func(pid, _ int) (all []int) {
		k.happen()
		for _, p := range k.tasks {
			if p.parent == pid {
				all = append(all, p.pid)
			}
		}
		return all
	}
}

var errGone = errors.New("gone")

func (k *kernel) brief(pid int, b *brief) error {
	k.happen()
	p := k.tasks[pid]
	if p == nil {
		return errGone
	}
	cut := func(ns float64) float64 { return math.Floor(ns/tick) * tick }
	*b = brief{
		stamp: int64(pid), born: p.born, parent: p.parent, comm: "sim", threads: 1,
		user: cut(p.own / 2), sys: cut(p.own / 2),
		reapedUser: cut(p.reaped / 2), reapedSys: cut(p.reaped / 2),
	}
	return nil
}

func (k *kernel) happen() {
	if k.during != nil {
		k.during()
	}
}

func (k *kernel) clock(pid int) (float64, bool) {
	k.happen()
	if p := k.tasks[pid]; p != nil {
		return p.own, true
	}
	return 0, false
}

func (k *kernel) detail(p *process, d *detail) error {
	k.happen()
	s := k.tasks[p.pid]
	if s == nil {
		return errGone
	}
	*d = detail{detailRSS: 1000, detailRead: s.own + s.reaped, detailWritten: math.NaN()}
	return nil
}
func (k *kernel) pss(*process) (float64, error) { return k.share, nil }
func (k *kernel) title(int) string              { return "sim\x00-x" }

// Whatever processes do, and whenever it is between and within samples, no CPU
// time is counted twice, and what is missing is at most what the ticks hide.
func TestForestCountsAllAndNothingTwice(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		k := &kernel{tasks: map[int]*simulated{}, next: 10}
		root := k.fork(1)
		burned := 0.0
		step := func() {
			var all []*simulated
			for pid := range k.next + 1 { // in order: maps are not reproducible
				if p := k.tasks[pid]; p != nil {
					all = append(all, p)
				}
			}
			p := all[random.IntN(len(all))]
			switch what := random.IntN(10); {
			case p.dead && p != root:
				k.wait(p)
			case what < 3 && len(all) < 40:
				k.fork(p.pid)
			case what < 6 && p != root:
				k.end(p, root.pid)
			default:
				ns := random.ExpFloat64() * 3e7
				p.own += ns
				burned += ns
			}
		}
		f := newForest(k, newNotes(), func() float64 { k.now += 1e-6; return k.now })
		k.during = func() {
			if random.IntN(20) == 0 {
				step()
			}
		}
		worst := 0.0
		for round := range 200 {
			for range random.IntN(30) {
				step()
			}
			k.now += 0.2
			f.sampleTrees(float64(k.next), []Tree{{Name: "sim", PID: root.pid}})
			if round%5 == 0 {
				f.readDetails(k.now)
			}
			worst = max(worst, f.trees[0].cpu-burned)
		}
		if worst > 1e3 {
			t.Fatalf("seed %d: %.3f ms counted that nobody burned", seed, worst/1e6)
		}
		k.during = nil
		for range 3 { // what was missed in passing is made up for
			k.now += 0.2
			f.sampleTrees(float64(k.next), nil)
		}
		hidden := 0.0
		for _, p := range k.tasks {
			if p.reaped > 0 {
				hidden += 2 * tick
			}
		}
		if missing := burned - f.trees[0].cpu; missing > hidden+1e3 || missing < -1e3 {
			t.Fatalf("seed %d: %.1f of %.1f ms missing, the ticks hide at most %.1f",
				seed, missing/1e6, burned/1e6, hidden/1e6)
		}
		f.readDetails(k.now)
		if read := f.trees[0].counters[detailRead]; math.Abs(read-burned) > 1e3 {
			t.Fatalf("seed %d: %v bytes read, %v counted", seed, burned, read)
		}
		if w := f.trees[0].counters[detailWritten]; !math.IsNaN(w) {
			t.Fatalf("written is %v although no process tells", w)
		}
	}
}

// A parent that ignores SIGCHLD is told nothing: what was read counts, what was not
// does not, and what others leave later is not swallowed.
func TestForestParentIgnoresItsChildren(t *testing.T) {
	k := &kernel{tasks: map[int]*simulated{}, next: 10}
	root := k.fork(1)
	root.ignores = true
	other := k.fork(root.pid)
	f := newForest(k, newNotes(), func() float64 { return k.now })
	sample := func() {
		k.now += 0.2
		f.sampleTrees(float64(k.next), []Tree{{Name: "sim", PID: root.pid}})
	}
	sample()
	child := k.fork(root.pid)
	child.own = 3e8
	sample()
	child.own += 1e8 // lost
	k.end(child, root.pid)
	for range 4 {
		sample()
	}
	if got := f.trees[0].cpu; got != 3e8 {
		t.Errorf("%.0f ms, want 300", got/1e6)
	}
	grandchild := k.fork(other.pid)
	grandchild.own = 2e8
	k.end(grandchild, root.pid)
	k.wait(grandchild) // unseen
	sample()
	if got := f.trees[0].cpu; got != 5e8 {
		t.Errorf("%.0f ms, want 500", got/1e6)
	}
}

// A tree that was there before the sampler begins at 0 when it is first seen, and
// what its root was handed before does not count.
func TestForestJoinsARunningTree(t *testing.T) {
	k := &kernel{tasks: map[int]*simulated{}, next: 10, now: -100}
	root := k.fork(1)
	child := k.fork(root.pid)
	root.own, root.reaped, child.own = 7e9, 5e9, 2e9
	k.now = 0
	f := newForest(k, newNotes(), func() float64 { return k.now })
	trees := []Tree{{Name: "sim", PID: root.pid}}
	f.sampleTrees(1, trees)
	if got := f.trees[0].cpu; got != 0 {
		t.Errorf("%v ns at first sight", got)
	}
	child.own += 1e8
	k.end(child, root.pid)
	k.wait(child)
	k.now = 1
	f.sampleTrees(1, trees)
	if got := f.trees[0].cpu; got != 1e8 {
		t.Errorf("%v ns, want 1e8: the child's last moments", got)
	}
	child = k.fork(root.pid)
	k.now = 2
	child.own = 3e8
	f.sampleTrees(2, trees)
	r := &Recording{trees: f.trees}
	use := r.usesBetween(0, 2)[0]
	if math.Abs(float64(use.CPU)-4e8) > 1 || len(use.Processes) != 3 {
		t.Errorf("%v ns of %d processes, want 4e8 of 3", use.CPU, len(use.Processes))
	}
	// The new child's time is spread from its birth, not from before.
	if got := r.usesBetween(1, 1.5)[0].Processes[2].CPU; math.Abs(float64(got)-1.5e8) > 1 {
		t.Errorf("half of the child's life: %v ns, want 1.5e8", got)
	}
}

// Of two trees one inside the other, each process is in the inner one, whichever
// was named first.
func TestForestNested(t *testing.T) {
	for _, inner := range []bool{false, true} {
		k := &kernel{tasks: map[int]*simulated{}, next: 10}
		outer := k.fork(1)
		middle := k.fork(outer.pid)
		leaf := k.fork(middle.pid)
		trees := []Tree{{Name: "outer", PID: outer.pid}, {Name: "inner", PID: middle.pid}}
		f := newForest(k, newNotes(), func() float64 { return k.now })
		k.now = 0.2
		if inner {
			f.sampleTrees(1, trees[1:])
		} else {
			f.sampleTrees(1, trees[:1])
		}
		outer.own, middle.own, leaf.own = 1e8, 2e8, 4e8
		k.now = 0.4
		f.sampleTrees(1, trees)
		for _, tree := range f.trees {
			if want := map[string]float64{"outer": 1e8, "inner": 6e8}[tree.Name]; tree.cpu != want {
				t.Errorf("%s: %v ns, want %v", tree.Name, tree.cpu, want)
			}
		}
		// The inner root ends and is waited for by the outer: nothing is counted again.
		k.end(leaf, outer.pid)
		k.wait(leaf)
		k.end(middle, outer.pid)
		k.wait(middle)
		k.now = 0.6
		f.sampleTrees(1, trees)
		if sum := f.trees[0].cpu + f.trees[1].cpu; sum != 7e8 {
			t.Errorf("after the end %v ns, want 7e8", sum)
		}
	}
}

func TestForestMissingRoot(t *testing.T) {
	k := &kernel{tasks: map[int]*simulated{}}
	n := newNotes()
	f := newForest(k, n, func() float64 { return k.now })
	f.sampleTrees(1, []Tree{{Name: "none", PID: 99}})
	f.readDetails(1)
	f.readShares(1)
	use := (&Recording{trees: f.trees}).usesBetween(0, 1)[0]
	for _, v := range []Value{use.CPU, use.User, use.RSS.Mean, use.Threads.Peak, use.Read, use.Wait} {
		if v.OK() {
			t.Errorf("%v of a process that is not there, want n/a", v)
		}
	}
	if len(n.sortedNotes()) != 1 {
		t.Errorf("reasons: %q", n.sortedNotes())
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ title, comm, name, role string }{
		{"nginx: worker process", "nginx", "nginx", "worker process"},
		{"nginx: master process /usr/sbin/nginx -c x", "nginx", "nginx", "master process"},
		{"php-fpm: pool www", "php-fpm8.2", "php-fpm", "pool www"},
		{"/opt/bin/server\x00-addr\x00a: b", "server", "server", "child"},
		{`C:\srv\server.exe`, "server.exe", "server.exe", "child"},
		{"", "kworker", "kworker", "child"},
	} {
		if name, role := processNames(c.title, c.comm, false); name != c.name || role != c.role {
			t.Errorf("%q is %q, %q; want %q, %q", c.title, name, role, c.name, c.role)
		}
	}
}

// The newest readings are there while the sampling goes on: nothing of a tree that nobody has seen,
// the last of one that has ended, and RSS where PSS may not be read.
func TestForestReadings(t *testing.T) {
	k := &kernel{tasks: map[int]*simulated{}, next: 10, share: math.NaN()}
	root := k.fork(1)
	f := newForest(k, newNotes(), func() float64 { return k.now })
	pid := 0
	check := func(what string, want ...Reading) {
		t.Helper()
		k.now += 1
		f.sampleTrees(float64(k.next), []Tree{{Name: "sim", PID: pid}})
		f.readDetails(k.now)
		f.readShares(k.now)
		if got := *f.readings(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	pid = 999
	check("unknown")
	f = newForest(k, newNotes(), f.clock)
	pid = root.pid
	root.own = 3e8
	check("RSS", Reading{"sim", 3e8, 1000})
	k.share = 600
	child := k.fork(root.pid)
	child.own = 2e8
	check("PSS of two", Reading{"sim", 5e8, 1200})
	k.end(child, root.pid)
	k.wait(child)
	k.end(root, 1)
	k.wait(root)
	check("ended", Reading{"sim", 5e8, 0})
}
