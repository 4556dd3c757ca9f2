package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/method"
)

// ModelText is the load model in words.
func ModelText(r *result.Result) string {
	if r.Model != result.OpenLoop {
		s := "closed, " + format.Plural(int64(r.Plan.Connections), "connection")
		if n := max(r.Plan.Pipeline, streamsPerConnection(r)); n > 1 {
			s += fmt.Sprintf(", %s requests in flight on each", format.Count(int64(n)))
		}
		return s + usersText(r)
	}
	late := "none"
	if n := r.Requests.Late; n != nil && *n > 0 {
		late = format.Count(*n)
	}
	s := fmt.Sprintf("open, %s, %s sent more than 1 ms late",
		arrivalsText(r.Plan, offeredRate(r)), late)
	if worst := r.Requests.LateMax; worst != nil && *worst > 0 {
		s += ", worst " + format.Micros(*worst)
	}
	return s + usersText(r)
}

// usersText are the users who had iterations, or who were asked for; "" if there were none.
func usersText(r *result.Result) string {
	n := r.Plan.Users
	if r.Plan.Ramps() {
		return ", " + rampText(r.Plan)
	}
	if r.Iterations != nil {
		n = r.Iterations.Users
	}
	if n == 0 {
		return ""
	}
	return ", " + format.Plural(int64(n), "user")
}

// rampText is how the number of users changes: ramp from 0 to 200 users in 30s, hold 1m0s.
func rampText(p loadplan.Plan) string {
	s, last := "", p.Users
	for i, stage := range p.UserStages {
		switch users := format.Count(int64(stage.Users)); {
		case i == mostStages:
			return s + fmt.Sprintf(", and %d stages more", len(p.UserStages)-mostStages)
		case i == 0:
			s = fmt.Sprintf("ramp from %s to %s users in %v", format.Count(int64(last)), users,
				stage.Duration)
		case stage.Users == last:
			s += fmt.Sprintf(", hold %v", stage.Duration)
		default:
			s += fmt.Sprintf(", to %s in %v", users, stage.Duration)
		}
		last = stage.Users
	}
	return s
}

// rowsText is what data requests had values from.
func rowsText(d *loadplan.Rows) string {
	return fmt.Sprintf("%s, %s, %s", format.PlainLine(d.File), format.Plural(int64(d.Rows), "row"),
		format.PlainLine(d.Order))
}

// arrivalsText are those of an open loop, whose mean rate is given.
func arrivalsText(p loadplan.Plan, rate float64) string {
	law := p.Arrival
	if law == "" {
		law = loadplan.Even
	}
	each := "/s "
	if p.CountsIterations() {
		each = " iterations/s "
	}
	if p.Replay > 0 {
		return format.Exact3(rate) + "/s on average, replayed for " + p.Replay.String()
	}
	if len(p.Stages) == 0 {
		return format.Exact3(rate) + each + law
	}
	s := format.Exact3(rate) + each + "on average, " + law + ", from " +
		format.Exact3(p.Rate.PerSecond())
	for i, stage := range p.Stages {
		if i == mostStages {
			return s + fmt.Sprintf(" and %d stages more", len(p.Stages)-mostStages)
		}
		s += fmt.Sprintf(" to %s in %v", format.Exact3(stage.Rate.PerSecond()), stage.Duration)
	}
	return s
}

// mostStages is how many stages are listed.
const mostStages = 4

func offeredRate(r *result.Result) float64 {
	if offered := r.Offered(); offered != nil {
		return *offered
	}
	return r.Plan.Offered().PerSecond()
}

// PlanText is what a run is about to do: where to send, and how much.
func PlanText(p loadplan.Plan) string {
	s := format.URL(p.Target.URL) + ", " +
		format.Plural(int64(p.Connections), "connection")
	if p.Open() {
		s += ", " + arrivalsText(p, p.Offered().PerSecond())
	}
	if p.Ramps() {
		s += ", " + rampText(p)
	}
	if p.Requested > 0 {
		what := "request"
		if p.CountsIterations() {
			what = "iteration"
		}
		s += ", " + format.Plural(p.Requested, what)
	}
	if p.Duration > 0 {
		s += ", " + p.Duration.String()
	}
	if p.Warmup > 0 {
		s += " after " + p.Warmup.String() + " of warm-up"
	}
	return s
}

// MethodAndURL is sent, and where: GET http://host/.
func MethodAndURL(r *result.Result) string {
	url := format.URL(r.Plan.Target.URL)
	if script := r.Plan.Script; script != nil {
		return "the script " + format.PlainLine(script.File) + " at " + url
	}
	if n := len(r.Plan.Steps); n > 0 {
		return fmt.Sprintf("a scenario of %s at %s", format.Plural(int64(n), "step"), url)
	}
	if reqs := r.Plan.Requests; r.Plan.Asks() == 1 && len(reqs) == 1 {
		return format.PlainLine(reqs[0].Method) + " " + url
	}
	return fmt.Sprintf("%s to %s", format.Plural(int64(r.Plan.Asks()), "request"), url)
}

// transportText it is sent: the rest of the plan that one would ask for.
func transportText(r *result.Result) string {
	s := protocolsText(r)
	if r.Plan.Target.TLS {
		s += " over TLS"
		if r.Plan.TLS.Insecure {
			s += ", any certificate"
		}
	}
	if r.Plan.Target.Unix != "" {
		s += ", unix socket " + format.PlainLine(r.Plan.Target.Unix)
	}
	if r.Model == result.OpenLoop {
		s += ", " + format.Plural(int64(r.Plan.Connections), "connection")
		if n := streamsPerConnection(r); n > 1 {
			s += fmt.Sprintf(" of %s streams", format.Count(int64(n)))
		}
	}
	s += setting.Description(&r.Plan)
	s += ", " + format.Plural(int64(r.Generator.Threads), "thread")
	if r.Generator.Ring != "" {
		s += ", " + format.PlainLine(r.Generator.Ring)
	}
	return s
}

// protocolsText is what connections spoke, or were to speak if none did.
func protocolsText(r *result.Result) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Connections.Protocols)) {
		all = append(all, protocolName(name))
	}
	switch {
	case len(all) > 0:
		return strings.Join(all, " and ")
	case r.Plan.Target.FastCGI:
		return protocolName(loadplan.FastCGI)
	case r.Plan.OnlyHTTP2():
		return protocolName(loadplan.HTTP2)
	case r.Plan.HTTP == loadplan.Auto && r.Plan.Target.TLS:
		return "HTTP"
	case r.Plan.HTTP == loadplan.Auto:
		return protocolName(loadplan.HTTP11)
	}
	return "HTTP/" + format.PlainLine(r.Plan.HTTP)
}

func protocolName(name string) string {
	known, ok := map[string]string{loadplan.HTTP10: "HTTP/1.0", loadplan.HTTP11: "HTTP/1.1",
		loadplan.HTTP2: "HTTP/2", loadplan.HTTP3: "HTTP/3", loadplan.FastCGI: "FastCGI"}[name]
	if !ok {
		return format.PlainLine(name)
	}
	return known
}

// streamsPerConnection is how many requests of HTTP/2 or 3 were in flight on a connection.
func streamsPerConnection(r *result.Result) int {
	if n := r.Connections.Streams; n != nil {
		return *n
	}
	return r.Plan.Streams
}

var earlyEndings = map[string]string{
	"interrupted": "INTERRUPTED",
	"aborted":     "ENDED by --abort-on-slo",
	"stopped":     "STOPPED by the script",
	"faulted":     "ENDED because the script failed",
	"gone":        "PEER was GONE",
	"unserved":    "PEER ENDED each connection without an answer",
	"unreachable": "UNREACHABLE",
	"lost":        "ENDED because an agent was lost",
}

// earlyEnding is how a run ended before its time; "" if it did not.
func earlyEnding(r *result.Result) string {
	return strings.Replace(earlyEndings[r.Ended], "PEER", say.Peer(r.Plan.Peer()), 1)
}

// windowText is the length of the window, and what became of the requests in flight at
// its end.
func windowText(r *result.Result) string {
	w := r.Window
	s := format.Seconds(w.MeasuredS) + " measured"
	if w.WarmupS > 0 {
		s += ", after " + format.Seconds(w.WarmupS) + " of warm-up"
	}
	if why := earlyEnding(r); why != "" {
		s += "; " + why
	}
	then := "at its end"
	if w.DrainedS > 0 {
		then = format.Seconds(w.DrainedS) + " later"
	}
	switch n := r.Requests.Unfinished; {
	case r.Requests.Sent == 0:
		return s
	case n > 0:
		return s + fmt.Sprintf("; %s %s unanswered, and given up %s", format.Plural(n, "request"),
			format.Were(n), then)
	case w.DrainedS > 0:
		return s + "; the requests in flight ended within " + format.Seconds(w.DrainedS)
	}
	return s + "; no request was in flight at its end"
}

// probeText is what the light load beside the main one was, and came to.
func probeText(p *result.Probe) string {
	s := "open, "
	if p.Rate.Offered != nil {
		s += format.Exact3(*p.Rate.Offered) + "/s poisson, "
	}
	s += "on " + format.Plural(int64(p.Connections.Asked), "connection") + " of its own; " +
		requestsText(p.Requests, say.Retried(fact.Retries{Count: p.Requests.Retried}))
	if p.SendLagP99 != nil {
		s += ", send lag p99 " + format.Micros(*p.SendLagP99)
	}
	return s
}

// retriedText is how many requests were sent again, and why, unless a warning says that.
func retriedText(r *result.Result) string {
	if r.AreRetriesTold() {
		return format.Count(r.Requests.Retried) + " retried"
	}
	return say.Retried(r.SentAgain())
}

func requestsText(q result.Requests, retried string) string {
	s := fmt.Sprintf("%s sent: %s completed, %s, %s unfinished", format.Count(q.Sent),
		format.Count(q.Completed), format.Plural(q.Errors, "error"), format.Count(q.Unfinished))
	if q.Redirects > 0 {
		s += fmt.Sprintf("; %s followed", format.Plural(q.Redirects, "redirect"))
		for _, o := range q.RedirectsTo {
			s += fmt.Sprintf(", %s to %s (%s)", format.Count(o.Redirects), format.PlainLine(o.Origin),
				format.Plural(o.Connections, "connection"))
		}
	}
	if q.Held > 0 {
		s += fmt.Sprintf("; %s sent before the window had no answer", format.Count(q.Held))
	}
	if retried != "" {
		s += "; " + retried
	}
	if q.SentAfter != nil && *q.SentAfter > 0 {
		s += fmt.Sprintf("; %s of them sent after the window", format.Count(*q.SentAfter))
	}
	if q.Waiting != nil && *q.Waiting > 0 {
		s += fmt.Sprintf("; %s more due and NEVER SENT", format.Count(*q.Waiting))
	}
	return s
}

func statusText(r *result.Result) string {
	var all []string
	for _, code := range result.StatusCodes(r.Status) {
		all = append(all, format.PlainLine(code)+": "+format.Count(r.Status[code]))
	}
	if all == nil {
		return "no response"
	}
	return strings.Join(all, "; ")
}

func trafficText(r *result.Result) string {
	flow := func(n int64) string {
		s := format.Size(float64(n))
		if t := r.Window.MeasuredS; t > 0 {
			s += " (" + format.Size(float64(n)/t) + "/s)"
		}
		return s
	}
	return flow(r.Bytes.Received) + " in, " + flow(r.Bytes.Sent) + " out"
}

func connectionsText(r *result.Result) string {
	c := r.Connections
	of, some := agentsReported(r.Fleet)
	if !some {
		return noneReported
	}
	s := fmt.Sprintf("%s requested, %s established, %s used, %s%s", format.Count(int64(c.Asked)),
		format.Count(c.Opened), format.Count(int64(c.Served)), format.Plural(c.Reconnects, "reconnect"),
		of)
	if c.TLSFull != nil && c.TLSResumed != nil {
		s += fmt.Sprintf("; TLS: %s full, %s resumed", format.Count(*c.TLSFull),
			format.Count(*c.TLSResumed))
	}
	s += method.AddressesText(c)
	if len(c.Protocols) > 1 || r.Plan.Target.TLS && r.Plan.HTTP == loadplan.Auto {
		sep := "; "
		for _, name := range slices.Sorted(maps.Keys(c.Protocols)) {
			s += fmt.Sprintf("%s%s of %s", sep, format.Count(c.Protocols[name]), protocolName(name))
			sep = ", "
		}
	}
	return s
}

// mostTerms is how many kinds of TLS are listed.
const mostTerms = 4

// tlsText is what handshakes settled: version, cipher and group.
func tlsText(r *result.Result) string {
	var all []string
	for i, t := range r.Connections.TLS {
		if i == mostTerms {
			all = append(all, fmt.Sprintf("and %d more", len(r.Connections.TLS)-mostTerms))
			break
		}
		s := format.PlainLine(t.Version) + ", " + format.PlainLine(t.Cipher)
		if t.Group != "" {
			s += ", " + format.PlainLine(t.Group)
		}
		if len(r.Connections.TLS) > 1 {
			s += ": " + format.Count(t.Count)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func rateText(r *result.Result) string {
	s, due := format.Digits3(r.Rate.Completed)+" requests/s", r.Requests.Due
	if r.Rate.Completed == 0 {
		s = "0 requests/s"
	}
	if i := r.Iterations; i != nil {
		s, due = s+", "+format.Digits3(i.Rate.Completed)+" iterations/s", i.Due
	}
	if r.Model == result.OpenLoop {
		s += fmt.Sprintf(" of %s offered", format.Exact3(offeredRate(r)))
	}
	if r.Rate.Completed > 0 && (goneLead(r) != "" || wasGone(r)) {
		s += ", averaged with the time without a server"
	}
	if span := r.Window.MeasuredS; r.Plan.Arrival == loadplan.Poisson && due != nil && span > 0 {
		s += fmt.Sprintf(" on average, %s drawn", format.Digits3(float64(*due)/span))
	}
	if n := r.Rate.ErrorAnswers; n != nil {
		s += ", and " + format.Digits3(*n) + " error answers/s"
	}
	if n := r.Rate.Handshakes; n != nil {
		s += ", " + format.Digits3(*n) + " TLS handshakes/s"
	}
	return s
}

// generatorText is what the load cost this machine, and how well it was made.
func generatorText(r *result.Result) string {
	g := r.Generator
	of, some := agentsReported(r.Fleet)
	if !some {
		return noneReported
	}
	var all []string
	if g.CPUPerRequest > 0 {
		all = append(all, format.Micros(g.CPUPerRequest)+" CPU/request")
	}
	if g.CPUPercent > 0 {
		all = append(all, format.Digits3(g.CPUPercent)+" % of a core")
	}
	all = append(all, "busy "+format.Percent(g.BusyPercent))
	if g.ScenarioPercent != nil {
		what := "the scenario "
		if len(r.Plan.Steps) == 0 {
			what = "holes and checks "
		}
		all = append(all, what+format.Percent(*g.ScenarioPercent))
	}
	if g.SendLagP99 != nil && g.SendLagMax != nil {
		all = append(all, fmt.Sprintf("send lag p99 %s, max %s", format.Micros(*g.SendLagP99),
			format.Micros(*g.SendLagMax)))
	}
	if g.Linger != nil {
		all = append(all, fmt.Sprintf("answers waited %s for others, %s of the median",
			format.Micros(g.Linger.Wait), format.Percent(100*g.Linger.Share)))
	}
	if g.GCPauseMax > 0 {
		all = append(all, "GC pause max "+format.Micros(g.GCPauseMax))
	}
	return strings.Join(all, ", ") + of
}

// notTheLimit is what a generator's self-check says if nothing speaks against it, and the name of a
// test in JUnit's format.
const notTheLimit = "the generator was not the limit"

// highest are the numbers that a few stops spoil.
const highest = "the highest latencies"

// doubtedNumbers are those that a suspect generator may have made itself: of stops that few
// requests saw, the highest latencies; where it was held up, latency, and the rate that a closed
// loop takes from it; else all.
func doubtedNumbers(r *result.Result) string {
	numbers := highest
	for _, d := range ownDoubts(r) {
		switch {
		case isPause(d):
		case d.Kind == result.HeldUp && r.Model == result.OpenLoop:
			numbers = "latency"
		case d.Kind == result.HeldUp:
			numbers = "rate and latency"
		default:
			return "these numbers"
		}
	}
	if len(r.Generator.Doubts) == 0 {
		return "these numbers"
	}
	return numbers
}

// verdictText is the generator's self-check, in a sentence. That the load was another than
// the one that was asked for, because of the server or of who ended it, is not the generator's.
func verdictText(r *result.Result) string {
	switch own := r.OwnVerdict(); own {
	case result.OK:
		if r.Generator.NotJudged() {
			return Reasons(r)[0]
		}
		if r.Generator.Verdict != own {
			return "ok: " + notTheLimit + ", but this was not all of the load that was asked for"
		}
		return "ok: " + notTheLimit
	case result.ClientBound:
		switch r.Generator.Bound() {
		case result.Limit:
			return "CLIENT-BOUND: the server is at least this fast, maybe faster"
		case result.HeldUp:
			return "CLIENT-BOUND: the generator was held up; the server may be faster than these numbers"
		}
		return "CLIENT-BOUND: this was not the load that was asked for"
	case result.Suspect:
		doubted := doubtedNumbers(r)
		if doubted == highest {
			return "SUSPECT: " + highest + " may be the generator's own; read the reasons"
		}
		return "SUSPECT: read the reasons before you rely on " + doubted
	}
	return format.PlainLine(r.Generator.Verdict)
}
