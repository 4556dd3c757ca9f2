package say

import (
	"fmt"
	"math"
	"strconv"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// noticeSentence is Sentence for what a load did otherwise than one would take it to; "" of another
// kind.
func noticeSentence(args fact.Args) string {
	switch a := args.(type) {
	case fact.FewerThreads:
		return fmt.Sprintf("dyno uses %s, not %d, because there %s only %s and one thread serves each",
			digits.Plural(int64(a.Threads), "thread"), a.Asked, isAre(a.Threads),
			digits.Plural(int64(a.Threads), "connection"))
	case fact.FewerStreams:
		return fmt.Sprintf("the server allows %s at once on a connection, not %d",
			digits.Plural(int64(a.Streams), "stream"), a.Asked)
	case fact.SlowerRing:
		return fmt.Sprintf("dyno uses the ring %q, which is slower, because %s", a.Ring, a.Why)
	case fact.PortableRing:
		return fmt.Sprintf("GOMAXPROCS is %d, so dyno uses the portable ring, which is slower: with "+
			"another ring, its %s would leave no processor to the rest of the program", a.Procs,
			digits.Plural(int64(a.Threads), "thread"))
	case fact.FilesRaised:
		return fmt.Sprintf("the limit of open files was raised from %s to %s",
			count(int64(a.From)), count(int64(a.To)))
	case fact.SourcesSpread:
		return fmt.Sprintf("dyno connects from the addresses %s to %s, because one has too few ports "+
			"for %s connections, or for connecting quickly", a.From, a.To, count(int64(a.Connections)))
	case fact.HTTP1Offered:
		return "dyno offers HTTP/1.1 and not HTTP/2, because " + noHTTP2(a)
	case fact.HTTP3Costs:
		return "dyno speaks HTTP/3 with quic-go, which has goroutines of its own: a request takes " +
			"about twice the CPU time of HTTP/2, and the latency has the goroutines' wait for a CPU"
	case fact.HTTP3Unanswered:
		return "nothing answered over UDP, which HTTP/3 uses: the server may not speak HTTP/3, or a " +
			"firewall drops UDP"
	case fact.SecretsWritten:
		return fmt.Sprintf("the secrets of every TLS session were written to %s (SSLKEYLOGFILE): "+
			"whoever has them can read the traffic", a.File)
	case fact.OwnerAllows:
		return "the machine's owner allows at most " +
			digits.Thousands(strconv.FormatFloat(a.Rate, 'f', -1, 64)) + " requests a second: some " +
			"requests that were late, or had to be sent again, waited because of this limit"
	case fact.ShareLate:
		return "a thread took over its new share of the rate too late: some requests may have been " +
			"sent twice"
	case fact.ThreadsLost:
		their := "their"
		if a.Threads == 1 {
			their = "its"
		}
		return fmt.Sprintf("%d of %d threads lost all %s connections and had no answer on new "+
			"ones: from then on the other threads made the load", a.Threads, a.Of, their)
	case fact.ConnectionsEnded:
		return fmt.Sprintf("%s %s %s", digits.Plural(a.Count, "connection"), digits.Were(a.Count),
			a.Why)
	}
	return besideSentence(args)
}

// besideSentence is Sentence for what was to be done beside a load, or with its result; "" of
// another kind.
func besideSentence(args fact.Args) string {
	switch a := args.(type) {
	case fact.NearCeiling:
		return fmt.Sprintf("the rate is %.0f %% of the %s requests/s that dyno itself reaches on this "+
			"machine with %s and %s (dyno calibrate, %s): the generator may be the limit", a.Percent,
			count(int64(math.Round(a.Ceiling))), digits.Plural(int64(a.Connections), "connection"),
			digits.Plural(int64(a.Threads), "thread"), a.Calibrated)
	case fact.CalibrationUnread:
		return "dyno cannot read its calibration: " + a.Why
	case fact.ProfileLacking:
		if a.Taken {
			return "the server's profile is not kept: " + a.Why
		}
		return "no profile of the server was taken: " + a.Why
	case fact.ProfileInStep:
		return "evenly spaced requests can keep step with the profiler: its samples are then all of " +
			"the same moment of a request"
	case fact.NotWatched:
		return "the server was not watched: " + a.Why
	case fact.NotStored:
		return a.Why
	case fact.PartsApart:
		return fmt.Sprintf("the generators began %s apart: for that long, at both ends of the window, "+
			"only some of them made load", digits.Micros(a.ApartUS))
	case fact.IterationsUnknown:
		return fmt.Sprintf("%d of %d generators did not report their iterations and checks: only those "+
			"of the others are shown", a.Parts, a.Of)
	case fact.RoutesUntimed:
		return fmt.Sprintf("%s of %s have no latency: an agent's result had no room for it",
			count(int64(a.Routes)), digits.Plural(int64(a.Of), "route"))
	}
	return ""
}

// isAre is the verb of n things.
func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// noHTTP2 is why HTTP/2 was not offered.
func noHTTP2(a fact.HTTP1Offered) string {
	switch a.Over {
	case fact.NoPipelining:
		return "HTTP/2 has no pipelining"
	case fact.NoChunks:
		return "HTTP/2 has no chunks"
	case fact.OldTLS:
		return "HTTP/2 needs TLS 1.2"
	}
	return fmt.Sprintf("HTTP/2 cannot carry request %d: %s", a.Request, a.Why)
}
