package server

import (
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// stopAll ends everything, the latest process first, all graces before deadline.
func (s *supervisor) stopAll(deadline time.Time) Report {
	began := time.Now()
	s.cancel()
	for _, c := range slices.Backward(s.children) {
		s.stopGroup(c, min(c.process.Grace, time.Until(deadline)))
	}
	left := s.killAll()
	s.tasks.Wait()
	report := Report{Strays: s.strays, Killed: s.killed, Left: left}
	for _, c := range s.children {
		select {
		case <-c.drained:
		case <-time.After(drainTime): // somebody who is not ours holds the pipe
		}
		c.log.flushTail() // what cannot be written is not there to be read
		if !c.failed {
			report.Exits = append(report.Exits, c.exit)
		}
	}
	report.Seconds = time.Since(began).Seconds()
	return report
}

func (s *supervisor) stopGroup(c *child, grace time.Duration) {
	gone := func() bool { return !s.groupLives(c) }
	if gone() {
		return
	}
	s.signalGroup(c, c.process.Stop)
	if s.awaitDeaths(grace, gone) {
		return
	}
	c.exit.Killed = !c.ended
	s.killed = append(s.killed, c.process.Name)
	s.signalGroup(c, unix.SIGKILL)
	s.awaitDeaths(killTime, gone)
}

// groupLives tells whether any process of c's group, which outlives its leader,
// is one of ours and no zombie: a number alone may be somebody else's by now.
func (s *supervisor) groupLives(c *child) bool {
	if unix.Kill(-c.pid, 0) == unix.ESRCH {
		return false
	}
	return slices.ContainsFunc(listDescendants(os.Getpid()), func(p procStat) bool {
		return p.group == c.pid && !p.dead()
	})
}

// signalGroup sends sig to c's process group, if it lives. What cannot be signalled,
// having taken another user's rights, counts as left in the end.
func (s *supervisor) signalGroup(c *child, sig unix.Signal) {
	if s.groupLives(c) {
		unix.Kill(-c.pid, sig)
	}
}

// awaitDeaths takes deaths until done or for that long, and returns done.
func (s *supervisor) awaitDeaths(long time.Duration, done func() bool) bool {
	end := time.NewTimer(long)
	defer end.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !done() {
		select {
		case d := <-s.deaths:
			s.noteDeath(d)
		case <-look.C:
		case <-end.C:
			return done()
		}
	}
	return true
}

// killAll kills every descendant until there are none, and returns how many
// would not die. New ones may be forked, and adopted, while it looks.
func (s *supervisor) killAll() (left int) {
	known := map[int]bool{}
	s.awaitDeaths(killTime, func() bool {
		left = 0
		for _, p := range listDescendants(os.Getpid()) {
			if p.dead() {
				continue
			}
			left++
			unix.Kill(p.pid, unix.SIGKILL)
			if !known[p.pid] {
				known[p.pid] = true
				s.killed = append(s.killed, s.processName(p))
			}
		}
		return left == 0 && !s.reaping
	})
	return left
}

// processName is the name of the process that p belongs to, or its own.
func (s *supervisor) processName(p procStat) string {
	for _, c := range s.children {
		if c.pid == p.pid {
			c.exit.Killed = true
			return c.process.Name
		}
	}
	return fmt.Sprintf("%s (process %d, forked away)", p.command, p.pid)
}
