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

// sampleTrees reads the CPU time of all processes. forks is a count that grows with each
// process made on this machine, NaN if there is none.
func (f *forest) sampleTrees(forks float64, asked []Tree) {
	planted := f.plantTrees(asked)
	if len(f.trees) == 0 { // a scan reads all of /proc
		return
	}
	now := f.clock()
	if planted || forks != f.forks || now-f.scanned >= scanEvery.Seconds() {
		f.forks, f.scanned = forks, now
		f.scanProcesses()
	}
	f.readBriefs(now)
	now = f.clock()
	for _, p := range f.order {
		if cpu, ok := f.system.clock(p.pid); ok {
			grown, user := p.advanceClock(now, cpu)
			p.tree.cpu += grown
			p.tree.user += user
		}
	}
	f.sumBriefs(now)
}

// plantTrees adds the trees that are new.
func (f *forest) plantTrees(asked []Tree) (planted bool) {
	for _, a := range asked {
		if f.isPlanted(a) {
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
			f.moveProcess(p, t)
		} else {
			f.addProcess(newProcess(a.PID, 0, t))
		}
	}
	return planted
}

func (f *forest) addProcess(p *process) {
	f.live[p.pid] = p
	f.order = append(f.order, p)
}

func (f *forest) isPlanted(a Tree) bool {
	for _, t := range f.trees {
		if t.Tree == a {
			return true
		}
	}
	return false
}

// moveProcess gives a process and its descendants in the same tree to a new tree, whose
// root it is.
func (f *forest) moveProcess(p *process, to *tree) {
	from := p.tree
	p.tree = to
	if i := slices.Index(from.processes, p); i >= 0 {
		from.processes = slices.Delete(from.processes, i, i+1)
		to.processes = append(to.processes, p)
	}
	for _, child := range f.order {
		if child.parent == p.pid && child.tree == from && child.pid != from.PID {
			f.moveProcess(child, to)
		}
	}
}

// scanProcesses finds the descendants that are not known yet.
func (f *forest) scanProcesses() {
	children := f.system.kin()
	for i := 0; i < len(f.order); i++ { // it grows meanwhile
		p := f.order[i]
		for _, pid := range children(p.pid, p.brief.threads) {
			if f.live[pid] == nil {
				f.addProcess(newProcess(pid, p.pid, p.tree))
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
				f.notes.addNote(fmt.Sprintf("process %d of %s", p.pid, p.tree.Name), err)
			}
		case err != nil, p.known && b.stamp != p.brief.stamp: // gone, or the pid is another's
			gone = append(gone, p)
		default:
			grown = grown || !p.known
			f.applyBrief(p, b)
		}
	}
	f.removeDead(gone, now)
	f.order = slices.DeleteFunc(f.order, func(p *process) bool { return f.live[p.pid] != p })
	if grown {
		slices.SortStableFunc(f.order, func(a, b *process) int {
			return cmp.Compare(a.brief.stamp, b.brief.stamp)
		})
	}
}

func (f *forest) applyBrief(p *process, b brief) {
	first := !p.known
	if first {
		p.known = true
		f.enterProcess(p)
		if !p.tree.known {
			p.tree.known, p.tree.born = true, b.born
		}
	}
	reaped := b.reapedUser + b.reapedSys
	if !first || b.born >= 0 {
		p.tree.reaped.addGrowth(reaped - p.reaped)
		p.tree.handed.all += reaped - p.reaped
		p.tree.handed.user += b.reapedUser - p.brief.reapedUser
	}
	if first || b.comm != p.brief.comm {
		p.titled = 0
	}
	p.reaped, p.brief, p.parent = reaped, b, b.parent
}

// enterProcess gives a process series of its own, while there is room.
func (f *forest) enterProcess(p *process) {
	if f.series == maxProcesses {
		f.notes.addNote("series of further processes of "+p.tree.Name, errCrowded)
		return
	}
	f.series++
	p.startTables()
	p.tree.processes = append(p.tree.processes, p)
}

var errCrowded = fmt.Errorf("only the first %d processes have series of their own; "+
	"all count in their trees", maxProcesses)

// removeDead takes processes that ended out of the forest. What is known of one that was
// waited for inside the forest will come again with the one that did.
func (f *forest) removeDead(gone []*process, now float64) {
	dead := make(map[int]*process, len(gone))
	for _, p := range gone {
		p.ended = now
		dead[p.pid] = p
	}
	for _, p := range gone {
		heir := f.successorOf(p, dead)
		if heir == nil {
			continue
		}
		heir.tree.reaped.subtractKnown(p.cpu + p.reaped)
		heir.tree.deductInherited(p)
	}
	for _, p := range gone {
		delete(f.live, p.pid)
	}
}

// deductInherited takes what had been read of a process that ended out of what its heir is handed,
// once.
func (t *tree) deductInherited(p *process) {
	for i, read := range p.detail {
		if isHandedUp(i) && p.detailed && !math.IsNaN(read) {
			t.io[i].subtractKnown(read)
		}
	}
	p.detail = detail{}
}

// successorOf is the nearest living ancestor, which what a process used was handed to if
// anybody waited for it.
func (f *forest) successorOf(p *process, dead map[int]*process) *process {
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
		left := t.reaped.settleGrowth(2 * tick * float64(processes[t]+1))
		t.cpu += left
		if left > 0 && t.handed.all > 0 {
			t.user += left * t.handed.user / t.handed.all
		}
		t.addTreeRow(t.briefs, now, t.cpu, t.user, countOrNaN(threads[t], processes[t]),
			float64(processes[t]))
	}
}

// readDetails reads memory, files, bytes, switches and waiting.
func (f *forest) readDetails(now float64) {
	sums := map[*tree]*detail{}
	for _, t := range f.trees {
		sums[t] = &detail{}
	}
	for _, p := range f.order {
		var d detail
		if f.system.detail(p, &d) != nil {
			if heir := f.successorOf(p, nil); heir != nil { // which may have been handed it just now
				heir.tree.deductInherited(p)
			}
			continue
		}
		f.updateTitle(p)
		grown := p.applyDetails(now, d)
		p.tree.addDetail(d, grown, sums[p.tree])
	}
	for t, sum := range sums {
		if t.known {
			t.sumDetails(now, sum)
		}
	}
}

// addDetail counts a process's detail. What may not be read of one is not known of all: a
// NaN stays in the sum.
func (t *tree) addDetail(d, grown detail, sum *detail) {
	for i := range d {
		switch {
		case isGauge(i):
			sum[i] += d[i]
		case isHandedUp(i) && !math.IsNaN(grown[i]):
			t.io[i].addGrowth(grown[i])
		case isHandedUp(i):
			sum[i] = grown[i]
		default:
			t.counters[i] += grown[i]
		}
	}
}

func (t *tree) sumDetails(now float64, sum *detail) {
	for i := range sum {
		if isHandedUp(i) {
			t.counters[i] += t.io[i].settleGrowth(0) + sum[i]
		}
		if !isGauge(i) {
			sum[i] = t.counters[i]
		}
	}
	t.addTreeRow(t.details, now, sum[:]...)
}

// addTreeRow adds a row, and before the first one of a tree that began after the
// sampler the beginning, at which its counters were 0.
func (t *tree) addTreeRow(to *table, now float64, row ...float64) {
	if len(to.at) == 0 && t.born >= 0 && t.born < now {
		to.addRow(t.born, to.zeroRow(row)...)
	}
	to.addRow(now, row...)
}

// updateTitle reads a process's title until it has had time to write its own.
func (f *forest) updateTitle(p *process) {
	if p.titled < 5 {
		p.titled++
		p.title = f.system.title(p.pid)
	}
}

// readShares reads proportional set sizes.
func (f *forest) readShares(now float64) {
	sums := map[*tree]float64{}
	for _, p := range f.order {
		pss, err := f.system.pss(p)
		if err != nil {
			continue
		}
		sums[p.tree] += pss
		if p.shares != nil {
			p.shares.addRow(now, pss)
		}
	}
	for _, t := range f.trees {
		if pss, any := sums[t]; any {
			t.shares.addRow(now, pss)
		}
	}
}

// hasUnshared says that there are processes whose proportional set size was never read.
func (f *forest) hasUnshared() bool {
	return slices.ContainsFunc(f.order, func(p *process) bool {
		return p.shares != nil && len(p.shares.at) == 0
	})
}
