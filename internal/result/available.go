package result

import (
	"fmt"

	"dyno/internal/engine/load"
)

// unavailableMost is the share of the window for which a closed loop may have been without a
// server before objectives of errors and rps are missed: a server that is gone answers nothing,
// and a closed loop then asks nothing, so that neither shows in what was counted.
const unavailableMost = 0.01

// Unavailable is the share of the load, from 0 to 1, that a closed loop could not apply because
// its connections were gone and could not be opened again: of the time of all connections in
// the window or, where the server never came back, of what was planned. In an open loop it is 0,
// for what was due meanwhile is in its latencies or was never sent.
func (r *Result) Unavailable() (share float64) {
	if r.Model == OpenLoop || r.Window.MeasuredS <= 0 {
		return 0
	}
	lost, of := r.Window.UnavailableS, r.Window.MeasuredS
	if planned := r.Plan.Duration; load.Ending(r.Ended) == load.Gone {
		switch length := float64(planned) / 1e9; {
		case r.Plan.Requested > 0:
			lost, of = float64(r.Plan.Requested-r.Requests.Sent), float64(r.Plan.Requested)
		case length > of:
			lost, of = lost+length-of, length
		}
	}
	return min(max(lost/of, 0), 1)
}

// Applied reports whether the load was applied for all but so little of the window that it can
// be judged as a whole.
func (r *Result) Applied() bool { return r.Unavailable() <= unavailableMost }

// checkNoServer finds time without a server, which a closed loop would pass over.
func checkNoServer(r *Result) (string, string) {
	if r.Applied() || r.Answers() == 0 || load.Ending(r.Ended) == load.Gone {
		return OK, "" // ended says so
	}
	return Suspect, "the load could not be applied for " + r.unavailableFor() + r.firstCause()
}

// unavailableFor is how long it was, and since when.
func (r *Result) unavailableFor() string {
	s := fmt.Sprintf("%v on average of all connections", formatMicroseconds(r.Window.UnavailableS*1e6))
	if since := r.Window.UnavailableFromS; since != nil {
		s += fmt.Sprintf(" (the longest from %v on)", formatMicroseconds(*since*1e6))
	}
	return s
}

// firstCause is the failure that was seen most, in brackets, if there is one.
func (r *Result) firstCause() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return " (" + r.Errors[0].Detail + ")"
}

// noteNoServer is what an objective has to be told with: what it says nothing of.
func (r *Result) noteNoServer() string {
	switch {
	case r.Applied():
		return ""
	case load.Ending(r.Ended) == load.Gone:
		return fmt.Sprintf("the server went away, and %.3g %% of the load was not applied",
			100*r.Unavailable())
	}
	return fmt.Sprintf("the load could not be applied for %v of the window",
		formatMicroseconds(r.Window.UnavailableS*1e6))
}
