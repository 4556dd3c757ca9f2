package setting

import (
	"cmp"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
)

// The headings of the help.
const (
	loadGroup       = "Load"
	requestGroup    = "Requests"
	connectionGroup = "Connections"
	tlsGroup        = "TLS"
	serverGroup     = "Server"
	fleetGroup      = "Fleet"
	outputGroup     = "Output"
)

// load is how much load there is, when, and on which threads.
var load = []Setting{
	{Name: "connections", Short: "c", Value: "N", Group: loadGroup, On: All,
		Least: 1, Most: loadplan.MaxConnections,
		Does: "connections, of all threads together ({default})",
		Access: count(func(p *loadplan.Plan) *int { return &p.Connections }, ParseInt).showing(
			func(p *loadplan.Plan, differs bool) bool { return differs || p.Ramps() }),
		Field: "Connections", Library: "Connections", Key: "level.connections",
		Schema:  KeyWords{`"$ref": "#/$defs/amount"`, "default {default}"},
		Form:    &Form{Hint: Hint{Label: "Connections", Unit: "connections"}},
		Stored:  "in all threads together",
		Compare: &Form{Hint: Hint{Label: "Connections"}, Does: "each sends when it has its answer"}},
	{Name: "duration", Short: "d", Value: "D", Group: loadGroup, On: Run,
		Does: "how long to measure ({default})",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Duration }).showing(
			func(p *loadplan.Plan, _ bool) bool { return p.Duration > 0 }),
		Field: "Duration", Library: "For",
		Form:   &Form{Hint: Hint{Label: "Duration", Unit: "s"}},
		Stored: "of the window; absent: until requested"},
	{Name: "requests", Short: "n", Value: "N", Group: loadGroup, On: Run,
		Least: 1, Most: loadplan.MaxRequested,
		Does: "send exactly N requests, or begin N iterations of a Hurl file;\n" +
			"with -d, stop at whichever is first",
		Access: amount(func(p *loadplan.Plan) *int64 { return &p.Requested }, Positive(ParseCount)),
		Field:  "Requested", Library: "Requests", Key: "level.requests",
		Schema: KeyWords{`"$ref": "#/$defs/amount"`,
			"exactly so many are measured, instead of design.measure"},
		Form: &Form{Hint: Hint{Unit: "requests"}, Does: "send exactly so many, and not for a time; if " +
			"both are given, whichever is first ends"},
		Stored: "exactly so many requests, or iterations of a scenario; absent: until duration_s"},
	{Name: "rate", Short: "R", Value: "N", Group: loadGroup, On: All,
		Does: "requests a second in all, of a Hurl file iterations, at even\n" +
			"intervals whatever the server does; without it, a connection\n" +
			"sends when it has its answer",
		Finds:  "the first rate to try (a fifth of what a closed loop reaches)",
		Access: rate(func(p *loadplan.Plan) *loadplan.Rate { return &p.Rate }),
		Field:  "Rate", Library: "Rate", Key: "level.rate",
		Schema: KeyWords{`"type": ["string", "number"], "exclusiveMinimum": 0, ` +
			`"pattern": "^[0-9.]+[kKM]?(/s)?$"`, "requests due a second, in all, as 5k; absent: each " +
			"connection sends its next when it has the answer to the last"},
		Form:   &Form{Hint: Hint{Label: "Requests/s", Unit: "requests/s"}},
		Stored: "open loop: requests due a second, in all; with a scenario, iterations",
		Compare: &Form{Hint: Hint{Label: "Requests/s"},
			Does: "of each server; empty: as many as it answers"}},
	{Name: "arrival", Value: "LAW", Group: loadGroup, On: All,
		Does:   "constant, or poisson: independent of one another ({default})",
		Values: []string{loadplan.Even, loadplan.Poisson},
		Access: arrival(), Field: "Arrival", Library: "Poisson", Key: "level.arrival",
		Schema:     KeyWords{oneOf, "of a rate; default {default}"},
		Form:       &Form{},
		Stored:     "open loop: the law of arrivals; absent: {default}",
		StoredType: oneOf},
	{Name: "stage", Value: "D:RATE", Group: loadGroup, On: Run,
		Does: "within D, go evenly from the rate before, which is -R or 0, to\n" +
			"RATE; {again}; 0s:RATE is a step, and the same rate a hold;\n" +
			"likewise D:Nusers without a rate, from --users or 0",
		Access: Access{Set: SetStage, Text: stageTexts}, Field: "Stages",
		Form: &Form{Does: "DURATION:RATE goes evenly from the rate before, at first the load's " +
			"or 0, to RATE within the duration; 0s:RATE is a step, and the same rate again a hold; " +
			"without a rate DURATION:Nusers does the same with users"},
		Stored: "open loop: how the rate goes on from rate in the window"},
	{Name: "stages", Value: "FILE", Group: loadGroup, On: Run,
		Does: "stages, one a line; {again}"},
	{Name: "seed", Value: "N", Group: loadGroup, On: Run | Find,
		Does: "of random arrivals, to have the same again (drawn, and stored)",
		Access: at(func(p *loadplan.Plan) *uint64 { return &p.Seed }, ParseSeed, func(n uint64) string {
			if n == 0 {
				return ""
			}
			return strconv.FormatUint(n, 10)
		}),
		Field: "Seed", Library: "Seed", Form: &Form{},
		Stored: "of poisson arrivals and of users' random streams"},
	{Name: "probe", Value: "N", Group: loadGroup, On: Run,
		Does: "also send N a second at random instants, on connections of their own,\n" +
			"and report their latency apart",
		Access: rate(func(p *loadplan.Plan) *loadplan.Rate { return &p.Probe }),
		Field:  "Probe",
		Stored: "requests a second of a light open load beside this one"},
	{Name: "warmup", Value: "D", Group: loadGroup, On: Run | Find,
		Does: "load so long before measuring ({default})",
		Finds: "load so long before measuring, at each rate or level anew (a fifth of\n" +
			"--probe-time)",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Warmup }),
		Field:  "Warmup", Library: "Warmup", Form: &Form{Hint: Hint{Unit: "s"}},
		Stored: "loaded before the window, not counted"},
	{Name: "drain", Value: "D", Group: loadGroup, On: Run | Find,
		Does:   "wait so long at the end for requests in flight ({default})",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Drain }),
		Field:  "Drain", Library: "Drain", Form: &Form{Hint: Hint{Unit: "s"}},
		Stored: "allowed after the window for what was due in it"},
	{Name: "timeout", Value: "D", Group: loadGroup, On: All,
		Does:   "for one request, from when it was sent ({default})",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Timeout }),
		Field:  "Timeout", Library: "Timeout", Key: "level.timeout",
		Schema: KeyWords{`"$ref": "#/$defs/duration"`,
			"of an exchange; default {default}, of streams 10m"},
		Form: &Form{Hint: Hint{Unit: "s"}}, Stored: "of an exchange"},
	{Name: "threads", Short: "t", Value: "N", Group: loadGroup, On: All,
		Least: 1, Most: loadplan.MaxThreads,
		Does: "threads (one a physical core)", Varies: true,
		Access: amount(func(p *loadplan.Plan) *int { return &p.Threads }, ParseInt),
		Field:  "Threads", Library: "Threads", Key: "level.threads",
		Schema: KeyWords{`"type": "integer"`,
			"of the generator; default: one a core"},
		Form: &Form{Hint: Hint{Unit: "threads", Default: "one a physical core"}},
		Compare: &Form{Hint: Hint{Label: "Threads"},
			Does: "of the generator; empty: one a physical core"}},
	{Name: "cpus", Value: "LIST", Group: loadGroup, On: Run | Find,
		Does:   "CPUs for the threads, as 0,2-3 (those the process may use)",
		Access: at(func(p *loadplan.Plan) *[]int { return &p.CPUs }, ParseCPUs, list(strconv.Itoa)),
		Field:  "CPUs", Key: "design.cpus.generator",
		Form:   &Form{Hint: Hint{Default: "those the process may use"}},
		Stored: "the threads were pinned to"},
	{Name: "ring", Value: "KIND", Group: loadGroup, On: Run | Find,
		Does: "how to do I/O: auto, epoll, uring or portable ({default})", Values: rings,
		Access: at(func(p *loadplan.Plan) *string { return &p.Ring }, parseRing, strings.Clone),
		Field:  "Ring", Form: &Form{}, Stored: "asked for; generator.ring is the one used"},
	{Name: "linger", Value: "D|off", Group: loadGroup, On: Run | Find,
		Does: "let answers of a closed loop gather so long, as 100us; else they\n" +
			"wait about 1 % of the median latency, with TLS or HTTP/2",
		Access: text(func(p *loadplan.Plan) *string { return &p.Linger }), Field: "Linger",
		Form: &Form{}, Stored: "for how long answers gather, as 100us, or off; absent: so that they " +
			"wait about 1 % of the median latency"},
	{Name: "spin", Group: loadGroup, On: Run | Find,
		Does:   "threads never sleep: a CPU each, for the least error at low load",
		Access: turn(func(p *loadplan.Plan) *bool { return &p.Spin }), Field: "Spin",
		Stored: "threads never slept"},
}

// arrival is the access to the law of arrivals, which the library has as a switch.
func arrival() Access {
	a := text(func(p *loadplan.Plan) *string { return &p.Arrival })
	a.Text = func(p *loadplan.Plan) []string { return []string{cmp.Or(p.Arrival, loadplan.Even)} }
	a.Take = func(p *loadplan.Plan, poisson any) error {
		if poisson.(bool) {
			p.Arrival = loadplan.Poisson
		}
		return nil
	}
	return a
}
