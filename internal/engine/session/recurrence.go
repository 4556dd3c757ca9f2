package session

import (
	"slices"
	"time"

	"dyno/internal/engine/cookie"
	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
)

// A user's first iteration is what hurl does with the file. Entries that stay (# dyno: once, every)
// are left out of later ones, as long as they need not run: what they captured, and the cookies of
// their answers, are there. It is kept by user and file, because files share no names.
//
// Whether an entry with "every" runs is decided where it stands: in a longer iteration its time may
// pass further down, which "again on" is for. Its time counts from its answer.
//
// If an entry fails for its status, and "again on" above it names that, the nearest such entry
// runs, and then this one is sent a second time, once: both at once, without their delays. An entry
// that runs so may fail with such a status, too: a refresh whose token has expired needs the login
// above it. The stack of what waits is no deeper than the file has entries: each is above the one
// before. An entry whose status is right fails for something else, which a login must not hide.

// A recurrence says when an entry runs, and what stays of it.
type recurrence struct {
	at      hurl.Pos      // of the first comment that says so
	stays   bool          // it is left out of some iterations
	every   time.Duration // how long; 0: of all once it has succeeded
	on      []int         // statuses of later entries after which it runs again
	watched bool          // an entry above it has some
	gives   []int         // slots to which it gives values
}

// A memory is what a user keeps of a file.
type memory struct {
	slots []value
	held  []bool // of each slot: an entry that stays gave it its value
	jar   cookie.Jar
	since []int64 // of each entry: when it last succeeded, in ns since the Unix epoch; 0: never
	row   int     // of the entries that stay: that of the user's first iteration
	begun bool
}

// A suspended is an entry that waits for another, to be sent again.
type suspended struct {
	entry           int
	repeated, tries int64
}

// compileRecurrence compiles what comments before an entry say of its next runs.
func (s *scope) compileRecurrence(h *hurl.Entry, e *entry) {
	e.watched = slices.ContainsFunc(s.program.entries, func(above entry) bool {
		return len(above.on) > 0
	})
	if h.Again == nil {
		return
	}
	e.at, e.stays, e.every, e.on = h.Again.Pos, h.Again.Stays(), h.Again.Every, h.Again.On
	for _, name := range changed(h) {
		e.gives = append(e.gives, s.slots[name])
	}
}

// compileMemory finds out whether a program keeps something, and what makes no sense about that.
func (s *scope) compileMemory() {
	all, staying := s.program.entries, 0
	for _, e := range all {
		if e.stays {
			staying++
		}
	}
	if staying > 0 || slices.ContainsFunc(all, func(e entry) bool { return len(e.on) > 0 }) {
		s.program.memory = s.memories
		s.memories++
	}
	if last := len(all) - 1; last >= 0 && staying == len(all) {
		s.wrong(all[last].at, fact.InScenario{Of: fact.NoLaterRequest})
	} else if last >= 0 && len(all[last].on) > 0 {
		s.wrong(all[last].at, fact.InScenario{Of: fact.NothingFollows})
	}
	if s.Data != nil && s.Order != data.PerUser {
		s.columns.check(s)
	}
}

// columnUses are where columns of the data are used, by their names.
type columnUses struct{ staying, others map[string]hurl.Pos }

// note notes the use of a column in an entry, which may stay.
func (c *columnUses) note(name string, at hurl.Pos, stays bool) {
	to := &c.others
	if stays {
		to = &c.staying
	}
	if *to == nil {
		*to = map[string]hurl.Pos{}
	}
	if _, has := (*to)[name]; !has {
		(*to)[name] = at
	}
}

// check refuses columns that would have two values in one iteration: what stays is of one row, and
// each iteration has another.
func (c *columnUses) check(s *scope) {
	for _, name := range s.Data.Columns() {
		at, is := c.others[name]
		if from, stays := c.staying[name]; is && stays {
			s.wrong(at, fact.InScenario{Of: fact.RowsMixed, Name: name, Line: from.Line},
				fact.Remedy{Setting: "data-order", Value: data.PerUser.String()})
		}
	}
}

// begin begins an iteration of a program.
func (x *user) begin(p *program) {
	x.program, x.memory = p, &x.memories[p.memory]
	x.entry, x.repeated, x.tries = 0, 0, 0
	x.suspended, x.renewed, x.resumed = x.suspended[:0], false, false
	x.jar.Reset()
	for len(x.slots) < len(p.slots) {
		x.slots, x.held = append(x.slots, value{}), append(x.held, false)
	}
	for len(x.since) < len(p.entries) {
		x.since = append(x.since, 0)
	}
	if !x.begun {
		x.begun, x.memory.row = true, x.drawn
	}
}

// rowOf is the row of the data that an entry has.
func (x *user) rowOf(e *entry) int {
	if e.stays {
		return x.memory.row
	}
	return x.drawn
}

// cookiesOf is whose cookies the user's entry sets, for the jar: they stay once it has succeeded,
// as what it captured does.
func (x *user) cookiesOf() int {
	if !x.program.entries[x.entry].stays {
		return 0
	}
	return x.entry + 1
}

// skipHeld goes to the next entry that has to run, now.
func (x *user) skipHeld(now int64) {
	for x.entry < len(x.program.entries) {
		e, since := &x.program.entries[x.entry], x.since[x.entry]
		if !e.stays || since == 0 || e.every > 0 && now-since >= int64(e.every) {
			return
		}
		x.entry++
	}
}

// renewer is the nearest entry above the user's that runs again for the status of a response that
// failed; -1: there is none, or it has run, or the response failed for another reason.
func (x *user) renewer(e *entry, r *scenario.Response) int {
	for i := x.entry - 1; i >= 0 && !x.renewed && e.refusesStatus(r); i-- {
		if slices.Contains(x.program.entries[i].on, int(r.Status)) {
			return i
		}
	}
	return -1
}

// refusesStatus reports whether it was the status for which a response failed: it is not what the
// file says or, if that says nothing of the response, not what the plan expects.
func (e *entry) refusesStatus(r *scenario.Response) bool {
	if !e.anyStatus {
		return r.Failed == "" || r.Failed == string(loadresult.Expect)
	}
	return slices.ContainsFunc(r.Checks(), func(c scenario.Checked) bool {
		return !c.OK && slices.Contains(e.statuses, c.Check)
	})
}

// suspend has the renewer of a response run, and then the user's entry again. It reports whether
// there is one.
func (x *user) suspend(e *entry, r *scenario.Response) bool {
	i := x.renewer(e, r)
	if i < 0 {
		return false
	}
	x.suspended = append(x.suspended, suspended{x.entry, x.repeated, x.tries})
	x.entry, x.repeated, x.tries = i, 0, 0
	r.RunAgain()
	return true
}

// login is what an entry that has succeeded is of the user's logins.
func (x *user) login(e *entry) scenario.Login {
	switch {
	case !e.stays && len(e.on) == 0:
		return 0
	case x.since[x.entry] != 0:
		return scenario.LaterLogin
	}
	return scenario.FirstLogin
}

// finish goes on behind an entry that has succeeded: to the one that waits for it, or the next.
func (x *user) finish(e *entry, now int64) {
	if x.since[x.entry] = now; e.stays {
		for _, slot := range e.gives {
			x.held[slot] = true
		}
		x.jar.Stay(x.cookiesOf())
	}
	if n := len(x.suspended); n > 0 {
		last := x.suspended[n-1]
		x.suspended, x.renewed, x.resumed = x.suspended[:n-1], true, true
		x.entry, x.repeated, x.tries = last.entry, last.repeated, last.tries
		return
	}
	x.entry++
	x.skipHeld(now)
}
