// Package silences is for how long origins that redirects lead to were silent for the users of a
// worker. A user who waits there asks nothing, as one whose connection at the server is silent.
package silences

import (
	"maps"
	"slices"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
)

// Users are the silences of users. The zero Users is ready.
type Users struct {
	Recovered bool // a user had an answer after one of its requests was given up
	all       map[uint32]silence
	ended     int // silences that counted
}

// A silence is a user's requests that follow redirects and were given up since one was answered.
// The time counts in which it waited, not that between these requests.
type silence struct {
	loadresult.Wait
	since   int64 // when the first wait began
	waits   bool  // it waited as the run ended
	waiting int64 // since when it did
	begun   bool  // the answer had begun then
	held    bool  // it waited for a request of the warm-up
}

// GiveUp notes that a request of a user is given up now, which has waited since an instant.
func (u *Users) GiveUp(user uint32, v *flow.Window, since, now, after int64, begun bool) {
	s := u.all[user]
	if s.add(v, since, now, begun); s.Requests == 1 {
		s.After = after
	}
	s.After = min(s.After, after)
	u.set(user, s)
}

// Leave notes that a user has waited since an instant for the request a as the run ends.
func (u *Users) Leave(a flow.Arrival, v *flow.Window, since int64, begun bool) {
	s := u.all[a.Request]
	s.waits, s.waiting, s.begun, s.held = true, since, begun, !a.Counted && since < v.From
	u.set(a.Request, s)
}

func (u *Users) set(user uint32, s silence) {
	if u.all == nil {
		u.all = map[uint32]silence{}
	}
	u.all[user] = s
}

// add adds a wait.
func (s *silence) add(v *flow.Window, since, until int64, begun bool) {
	if s.Requests++; s.Requests == 1 {
		s.since = since
	}
	if v.Start == flow.NotYet {
		return
	}
	_, length := v.Overlap(since, until)
	s.Slots += max(length, 0)
	if begun {
		s.SlotsBegun += max(length, 0)
	}
}

// Answer notes that a user has an answer.
func (u *Users) Answer(user uint32, v *flow.Window, depth int, to *loadresult.Totals) {
	if s, was := u.all[user]; was {
		u.Recovered = true
		delete(u.all, user)
		u.end(&s, v, depth, to)
	}
}

// End counts the silences in which the run ended now. A first wait was one if it was longer than
// most, and another if it was longer than again.
func (u *Users) End(v *flow.Window, now, most, again int64, depth int, to *loadresult.Totals) {
	for _, user := range slices.Sorted(maps.Keys(u.all)) {
		s, longer := u.all[user], most
		if s.Requests > 0 {
			longer = again
		}
		if s.waits && now-s.waiting > longer {
			s.add(v, s.waiting, now, s.begun)
			s.Requests++ // this one alone is a silence
			if s.held {
				to.Held++
			}
		}
		u.end(&s, v, depth, to)
	}
	u.all = nil
}

// end counts a silence, if it was of two requests or more. As many slots as a connection has, which
// is depth, are one connection without a server.
func (u *Users) end(s *silence, v *flow.Window, depth int, to *loadresult.Totals) {
	if s.Requests < 2 || s.Slots == 0 {
		return
	}
	s.Requests = 0
	to.Unanswered.Add(s.Wait)
	if u.ended++; u.ended%depth == 0 {
		to.AddUnavailable(max(s.since-v.From, 0), s.Slots)
	}
}
