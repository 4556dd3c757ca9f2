package say

import (
	"cmp"
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// serverSentence is Sentence for what the server did with the load; "" of another kind.
func serverSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.NoServer:
		return noServerSentence(a)
	case fact.ErrorsUnjudged:
		return fmt.Sprintf("%s %% of the requests FAILED, and no objective limits errors: the "+
			"objectives are met by the other requests alone", digits.Significant(a.Percent, 2))
	}
	return ""
}

// peerNames are peers as the beginning of a verdict names them.
var peerNames = map[fact.Peer]string{"": "SERVER", fact.Proxy: "PROXY",
	fact.Tunnel: "PROXY OR SERVER"}

// Peer names a peer in a sentence.
func Peer(p fact.Peer) string {
	switch p {
	case fact.Proxy:
		return "the proxy"
	case fact.Tunnel:
		return "the proxy, or the server behind it,"
	}
	return "the server"
}

// A Look is where to look for why connections ended, were refused or had no answer.
type Look struct{ Check, Log, Limits string }

// LookAt is where to look if that happened at a peer.
func LookAt(p fact.Peer) Look {
	switch p {
	case fact.Proxy:
		return Look{"check that the proxy runs, and that the server answers through it",
			"the proxy's log", "the proxy's limits (clients, connections) and at its log"}
	case fact.Tunnel:
		return Look{"check that the proxy runs, and that the server answers through it",
			"the logs of the proxy and of the server",
			"the limits of the proxy and of the server, and at their logs"}
	}
	return Look{"check that the server runs and answers at this address", "the server's log",
		"the server's limits (workers, connections) and at its log"}
}

// Gone says since when there was no server any more, if a fact about the whole load shows that.
func Gone(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.AddressLost:
		if a.IsServer() && len(f.Scope.Parts) == 0 {
			who := fact.Peer("")
			if a.Proxy {
				who = fact.Proxy
			}
			return fmt.Sprintf("%s GONE %s (%s %s)", peerNames[who], fromOn(a.SinceS),
				f.Scope.Address, lostHow(a))
		}
	case fact.NoServer:
		if a.Unanswered == a.Of && isTime(a.LostUS, toEnd(a)) && len(f.Scope.Parts) == 0 {
			return fmt.Sprintf("%s SILENT %s (%s)", peerNames[a.Peer], fromOn(a.SinceS), waiting(a))
		}
	}
	return ""
}

// fromOn is since when something is so: the zero is the window's begin, not that of the warm-up.
func fromOn(s float64) string {
	if s == 0 {
		return "from the start on"
	}
	return "from " + digits.Micros(s*1e6) + " into the window on"
}

// allAtOnce is the share of a time without a server from which on two such times are taken for one:
// connections lose their server within an answer's time of each other.
const allAtOnce = 0.9

// isTime reports whether a time without a server, the sum of several or the mean of connections, is
// one time of so many µs.
func isTime(us, one float64) bool { return us >= allAtOnce*one && allAtOnce*us <= one }

// toEnd is from when the longest time without a server began until the window's end, in µs.
func toEnd(a fact.NoServer) float64 { return a.WindowUS - a.SinceS*1e6 }

// longest is how long the longest time without a server was, in µs. An older dyno did not count it:
// it is taken to have lasted until the window's end.
func longest(a fact.NoServer) float64 { return cmp.Or(a.LongestUS, toEnd(a)) }

// isToEnd reports whether the longest time without a server lasted until the window's end, which is
// a little later for one generator than for others.
func isToEnd(a fact.NoServer) bool { return longest(a) >= 0.99*toEnd(a) }

// sinceText says from when to when there was no server, if that was one time, or else from when to
// when the longest such time was, which has a name.
func sinceText(a fact.NoServer, isOne bool, name string) string {
	if isOne {
		return ", " + spanText(a)
	}
	return "; the longest " + name + " was " + spanText(a)
}

// spanText says from when to when the longest time without a server was.
func spanText(a fact.NoServer) string {
	if isToEnd(a) {
		return fromOn(a.SinceS)
	}
	since := "the start"
	if a.SinceS > 0 {
		since = digits.Micros(a.SinceS * 1e6)
	}
	return "from " + since + " to " + digits.Micros(a.SinceS*1e6+longest(a)) + " of the window"
}

// noServerSentence says how many connections had no server, and since when.
func noServerSentence(a fact.NoServer) string {
	switch {
	case a.Held > 0 && a.Unanswered > 0:
		return fmt.Sprintf("%s got no answer in the whole window, and %s others were waiting for one "+
			"when it ended", places(a.Held, a), count(a.Unanswered))
	case a.Held > 0:
		return places(a.Held, a) + " got no answer in the whole window"
	case a.Unanswered > 0:
		return waitText(a)
	}
	if a.OutageUS > 0 && a.OutageUS >= allAtOnce*a.LostUS {
		return fmt.Sprintf("no connection could be opened for %s of the window's %s%s%s",
			digits.Micros(a.OutageUS), digits.Micros(a.WindowUS), inBrackets(a.Why),
			sinceText(a, isTime(a.OutageUS, longest(a)), "outage"))
	}
	one, name := isTime(a.LostUS, toEnd(a)), "outage of a single connection"
	if a.Of == 1 {
		one, name = isTime(a.LostUS, longest(a)), "outage"
	}
	return unservedText(a) + inBrackets(a.Why) + sinceText(a, one, name)
}

// unservedText says how many connections had no server, on average.
func unservedText(a fact.NoServer) string {
	share, by := a.LostUS/max(a.WindowUS, 1), strings.TrimSuffix(Peer(a.Peer), ",")
	if a.Of == 1 {
		return fmt.Sprintf("%s had no service from %s for %s %% of the window", places(1, a), by,
			digits.Significant(100*share, 2))
	}
	return fmt.Sprintf("on average over the window, %s of the %s had no service from %s",
		digits.Significant(float64(a.Of)*share, 2), placesOf(a), by)
}

// waitText says how many connections were waiting when the run ended, and since when all were, or
// when one of them waited longest.
func waitText(a fact.NoServer) string {
	text := waiting(a)
	if isToEnd(a) && isTime(a.LostUS*float64(a.Of)/float64(a.Unanswered), toEnd(a)) {
		return text + ", and had been " + fromOn(a.SinceS)
	}
	if !isToEnd(a) {
		return text + "; the longest wait came earlier: one connection waited " + spanText(a)
	}
	return text + "; the longest wait of a single connection was " + spanText(a)
}

// waiting says how many connections were waiting when the run ended.
func waiting(a fact.NoServer) string {
	were := "were"
	if a.Unanswered == 1 {
		were = "was"
	}
	return places(a.Unanswered, a) + " " + were + " still waiting for an answer when the run ended"
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
