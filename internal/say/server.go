package say

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// serverSentence is Sentence for what the server did with the load; "" of another kind.
func serverSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.NoServer:
		return noServerSentence(a)
	case fact.ErrorsUnjudged:
		return fmt.Sprintf("%s %% of the requests FAILED, and no objective is about errors: what is "+
			"met is met by the others", digits.Significant(a.Percent, 2))
	}
	return ""
}

// Gone says since when there was no server any more, if a fact about the whole load shows that.
func Gone(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.AddressLost:
		if a.IsServer() && len(f.Scope.Parts) == 0 {
			return fmt.Sprintf("SERVER GONE from %s on (%s %s)", digits.Micros(a.SinceS*1e6),
				f.Scope.Address, lostHow(a))
		}
	case fact.NoServer:
		if a.Unanswered == a.Of && untilEnd(a, a.LostUS) && len(f.Scope.Parts) == 0 {
			return fmt.Sprintf("SERVER SILENT from %s on (%s had no answer at the end)",
				digits.Micros(a.SinceS*1e6), places(a.Of, a))
		}
	}
	return ""
}

// allAtOnce is the share of a time without a server from which on two such times are taken for one:
// connections lose their server within an answer's time of each other.
const allAtOnce = 0.9

// untilEnd reports whether a time without a server, the sum of several or the mean of connections,
// is the one that lasted from when the longest began until the window's end.
func untilEnd(a fact.NoServer, us float64) bool {
	rest := a.WindowUS - a.SinceS*1e6
	return us >= allAtOnce*rest && allAtOnce*us <= rest
}

// sinceText says since when there was no server for a time, if that time is known, or when the
// longest of several began.
func sinceText(a fact.NoServer, us float64) string {
	since := "the start"
	if a.SinceS > 0 {
		since = digits.Micros(a.SinceS * 1e6)
	}
	if untilEnd(a, us) {
		return "from " + since + " on"
	}
	return "the longest time from " + since + " on"
}

// noServerSentence says how many connections had no server, and since when.
func noServerSentence(a fact.NoServer) string {
	switch {
	case a.Held > 0 && a.Unanswered > 0:
		return fmt.Sprintf("%s got no answer in the whole window, and %s none at its end",
			places(a.Held, a), count(a.Unanswered))
	case a.Held > 0:
		return places(a.Held, a) + " got no answer in the whole window"
	case a.Unanswered > 0:
		return places(a.Unanswered, a) + " had no answer at the end of the run, " +
			sinceText(a, a.LostUS*float64(a.Of)/float64(a.Unanswered))
	}
	why := ""
	if a.Why != "" {
		why = ": " + a.Why
	}
	if a.OutageUS > 0 && a.OutageUS >= allAtOnce*a.LostUS {
		return fmt.Sprintf("for %s of %s no connection could be opened, %s%s",
			digits.Micros(a.OutageUS), digits.Micros(a.WindowUS), sinceText(a, a.OutageUS), why)
	}
	mean := digits.Significant(float64(a.Of)*a.LostUS/max(a.WindowUS, 1), 2)
	return fmt.Sprintf("on average %s of %s had no server, %s%s", mean, placesOf(a),
		sinceText(a, a.LostUS), why)
}

// places are n of the connections of a load, or of the requests in flight on them.
func places(n int64, a fact.NoServer) string {
	switch {
	case a.Of == 1:
		return "the one connection"
	case n == a.Of:
		return "all " + placesOf(a)
	}
	return count(n) + " of " + placesOf(a)
}

// placesOf are all of them.
func placesOf(a fact.NoServer) string {
	if a.Streams {
		return digits.Plural(a.Of, "request") + " in flight"
	}
	return digits.Plural(a.Of, "connection")
}
