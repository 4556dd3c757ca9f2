package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// tick is the unit of cutime and cstime, in nanoseconds: the kernel's USER_HZ is
// 100 on all that Go runs on.
const tick = 1e7

// A tree is what is known of a Tree.
type tree struct {
	Tree
	processes []*process // those with series of their own, in the order they were seen

	known bool    // a process of it was read
	born  float64 // s after the sampler's start, of the first

	cpu, user float64 // ns since it was first seen
	reaped    account // CPU time left behind by processes that ended
	handed    struct{ user, all float64 }
	counters  detail // of its processes, since it was first seen
	io        [details]account

	briefs, details, shares *table
}

// A forest is the trees and their processes.
type forest struct {
	system  system
	notes   *notes
	clock   func() float64
	trees   []*tree
	live    map[int]*process
	order   []*process // those in live, ancestors first: see readBriefs
	forks   float64    // processes and threads ever made on this machine, at the last scan
	scanned float64    // when that was
	series  int
}

func newForest(s system, n *notes, clock func() float64) *forest {
	return &forest{system: s, notes: n, clock: clock, live: map[int]*process{}}
}

// sample reads the CPU time of all processes. forks is a count that grows with each
// process made on this machine, NaN if there is none.
func (f *forest) sample(forks float64, asked []Tree) {
	planted := f.plant(asked)
	if len(f.trees) == 0 { // a scan reads all of /proc
		return
	}
	now := f.clock()
	if planted || forks != f.forks || now-f.scanned >= scanEvery.Seconds() {
		f.forks, f.scanned = forks, now
		f.scan()
	}
	f.readBriefs(now)
	now = f.clock()
	for _, p := range f.order {
		if cpu, ok := f.system.clock(p.pid); ok {
			grown, user := p.clock(now, cpu)
			p.tree.cpu += grown
			p.tree.user += user
		}
	}
	f.sumBriefs(now)
}

// plant adds the trees that are new.
func (f *forest) plant(asked []Tree) (planted bool) {
	for _, a := range asked {
		if f.planted(a) {
			continue
		}
		t := &tree{
			Tree:    a,
			briefs:  newTable(treeColumns),
			details: newTable(detailColumns),
			shares:  newTable(pssColumns),
		}
		f.trees = append(f.trees, t)
		planted = true
		if p := f.live[a.PID]; p != nil {
			f.move(p, t)
		} else {
			f.add(newProcess(a.PID, 0, t))
		}
	}
	return planted
}

func (f *forest) add(p *process) {
	f.live[p.pid] = p
	f.order = append(f.order, p)
}

func (f *forest) planted(a Tree) bool {
	for _, t := range f.trees {
		if t.Tree == a {
			return true
		}
	}
	return false
}

// move gives a process and its descendants in the same tree to a new tree, whose
// root it is.
func (f *forest) move(p *process, to *tree) {
	from := p.tree
	p.tree = to
	if i := slices.Index(from.processes, p); i >= 0 {
		from.processes = slices.Delete(from.processes, i, i+1)
		to.processes = append(to.processes, p)
	}
	for _, child := range f.order {
		if child.parent == p.pid && child.tree == from && child.pid != from.PID {
			f.move(child, to)
		}
	}
}

// scan finds the descendants that are not known yet.
func (f *forest) scan() {
	children := f.system.kin()
	for i := 0; i < len(f.order); i++ { // it grows meanwhile
		p := f.order[i]
		for _, pid := range children(p.pid, p.brief.threads) {
			if f.live[pid] == nil {
				f.add(newProcess(pid, p.pid, p.tree))
			}
		}
	}
}

// readBriefs reads what parents were handed, and who ended.
//
// Processes go on meanwhile. A parent must not be read after its child was found alive
// and before the child's clock is read: waited for in between, the child would be
// counted, and handed up as if nobody had seen it. So ancestors are read first, and
// all of them before any clock. Then a child that is waited for in between is missed
// for now, and handed up at the next sample: the account bears with that.
func (f *forest) readBriefs(now float64) {
	var gone []*process
	grown := false
	for _, p := range f.order {
		b := p.brief
		err := f.system.brief(p.pid, &b)
		switch {
		case err != nil && !p.known: // never seen: what it used is handed up unseen
			delete(f.live, p.pid)
			if p.pid == p.tree.PID {
				f.notes.add(fmt.Sprintf("process %d of %s", p.pid, p.tree.Name), err)
			}
		case err != nil, p.known && b.stamp != p.brief.stamp: // gone, or the pid is another's
			gone = append(gone, p)
		default:
			grown = grown || !p.known
			f.briefed(p, b)
		}
	}
	f.bury(gone, now)
	f.order = slices.DeleteFunc(f.order, func(p *process) bool { return f.live[p.pid] != p })
	if grown {
		slices.SortStableFunc(f.order, func(a, b *process) int {
			return cmp.Compare(a.brief.stamp, b.brief.stamp)
		})
	}
}

func (f *forest) briefed(p *process, b brief) {
	first := !p.known
	if first {
		p.known = true
		f.enter(p)
		if !p.tree.known {
			p.tree.known, p.tree.born = true, b.born
		}
	}
	reaped := b.reapedUser + b.reapedSys
	if !first || b.born >= 0 {
		p.tree.reaped.gain(reaped - p.reaped)
		p.tree.handed.all += reaped - p.reaped
		p.tree.handed.user += b.reapedUser - p.brief.reapedUser
	}
	if first || b.comm != p.brief.comm {
		p.titled = 0
	}
	p.reaped, p.brief, p.parent = reaped, b, b.parent
}

// enter gives a process series of its own, while there is room.
func (f *forest) enter(p *process) {
	if f.series == maxProcesses {
		f.notes.add("series of further processes of "+p.tree.Name, errCrowded)
		return
	}
	f.series++
	p.record()
	p.tree.processes = append(p.tree.processes, p)
}

var errCrowded = fmt.Errorf("only the first %d processes have series of their own; "+
	"all count in their trees", maxProcesses)

// bury takes processes that ended out of the forest. What is known of one that was
// waited for inside the forest will come again with the one that did.
func (f *forest) bury(gone []*process, now float64) {
	dead := make(map[int]*process, len(gone))
	for _, p := range gone {
		p.ended = now
		dead[p.pid] = p
	}
	for _, p := range gone {
		heir := f.heir(p, dead)
		if heir == nil {
			continue
		}
		heir.tree.reaped.known(p.cpu + p.reaped)
		heir.tree.knew(p)
	}
	for _, p := range gone {
		delete(f.live, p.pid)
	}
}

// knew takes what had been read of a process that ended out of what its heir is handed,
// once.
func (t *tree) knew(p *process) {
	for i, read := range p.detail {
		if handedUp(i) && p.detailed && !math.IsNaN(read) {
			t.io[i].known(read)
		}
	}
	p.detail = detail{}
}

// heir is the nearest living ancestor, which what a process used was handed to if
// anybody waited for it.
func (f *forest) heir(p *process, dead map[int]*process) *process {
	for range len(dead) + 1 { // pids that were used again can make a ring of parents
		up := f.live[p.parent]
		if up == nil || dead[up.pid] != up {
			return up
		}
		p = up
	}
	return nil
}

// sumBriefs adds a row to each tree.
func (f *forest) sumBriefs(now float64) {
	processes, threads := map[*tree]int{}, map[*tree]int{}
	for _, p := range f.order {
		processes[p.tree]++
		threads[p.tree] += p.brief.threads
	}
	for _, t := range f.trees {
		if !t.known {
			continue // nothing is known of it: no row, rather than zeros
		}
		left := t.reaped.settle(2 * tick * float64(processes[t]+1))
		t.cpu += left
		if left > 0 && t.handed.all > 0 {
			t.user += left * t.handed.user / t.handed.all
		}
		t.addRow(t.briefs, now, t.cpu, t.user, counted(threads[t], processes[t]),
			float64(processes[t]))
	}
}

// details reads memory, files, bytes, switches and waiting.
func (f *forest) details(now float64) {
	sums := map[*tree]*detail{}
	for _, t := range f.trees {
		sums[t] = &detail{}
	}
	for _, p := range f.order {
		var d detail
		if f.system.detail(p, &d) != nil {
			if heir := f.heir(p, nil); heir != nil { // which may have been handed it just now
				heir.tree.knew(p)
			}
			continue
		}
		f.retitle(p)
		grown := p.detailsRead(now, d)
		p.tree.take(d, grown, sums[p.tree])
	}
	for t, sum := range sums {
		if t.known {
			t.sumDetails(now, sum)
		}
	}
}

// take counts a process's detail. What may not be read of one is not known of all: a
// NaN stays in the sum.
func (t *tree) take(d, grown detail, sum *detail) {
	for i := range d {
		switch {
		case isGauge(i):
			sum[i] += d[i]
		case handedUp(i) && !math.IsNaN(grown[i]):
			t.io[i].gain(grown[i])
		case handedUp(i):
			sum[i] = grown[i]
		default:
			t.counters[i] += grown[i]
		}
	}
}

func (t *tree) sumDetails(now float64, sum *detail) {
	for i := range sum {
		if handedUp(i) {
			t.counters[i] += t.io[i].settle(0) + sum[i]
		}
		if !isGauge(i) {
			sum[i] = t.counters[i]
		}
	}
	t.addRow(t.details, now, sum[:]...)
}

// addRow adds a row, and before the first one of a tree that began after the
// sampler the beginning, at which its counters were 0.
func (t *tree) addRow(to *table, now float64, row ...float64) {
	if len(to.at) == 0 && t.born >= 0 && t.born < now {
		to.add(t.born, to.zeros(row)...)
	}
	to.add(now, row...)
}

// retitle reads a process's title until it has had time to write its own.
func (f *forest) retitle(p *process) {
	if p.titled < 5 {
		p.titled++
		p.title = f.system.title(p.pid)
	}
}

// shares reads proportional set sizes.
func (f *forest) shares(now float64) {
	sums := map[*tree]float64{}
	for _, p := range f.order {
		pss, err := f.system.pss(p)
		if err != nil {
			continue
		}
		sums[p.tree] += pss
		if p.shares != nil {
			p.shares.add(now, pss)
		}
	}
	for _, t := range f.trees {
		if pss, any := sums[t]; any {
			t.shares.add(now, pss)
		}
	}
}

// unshared says that there are processes whose proportional set size was never read.
func (f *forest) unshared() bool {
	return slices.ContainsFunc(f.order, func(p *process) bool {
		return p.shares != nil && len(p.shares.at) == 0
	})
}
