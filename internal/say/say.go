// Package say has the sentences for facts. A sentence holds wherever the load is described; what to
// do about it is said in the words of whoever described the load (Voice).
//
//	advice.go       remedies, and what settings are called in each voice
//	arms.go         sentences about variants that cannot be tested
//	comparisons.go  sentences about a comparison of runs
//	experiments.go  sentences about an experiment
//	fairness.go     sentences about whether servers answer alike
//	fleet.go        sentences about the agents of a fleet
//	gate.go         sentences about a gate that is not decided
//	generator.go    sentences about the generator, and about the load if it was another
//	losses.go       sentences about requests without a latency
//	many.go         sentences about many runs or trials together
//	mistakes.go     errors: sentences about what somebody wrote
//	notices.go      sentences about what a load did otherwise than one would take it to
//	parts.go        facts of the parts of a load, those that are said alike once
//	phrase.go       a sentence with its amounts apart: facts of a kind in one
//	retries.go      sentences about retries: what was sent again, what was not, after how many
//	                requests the server closes connections
//	say.go          the catalogue: kind → sentence
//	scenarios.go    sentences about mistakes in Hurl files
//	search.go       sentences about a search for a rate, its probes, and points of a sweep
//	server.go       sentences about what the server did with a load, or a proxy before it: who is
//	                blamed (Peer)
//	start.go        a sentence with a capital, unless it begins with a name
//	streams.go      sentences about streams of events
//	trials.go       sentences about trials of an experiment
package say

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// Sentence says what is so, in one line without a full stop.
func Sentence(f fact.Fact) string { return ofParts(f.Scope, sentence(f)) }

// Plain is the sentence of a fact that has nothing but its arguments.
func Plain(args fact.Args) string { return Sentence(fact.Fact{Args: args}) }

// phraseOf is the sentence of a fact with its amounts apart, if facts of its kind are merged.
func phraseOf(f fact.Fact) phrase {
	if p := generatorPhrase(f); !p.isEmpty() {
		return p
	}
	if p := trialPhrase(f.Args); !p.isEmpty() {
		return p
	}
	return searchPhrase(f.Args)
}

func sentence(f fact.Fact) string {
	if p := phraseOf(f); !p.isEmpty() {
		return p.String()
	}
	switch a := f.Args.(type) {
	case fact.ProxyUnused:
		return a.Variable + " names a proxy for this address, but dyno connects directly"
	case fact.ErrorsSince:
		return sinceSentence(a)
	case fact.AnswerUnfinished:
		return unfinishedSentence(a)
	case fact.RedirectsOnly:
		return fmt.Sprintf("every response was a redirect (%s), and none was followed", numbers(a.Status))
	case fact.DelayedAck:
		return fmt.Sprintf("the median answer began after %s and ended after %s: the second piece of "+
			"an answer waits up to 40 ms for an acknowledgement (Nagle's algorithm, delayed ACK); "+
			"have the server write each answer in one piece, or set TCP_NODELAY",
			digits.Micros(a.FirstByteUS), digits.Micros(a.LastByteUS))
	case fact.IterationsCut:
		takes := ""
		if a.TimeUS > 0 {
			takes = fmt.Sprintf("; the median iteration takes %s", digits.Micros(a.TimeUS))
		}
		return fmt.Sprintf("%s of %s began in time but had not ended after the drain of %s%s",
			count(a.Unfinished), digits.Plural(a.Started, "iteration"), digits.Micros(a.DrainUS), takes)
	case fact.NotInTime:
		return notInTime(a)
	case fact.ApplicationStderr:
		return fmt.Sprintf("the application wrote %s to stderr, first: %s",
			digits.Plural(a.Bytes, "byte"), a.First)
	case fact.NotRetried:
		return notRetried(a)
	case fact.Retries:
		return retries(a)
	case fact.OthersOfName:
		return othersOfName(a)
	case fact.NoListener:
		return noListener(a)
	case fact.AddressLost:
		return lostAddress(f.Scope, a)
	case fact.RatesApart:
		return ratesApart(a)
	case fact.StepsFailedAfter:
		return fmt.Sprintf("%s %s sent after the window's end, by iterations that began in it; %s of "+
			"these steps failed: the iterations count as failed, but the steps are not among the errors",
			digits.Plural(a.Steps, "step"), digits.Were(a.Steps), count(a.Failed))
	}
	return cmp.Or(noticeSentence(f.Args), lossSentence(f), serverSentence(f), streamSentence(f),
		fleetSentence(f), manySentence(f), experimentSentence(f),
		comparisonSentence(f), gateSentence(f), fairnessSentence(f.Args), armSentence(f.Args),
		mistakeSentence(f.Args),
		fmt.Sprintf("a newer dyno found %q, which this dyno cannot explain", f.Kind()))
}

// Text is the sentence with what can be done.
func Text(f fact.Fact, v Voice) string {
	if text := scenarioText(f, v); text != "" {
		return text
	}
	if advice := Advice(f, v); advice != "" {
		return Sentence(f) + "; " + advice
	}
	return Sentence(f)
}

// sinceSentence says since when nearly all requests failed.
func sinceSentence(a fact.ErrorsSince) string {
	since, of := fromOn(a.SinceS)+", ", digits.Significant(a.Percent, 3)+" % of the "
	switch {
	case a.Status > 0 && a.Percent == 100:
		return fmt.Sprintf("%severy answer had status %d", since, a.Status)
	case a.Status > 0:
		return fmt.Sprintf("%s%sanswers had status %d", since, of, a.Status)
	case a.Percent == 100:
		return since + "every request failed"
	}
	return since + of + "requests failed"
}

// unfinishedSentence says how far an answer came, and what would have ended it.
func unfinishedSentence(a fact.AnswerUnfinished) string {
	came, lacks := "its header", ""
	bytes := func(n int64, of string) string {
		if n == 1 {
			return "1 byte of " + of
		}
		return count(n) + " bytes of " + of
	}
	switch {
	case a.Status == 0:
		came = bytes(a.Header, "its header")
	case a.EndedBy == fact.ByLength:
		came = fmt.Sprintf("%s of %s", count(a.Body), bytes(a.Length, "its body"))
	case a.EndedBy == fact.ByChunk:
		came, lacks = bytes(a.Body, "its chunked body"), ", without the last chunk"
	case a.EndedBy == fact.ByClose:
		came = bytes(a.Body, "a body without Content-Length")
		lacks = "; such a body ends with the connection"
	case a.EndedBy == fact.ByStream:
		came, lacks = bytes(a.Body, "its body"), ", without the end of its stream"
	}
	if a.Status > 0 {
		came = fmt.Sprintf("status %d and %s", a.Status, came)
	}
	late := "did not end in time"
	if a.AtEnd {
		late = "had not ended when the run did"
	}
	return fmt.Sprintf("the answer began but %s: only %s came%s", late, came, lacks)
}

// notInTime says what was due and not sent in time, and why.
func notInTime(a fact.NotInTime) string {
	what, begun := "request", "sent"
	if a.Iterations {
		what, begun = "iteration", "begun"
	}
	var parts []string
	if a.Never > 0 {
		parts = append(parts, fmt.Sprintf("%s %s due but never %s", digits.Plural(a.Never, what),
			digits.Were(a.Never), begun))
	}
	if a.After > 0 || a.Never == 0 {
		of := digits.Plural(a.After, what) + " " + digits.Were(a.After)
		if len(parts) > 0 {
			of = count(a.After) + " " + digits.Were(a.After)
		}
		parts = append(parts, fmt.Sprintf("%s %s only after the window", of, begun))
	}
	return strings.Join(parts, ", and ") + ": " + Shortage(a.Shortage) +
		", so the offered rate was not reached"
}

// Shortage says why no more could be sent.
func Shortage(s fact.Shortage) string {
	switch s.Of {
	case fact.OfServer:
		return fmt.Sprintf("for %s no connection could be opened", digits.Micros(s.OutageUS))
	case fact.OfUsers:
		return allOf(s.Users, "user") + " " + digits.Were(int64(s.Users)) + " busy"
	case fact.OfEither:
		return allOf(s.Users, "user") + " or " + allOf(s.Connections, "connection") + " were busy"
	}
	return allOf(s.Connections, "connection") + " " + digits.Were(int64(s.Connections)) + " busy"
}

// allOf are n things: "all 10 connections".
func allOf(n int, thing string) string {
	if n == 1 {
		return "the one " + thing
	}
	return "all " + digits.Plural(int64(n), thing)
}

// lostReasons say how an address was lost, after the address.
var lostReasons = map[string]string{
	"refused":     "refused connections",
	"timeout":     "did not answer",
	"unreachable": "could not be reached",
}

// lostHow is how an address was lost, after the address.
func lostHow(a fact.AddressLost) string {
	if how := lostReasons[a.Why]; how != "" {
		return how
	}
	return "accepted no connection (" + a.Why + ")"
}

// lostAddress says since when an address of the target could not be connected to, and what became
// of its share of the connections.
func lostAddress(of fact.Scope, a fact.AddressLost) string {
	how, name, end := lostHow(a), "", ""
	since, back := digits.Micros(a.SinceS*1e6), digits.Micros(a.BackS*1e6)
	if a.SinceS == 0 {
		since = "the start"
	}
	when := " " + fromOn(a.SinceS)
	if a.BackS > 0 {
		when = " from " + since + " until " + back + " of the window"
	}
	if a.BackS > 0 && a.Times > 1 {
		when = fmt.Sprintf(" in %d outages between %s and %s of the window", a.Times, since, back)
	}
	switch {
	case a.Others == 1:
		end = ": its share of the connections went to the other address"
	case a.Others > 1:
		end = fmt.Sprintf(": its share of the connections went to the %d other addresses", a.Others)
	}
	if a.Name != "" {
		name = ", an address of " + a.Name + ","
	}
	if a.Name != "" && a.Others == 0 && a.SinceS > 0 {
		name = ", an address of " + a.Name + " when the load began,"
		end = "; dyno looked the name up once: if " + a.Name + " has another address by now, run again"
	}
	return of.Address + name + " " + how + when + end
}

// count is a count as people read it: 1,234,567.
func count(n int64) string { return digits.Thousands(strconv.FormatInt(n, 10)) }

// ratesApart says that results count rates differently.
func ratesApart(a fact.RatesApart) string {
	return fmt.Sprintf("an older dyno measured %d of the %d results: its rate is requests due per "+
		"second, and this version's is answers received per second; if answers are slow, compare "+
		"neither rates nor CPU per request", a.Older, a.All)
}

// othersOfName says which processes of a name are watched, and which are not.
func othersOfName(a fact.OthersOfName) string {
	listens := "listens"
	if len(a.Watched) > 1 {
		listens = "listen"
	}
	return fmt.Sprintf("of the processes named %q, dyno watches %s, which %s on port %d, and not %s",
		a.Name, pids(a.Watched), listens, a.Port, pids(a.Others))
}

// noListener says what is watched if nothing of the name listens where the load goes.
func noListener(a fact.NoListener) string {
	where := "on the Unix socket of the load"
	if a.Port > 0 {
		where = "on port " + strconv.Itoa(a.Port) + " of this machine"
	}
	return fmt.Sprintf("dyno watches all processes named %q (%s), because it sees none of them "+
		"listen %s; a process behind a proxy or in a container may listen there unseen",
		a.Name, pids(a.Watched), where)
}

// pids are a few processes: "PID 12", "PIDs 5, 7 and 2 more".
func pids(all []int) string {
	if len(all) == 1 {
		return "PID " + numbers(all)
	}
	return "PIDs " + numbers(all)
}

// numbers are a few numbers, of processes and the like: "12 and 13", "12, 13 and 2 more".
func numbers(all []int) string {
	const most = 8
	var parts []string
	for _, n := range all[:min(len(all), most)] {
		parts = append(parts, strconv.Itoa(n))
	}
	if n := len(all) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return Listed(parts)
}
