package setting

import "dyno/internal/engine/loadplan"

// watching is what is watched beside the load. It is not of the plan, so cli reads it.
var watching = []Setting{
	{Name: "watch", Value: "PID|NAME", Group: serverGroup, On: Run,
		Does: "measure CPU/request, memory and more of this process and those\n" +
			"that it starts; of several of a NAME, the one that listens where\n" +
			"the load goes; {again}; NAME@AGENT: on the machine of\n" +
			"dyno agent --watch",
		Form: &Form{Does: "measure CPU/request, memory and more of this process on this machine, and " +
			"those that it starts"}},
	{Name: "pprof", Value: "URL", Group: serverGroup, On: Run,
		Does: "take a CPU profile of it in the window, at most 30s, where\n" +
			"net/http/pprof is, as http://127.0.0.1:6060/debug/pprof"},
}

// fleetRows is who makes the load, which is not of the plan either.
var fleetRows = []Setting{
	{Name: "fleet", Value: "NAME,...|all", Group: fleetGroup, On: Run | Find,
		Does: "make the load with these agents, or with all that are there:\n" +
			"every number is the total of all (dyno help fleet up)"},
	{Name: "on-agent-loss", Value: "WHAT", Group: fleetGroup, On: Run | Find,
		Does: "abort: the run ends; continue: the others go on with their own\n" +
			"shares; rebalance: they take over its part of a rate\n" +
			"(abort); the exit code is 3 in any case",
		Values: []string{"abort", "continue", "rebalance"}},
	{Name: "loose-start", Group: fleetGroup, On: Run | Find,
		Does: "begin even if the agents' clocks are not known to 5 ms"},
	{Name: "nats", Value: "URL", Group: fleetGroup, On: Run | Find,
		Does: "a NATS server, 2.11.1 or newer, that carries the fleet:\n" +
			"tls://HOST:PORT (this machine's dyno fleet up)"},
	{Name: "creds", Value: "FILE", Group: fleetGroup, On: Run | Find,
		Does: "with --nats: your credentials there"},
	{Name: "nats-ca", Value: "FILE", Group: fleetGroup, On: Run | Find,
		Does: "with --nats: authorities to trust (the system's)"},
}

// output is what becomes of the result. Only --show is of the plan.
var output = []Setting{
	{Name: "json", Value: "FILE|-", Group: outputGroup, On: Run | Find,
		Does:  "write the result as JSON too; with - stdout has nothing else",
		Finds: "write what was found there too; with - stdout has nothing else"},
	{Name: "json-stream", Group: outputGroup, On: Run,
		Does: "write a line of JSON a second to stdout while it runs, then the\n" +
			"result as the last line, and nothing else"},
	{Name: "metrics", Value: "ADDR", Group: outputGroup, On: Run,
		Does: "serve the run's metrics to Prometheus at HOST:PORT while it runs;\nport 0 is a free one"},
	{Name: "save", Group: outputGroup, On: Run,
		Does: "keep the result, for compare, report and history (yes, if there\nwas an answer)"},
	{Name: "no-save", Group: outputGroup, On: Run, Does: "do not keep it"},
	{Name: "save-errors", Value: "DIR", Group: outputGroup, On: Run,
		Does: "write the first 20 errors of each kind into an empty folder, with\n" +
			"request and response; keeping these costs a copy of each response"},
	{Name: "show", Value: "N", Group: outputGroup, On: Run,
		Does: "print the first N requests and what was answered, without secrets\n" +
			"and reason phrases; -n 1 -v does too; it copies each response",
		Access: amount(func(p *loadplan.Plan) *int { return &p.Show }, parseShow).showing(
			func(*loadplan.Plan, bool) bool { return false }), // a result does not keep it
		Field: "Show"},
	{Name: "log", Value: "FILE", Group: outputGroup, On: Run,
		Does: "write a line for each request of the window, .csv or .ndjson; it\n" +
			"costs a thread about 50 ns a request, and the writer a part of a CPU"},
	{Name: "log-sample", Value: "P%", Group: outputGroup, On: Run,
		Does: "log only that share of the requests, at random (100%)"},
	{Name: "verbose", Short: "v", Group: outputGroup, On: Run,
		Does: "a line a second, as a table, and in the report latency by percentile\nand over time"},
	{Name: "quiet", Short: "q", Group: outputGroup, On: Run | Find,
		Does: "no progress, and a line instead of the report"},
	{Name: "tui", Group: outputGroup, On: Run,
		Does: "show the run on the whole terminal, until it ends or q is pressed"},
	{Name: "serve", Group: outputGroup, On: Run,
		Does: "show the run in the browser, until Ctrl-C; a process of its own\nmakes the load"},
	{Name: "slo", Value: "EXPR", Group: outputGroup, On: Run,
		Does: "objectives, as 'p99<20ms', 'rps>=10k' or 'p99<20ms, errors<0.1%';\n" +
			"{again}; exit 1 if one is missed",
		Free: true, Key: "objectives",
		Form: &Form{Does: "what must hold, as p99<20ms; several with commas",
			Hint: Hint{Label: "Objective",
				Choices: []string{"p99<20ms", "errors<0.1%", "p99<20ms, errors<0.1%", "rps>=10k"}}}},
	{Name: "abort-on-slo", Group: outputGroup, On: Run,
		Does: "end the run when an objective is missed by the run so far and\n" +
			"by each of its last 3 seconds",
		Form: &Form{Does: "end the load when an objective is missed by the load so far and by each of " +
			"its last 3 seconds"}},
	{Name: "strict", Group: outputGroup, On: Run,
		Does: "exit 3 unless the measurement can be trusted"},
	{Name: "show-secrets", Group: outputGroup, On: All,
		Does: "keep the values of secret headers, fields and bodies; else stand-ins\n" +
			"take their place in all that is stored and written"},
	{Name: "help", Short: "h", Group: outputGroup, On: All, Does: "this"},
}
