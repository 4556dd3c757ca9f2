package result

import (
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// unavailableMost is the share of the window for which a closed workload may have been without a
// server before objectives of errors and rps are missed. A server that is gone answers nothing, and
// a closed workload then sends nothing, so the counts show neither.
const unavailableMost = 0.01

// Unavailable is the share of the load, from 0 to 1, that a closed workload could not apply because
// its connections were lost and could not be opened again, or waited for answers until the end. It
// is a share of the time of all connections in the window or, if the server never came back, of the
// planned time. In an open workload it is 0: what was due meanwhile shows in its latencies, or was
// never sent.
func (r *Result) Unavailable() (share float64) {
	if r.Model == OpenLoop || r.Window.MeasuredS <= 0 {
		return 0
	}
	lost, of := r.Window.UnavailableS, r.Window.MeasuredS
	if planned := r.Plan.Duration; loadresult.Ending(r.Ended) == loadresult.Gone {
		switch length := float64(planned) / 1e9; {
		case r.Plan.Requested > 0:
			_, _, begun := r.Backlog()
			lost, of = float64(r.Plan.Requested-begun), float64(r.Plan.Requested)
		case length > of:
			lost, of = lost+length-of, length
		}
	}
	return min(max(lost/of, 0), 1)
}

// Applied reports whether the load was applied for enough of the window that the window can be
// judged as a whole.
func (r *Result) Applied() bool { return r.Unavailable() <= unavailableMost }

// FindNoServer finds time without a server, which a closed workload does not show otherwise.
func (r *Result) FindNoServer() *fact.Fact {
	end := loadresult.Ending(r.Ended)
	if r.Applied() || r.Answers() == 0 || end == loadresult.Gone || end == loadresult.Unserved {
		return nil // Ended reports it
	}
	a := r.noServer()
	if e := r.firstFailure(); e != nil && a.Why != "" {
		return told(a, e.Remedies...)
	}
	return told(a)
}

// noServer is for how many connections there was no server, and why: what failed, unless more
// requests were unanswered.
func (r *Result) noServer() fact.NoServer {
	a := fact.NoServer{Of: int64(min(r.inFlight(), r.userCount())),
		Streams: r.inFlight() > r.Plan.Connections, SinceS: orZero(r.Window.UnavailableFromS),
		LongestUS: r.Window.UnavailableLongestS * 1e6, LostUS: r.Window.UnavailableS * 1e6,
		OutageUS: r.Window.OutageS * 1e6, WindowUS: r.Window.MeasuredS * 1e6, Peer: r.Plan.Peer()}
	if e := r.firstFailure(); e != nil && e.Count >= r.Requests.Unfinished+r.Requests.Held {
		a.Why = e.Detail
		return a
	}
	a.Held = min(r.Requests.Held, a.Of)
	a.Unanswered = min(r.Requests.Unfinished, a.Of-a.Held)
	return a
}

// firstFailure is the most frequent failure of connections or of requests without an answer; nil if
// there is none.
func (r *Result) firstFailure() *Error {
	i := slices.IndexFunc(r.Errors, func(e Error) bool {
		return e.Phase != string(loadresult.Expect) && e.Phase != string(loadresult.Check)
	})
	if i < 0 {
		return nil
	}
	return &r.Errors[i]
}

// NotApplied is what an objective does not cover because for a time there was no server; nil if
// there was one.
func (r *Result) NotApplied() fact.Args {
	switch {
	case r.Applied():
		return nil
	case loadresult.Ending(r.Ended) == loadresult.Gone:
		return fact.LoadNotApplied{Percent: 100 * r.Unavailable()}
	}
	return r.noServer()
}
