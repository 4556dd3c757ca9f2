package setting

// The headings of what one verb has.
const (
	searchGroup   = "Search"
	comparedGroup = "What is compared"
	timeGroup     = "How long"
)

// titles are the headings in the order in which help has them.
var titles = []string{searchGroup, comparedGroup, timeGroup, loadGroup, requestGroup, streamGroup,
	connectionGroup, tlsGroup, serverGroup, fleetGroup, outputGroup}

// own are settings of one verb, which are of no plan: of the search, or of the experiment that is
// composed.
var own = []Setting{
	{Name: "slo", Value: "EXPR", Group: searchGroup, On: Find,
		Does: "what must hold, as 'p99<20ms' or 'errors<0.1%'; {again}"},
	{Name: "axis", Value: "WHAT", Group: searchGroup, On: Find,
		Values: []string{"rate", "connections", "users"},
		Does: "what is searched: the highest rate, or the most connections or users\n" +
			"of a closed loop; -c or --users is the first number to try (rate)"},
	{Name: "probe-time", Value: "D", Group: searchGroup, On: Find,
		Does: "measure so long at each rate, or up to ten times longer if a\n" +
			"percentile takes more requests; bounds need 8s (10s; of a sweep 5s)"},
	{Name: "levels", Value: "c=LIST", Group: searchGroup, On: Find,
		Does: "sweep instead: closed loops of so many connections, as c=1,2,4,8"},
	{Name: "rates", Value: "LIST", Group: searchGroup, On: Find,
		Does: "sweep instead: open loops of such rates, as 1k,2k,4k"},
	{Name: "rounds", Value: "N", Group: searchGroup, On: Find,
		Does: "of a sweep, each over all levels in an order of its own; 8 give\nintervals (3)"},

	{Name: "url", Value: "URL", Group: comparedGroup, On: Vs,
		Does: "where commands answer (http://127.0.0.1:{port}/)"},
	{Name: "ready", Value: "URL|log:TEXT", Group: comparedGroup, On: Vs,
		Does: "a command is ready when URL (or a path) answers with status 200 to\n" +
			"399, or when the command has written TEXT: within 2m. Without\n" +
			"--ready: when --url answers, within 30s"},
	{Name: "path", Value: "PATH", Group: comparedGroup, On: Vs,
		Key:  "workload.request.path",
		Does: "path to ask for, with its query (/)"},
	{Name: "names", Value: "A,B", Group: comparedGroup, On: Vs,
		Does: "names for the report (programs, hosts, revisions)"},
	{Name: "git", Group: comparedGroup, On: Vs,
		Does: "the words are revisions of this folder's repository"},
	{Name: "build", Value: "CMD", Group: comparedGroup, On: Vs,
		Does: "builds a revision; {out} is a folder for what is built"},
	{Name: "run", Value: "CMD", Group: comparedGroup, On: Vs,
		Does: "runs a revision; {out} is that folder, {port} the port"},
	{Name: "allow", Value: "LIST", Group: comparedGroup, On: Vs,
		Key:  "fairness.allow",
		Does: "in what answers may differ: headers and aspects, as etag,body, or\nall; {again}",
		Compare: &Form{Hint: Hint{Label: "Answers may differ in"},
			Does: "headers and aspects, as etag,body, or all"}},
	{Name: "margin", Value: "P%", Group: comparedGroup, On: Vs,
		Key:  "design.margin",
		Does: "a smaller difference does not matter (2%)"},
	{Name: "max-regression", Value: "P%", Group: comparedGroup, On: Vs,
		Key:  "gate.margin",
		Does: "exit 1 if a server is worse than the first by more, twice"},

	{Name: "max-time", Value: "D", Group: timeGroup, On: Vs,
		Key:  "design.budget",
		Does: "for everything (90s; 15m with --precision)",
		Compare: &Form{Hint: Hint{Label: "Time", Default: "90s"},
			Does: "of everything, or give rounds"}},
	{Name: "precision", Value: "P%", Group: timeGroup, On: Vs,
		Key:  "design.precision",
		Does: "go on until every interval is as narrow: its half width"},
	{Name: "rounds", Value: "N", Group: timeGroup, On: Vs,
		Key:  "design.rounds",
		Does: "trials of each server, however long they take (what fits)",
		Compare: &Form{Hint: Hint{Label: "Rounds"},
			Does: "trials of each server; empty: what fits into the time"}},
	{Name: "duration", Short: "d", Value: "D", Group: timeGroup, On: Vs,
		Key:  "design.measure",
		Does: "window of a trial (what fits, from 1s to 5s)",
		Compare: &Form{Hint: Hint{Label: "Window"},
			Does: "of a trial; empty: what fits into the time"}},
	{Name: "warmup", Value: "D", Group: timeGroup, On: Vs,
		Key:  "design.warmup",
		Does: "load before a window; every trial has a new server (500ms)"},

	{Name: "output", Short: "o", Value: "DIR", Group: outputGroup, On: Vs,
		Does: "folder for trials, report and experiment (one in the store)"},
	{Name: "verbose", Short: "v", Group: outputGroup, On: Vs,
		Does: "each step, all differences, and at the end all tables"},
}
