package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A metric is a quantity of one trial.
type metric string

// The metrics, with their units. The generator's own report is used only where there is no other
// source: the server cannot know the intended start time of a request.
const (
	rate        metric = "req/s"           // counted by the server
	cpu         metric = "CPU µs/req"      // of the generator, user and system
	user        metric = "user"            // of cpu
	system      metric = "system"          // of cpu
	calls       metric = "syscalls/req"    // of the generator, in a trial of its own under perf
	peak        metric = "peak MiB"        // resident
	perConn     metric = "bytes/conn"      // resident, above that with one connection
	served      metric = "served"          // requests counted by the server in the whole trial
	sent        metric = "sent"            // requests, by the generator's account
	failed      metric = "errors"          // by the generator's account, of any kind
	serverCPU   metric = "server µs/req"   // CPU time of a server of one process
	foreign     metric = "other CPU %"     // of one CPU, by all other programs meanwhile
	connServed  metric = "conns served"    // connections that had an answer
	lagP50      metric = "lag p50 µs"      // sent later than possible
	lagP99      metric = "lag p99 µs"      //
	lagP999     metric = "lag p99.9 µs"    //
	lagMax      metric = "lag max µs"      //
	latencyMean metric = "mean ms"         // from when the request was due
	latencyP50  metric = "p50 ms"          //
	latencyP99  metric = "p99 ms"          //
	latencyP999 metric = "p99.9 ms"        //
	serviceMean metric = "service mean ms" // from when it was sent
	truthMean   metric = "true mean ms"    // of latency, from the server's log
	truthP50    metric = "true p50 ms"     //
	truthP99    metric = "true p99 ms"     //
	truthP999   metric = "true p99.9 ms"   //
	meanOff     metric = "mean off %"      // by which the tool's own figure is above the truth
	p99Off      metric = "p99 off %"       //
	startUp     metric = "start ms"        // from start to end of a program that says its version
	size        metric = "program MiB"     // the file
)

// A load is what the generators of a row are told to make.
type load struct {
	connections, threads, seconds int
	rate                          int    // requests a second in all; 0: as fast as answers come
	close                         bool   // one connection for each request
	tls                           bool   // the certificate is not verified
	streams                       int    // at once on a connection of HTTP/2 or 3; 0: HTTP/1.1
	http3                         bool   // else the streams are HTTP/2
	pipeline                      int    // requests sent together; 0: 1
	ring                          string // dyno's; "": its own choice
	spin                          bool   // dyno waits without sleeping; the others cannot
	linger                        int    // µs for which answers gather; 0: as the tool chooses
	content                       content
}

// requestedCount returns how many of what the metric counts the load requests.
func (l load) requestedCount(m metric) float64 {
	if m == connServed {
		return float64(l.connections)
	}
	return float64(l.rate * l.seconds)
}

// inFlight returns how many requests of a closed load wait for their answers at a time.
func (l load) inFlight() int { return l.connections * max(l.streams, l.pipeline, 1) }

// A serverKind is the server of a row.
type serverKind int

const (
	targetServer  serverKind = iota // dyno target
	nodeServer                      // node.js, a cluster with a process for each CPU
	nginxServer                     // nginx, HTTP/1.1 or 2, in clear or with TLS 1.3
	caddyServer                     // Caddy, HTTP/3
	handlerServer                   // a handler in Go, on a socket for each of HTTP/1.1 and FastCGI
)

// A row is a load, the tools that make it, and the bars for the result.
type row struct {
	name, title string
	load        load          // seconds 0: as -seconds says
	pairs       int           // 0: as -pairs says
	slice       time.Duration // a trial is a slice so long of one load; 0: it is a load of its own
	server      serverKind
	serverArgs  []string
	rivals      []string // beside dyno; none: every tool that can make the load
	baseline    []string // ratios are to the one of these that has the highest rate
	unpinned    bool
	logged      bool // the server logs its service times, from which the true latencies follow
	memory      bool // a trial is two loads, the other with one connection
	calls       bool // system calls are counted after the rounds
	idle        bool // there is no load: a program starts, says its version and ends
	columns     []column
	bars        []bar
}

// A column of a row's table is a metric's median for each tool, optionally with its lowest and
// highest value, and with its ratio to the baseline.
type column struct {
	metric        metric
	spread, ratio bool
}

// An operator says how a value is compared with a bar.
type operator int

const (
	atLeast operator = iota // the interval's high end is the bar or more
	atMost                  // its low end is the bar or less
	within                  // it overlaps bar ± tolerance
	exactly                 // every trial had just what the load asks for
)

// A bar is what dyno must reach in a row.
type bar struct {
	tool      string // "": dyno
	metric    metric
	ratio     bool     // of the tool's to the baseline's, else its own value
	to        []string // in place of the row's baseline: the best of these by the metric
	op        operator
	value     float64 // of asAsked: see load.asked
	tolerance float64 // of within
}

var speedColumns = []column{
	{metric: rate, spread: true, ratio: true}, {metric: cpu, ratio: true},
	{metric: user}, {metric: system}, {metric: peak}, {metric: failed}, {metric: foreign},
}

// serverColumns are for rows that a server limits, where the server's CPU per request depends on
// the generator.
var serverColumns = []column{
	{metric: rate, spread: true, ratio: true}, {metric: cpu, ratio: true},
	{metric: user}, {metric: system}, {metric: serverCPU, ratio: true}, {metric: peak},
	{metric: failed}, {metric: foreign},
}

// besideTruth adds what a tool reports of latency, and the mean that a closed load must have by the
// server's count.
func besideTruth(columns []column) []column {
	return append(slices.Clone(columns), column{metric: latencyMean}, column{metric: truthMean},
		column{metric: meanOff}, column{metric: latencyP50}, column{metric: latencyP99})
}

var (
	wrkOnly   = []string{"wrk"}
	helloArgs = []string{"--body", "12"} // with a header of 141 bytes

	// otherDyno is the dyno that DYNO_OTHER names. It takes part in every row of throughput, and
	// where no baseline does it is the baseline: so two builds are compared in the same rounds.
	otherDyno = []string{"dyno-other"}

	// secureTools verify no certificate, or can be told not to.
	secureTools = []string{"dyno-other", "wrk", "ab", "hey"}

	// openLoop are the tools that keep a rate, or say that they do.
	openLoop = []string{"pacer", "wrk2", "hey", "h2load"}
)

// rows are all comparisons, with the bars that the project has set itself.
var rows = []row{
	{
		name:  "keep100",
		title: "keep-alive, 100 connections, 141 bytes of header and 12 of body",
		load:  load{connections: 100, threads: 1}, serverArgs: helloArgs,
		baseline: wrkOnly, columns: besideTruth(speedColumns),
		bars: []bar{
			{metric: rate, ratio: true, op: atLeast, value: 1.35},
			{metric: cpu, ratio: true, op: atMost, value: 0.77},
		},
	},
	{
		name: "keep1000", title: "keep-alive, 1,000 connections",
		load: load{connections: 1000, threads: 1}, serverArgs: helloArgs,
		baseline: wrkOnly, columns: besideTruth(speedColumns),
		bars: []bar{{metric: rate, ratio: true, op: atLeast, value: 1.3}},
	},
	{
		name: "keep1", title: "keep-alive, 1 connection (waking idle CPUs decides the rate)",
		load: load{connections: 1, threads: 1}, serverArgs: helloArgs,
		baseline: wrkOnly, columns: besideTruth(speedColumns),
		bars: []bar{{metric: cpu, ratio: true, op: atMost, value: 1.1}},
	},
	{
		name: "body64k", title: "bodies of 64 KiB, 100 connections",
		load: load{connections: 100, threads: 1}, serverArgs: []string{"--body", "65536"},
		baseline: wrkOnly, columns: speedColumns,
		bars: []bar{{metric: rate, ratio: true, op: atLeast, value: 1}},
	},
	{
		name: "body1m", title: "bodies of 1 MiB, 100 connections",
		load: load{connections: 100, threads: 1}, serverArgs: []string{"--body", "1048576"},
		baseline: wrkOnly, columns: speedColumns,
	},
	{
		name: "close100", title: "one connection for each request, 100 at a time",
		load: load{connections: 100, threads: 1, close: true}, serverArgs: helloArgs,
		baseline: []string{"wrk", "ab"}, columns: speedColumns,
		bars: []bar{{metric: rate, ratio: true, op: atLeast, value: 1}},
	},
	{
		name: "tls100", title: "HTTPS/1.1 keep-alive, 100 connections, nginx with TLS 1.3",
		load: load{connections: 100, threads: 1, tls: true}, server: nginxServer,
		rivals: append([]string{"h2load", "shb"}, secureTools...), baseline: wrkOnly,
		columns: besideTruth(serverColumns),
		bars:    []bar{{metric: cpu, ratio: true, op: atMost, value: 1}},
	},
	{
		name: "handshakes", title: "a full TLS 1.3 handshake for each request, 100 at a time, nginx",
		load: load{connections: 100, threads: 1, tls: true, close: true}, server: nginxServer,
		rivals: secureTools, baseline: wrkOnly, columns: serverColumns,
		bars: []bar{{metric: rate, ratio: true, op: atLeast, value: 0.9}},
	},
	{
		name: "keep10000", title: "keep-alive, 10,000 connections",
		load: load{connections: 10000, threads: 1}, serverArgs: helloArgs,
		baseline: wrkOnly, columns: besideTruth(speedColumns),
	},
	http2Row(false), http2Row(true),
	{
		name: "h3", title: "HTTP/3, 10 connections with 10 streams each, Caddy",
		load:   load{connections: 10, threads: 1, streams: 10, tls: true, http3: true},
		server: caddyServer, rivals: append(otherDyno, "shb"), baseline: []string{"shb"},
		columns: besideTruth(serverColumns),
	},
	{
		name: "threads2", title: "two threads on one CPU, 100 connections, beside one thread",
		load: load{connections: 100, threads: 2}, serverArgs: helloArgs,
		rivals: append(otherDyno, "dyno-thread"), baseline: []string{"dyno-thread"},
		columns: speedColumns,
		bars:    []bar{{metric: cpu, ratio: true, op: atMost, value: 1.1}},
	},
	lingerRow(false, 10), lingerRow(false, 50), lingerRow(false, 100), lingerRow(false, 500),
	lingerRow(true, 10), lingerRow(true, 50), lingerRow(true, 100), lingerRow(true, 500),
	{
		name:  "fastcgi",
		title: "the same handler in Go over FastCGI and over HTTP/1.1, unix sockets, 100 connections",
		load:  load{connections: 100, threads: 1}, server: handlerServer,
		rivals: []string{"dyno-fcgi"}, baseline: []string{"dyno"},
		columns: []column{
			{metric: rate, spread: true, ratio: true}, {metric: serverCPU, ratio: true},
			{metric: cpu, ratio: true}, {metric: failed}, {metric: foreign},
		},
	},
	{
		name: "mem10k", title: "memory of 10,000 connections above that of one",
		load: load{connections: 10000, threads: 1, seconds: 5}, pairs: 3, memory: true,
		serverArgs: helloArgs,
		rivals:     wrkOnly, baseline: wrkOnly,
		columns: []column{
			{metric: perConn, spread: true}, {metric: peak}, {metric: connServed},
			{metric: rate}, {metric: failed},
		},
		bars: []bar{
			{metric: perConn, op: atMost, value: 8000},
			{metric: connServed, op: exactly},
		},
	},
	{
		name:       "pace",
		title:      "20,000/s for 10 s on 100 connections, beside a bare pacer in C",
		load:       load{connections: 100, threads: 1, seconds: 10, rate: 20000},
		serverArgs: helloArgs,
		rivals:     []string{"pacer", "wrk2"}, baseline: []string{"pacer"},
		columns: []column{
			{metric: lagP99, spread: true, ratio: true}, {metric: lagP50}, {metric: lagMax},
			{metric: sent}, {metric: served}, {metric: cpu}, {metric: failed},
		},
		bars: []bar{
			{metric: sent, op: exactly},
			{metric: served, op: exactly},
			{metric: lagP99, ratio: true, op: atMost, value: 1.2},
		},
	},
	{
		name:   "stall",
		title:  "1,000/s on 100 connections, the server stalls for 1 s in every 10 s",
		load:   load{connections: 100, threads: 1, seconds: 20, rate: 1000},
		pairs:  3,
		rivals: openLoop, baseline: []string{"pacer"},
		serverArgs: []string{"--body", "12", "--stall", "1s/10s"},
		columns: []column{
			{metric: latencyMean, spread: true}, {metric: latencyP50},
			{metric: latencyP99, spread: true}, {metric: latencyP999},
			{metric: serviceMean}, {metric: sent}, {metric: served}, {metric: failed},
		},
		bars: []bar{
			{metric: latencyMean, op: within, value: 50, tolerance: 3},
			{metric: latencyP99, op: within, value: 900, tolerance: 45},
			{metric: serviceMean, op: atMost, value: 13},
			{metric: sent, op: exactly},
			{metric: served, op: exactly},
		},
	},
	{
		name:   "open20k",
		title:  "20,000/s for 10 s on 100 connections, one worker that takes 20 µs for each",
		load:   load{connections: 100, threads: 1, seconds: 10, rate: 20000},
		pairs:  3,
		logged: true,
		rivals: openLoop, baseline: []string{"pacer"},
		serverArgs: []string{"--body", "12", "--workers", "1", "--service", "constant:20us"},
		columns: []column{
			{metric: latencyP50}, {metric: latencyP99, spread: true}, {metric: latencyP999},
			{metric: truthP50}, {metric: truthP99}, {metric: truthP999},
			{metric: served}, {metric: cpu}, {metric: failed},
		},
		bars: []bar{{metric: served, op: exactly}},
	},
	contentRow("count", "a number in each URL", countContent, "wrk", "k6"),
	contentRow("drawn", "a random number in each URL", drawnContent, "gcannon", "wrk", "k6"),
	contentRow("data", "a row of CSV in each request: two holes in the URL and one in a header",
		rowContent, "wrk", "k6"),
	contentRow("text", "bodies of 1 KiB that must contain a word, nginx", textContent, "wrk", "k6"),
	contentRow("json", "bodies of 1 KiB of JSON that must have a value, nginx", jsonContent, "k6"),
	contentRow("hurl", "a step in Hurl with a capture and two asserts, 1 KiB of JSON, nginx",
		stepContent, "k6"),
	contentRow("session", "two steps in Hurl, the second with the capture of the first, nginx",
		pairContent, "k6"),
	contentRow("luarequest", "a number in each URL, by request() of a script in Lua", requestContent,
		"wrk"),
	contentRow("luaresponse", "response() of a script in Lua is given each header and body",
		responseContent, "wrk"),
	contentRow("signed", "each request is signed for AWS (SigV4)", signedContent),
	contentRow("digest", "each request answers a challenge of Digest (MD5), nginx", digestContent),
	contentRow("chunked", "a body of 12 bytes in three chunks", chunkedContent),
	queueRow("queue50", 100),
	queueRow("queue70", 140),
	queueRow("queue85", 170),
	{
		name: "node",
		title: "a Node.js cluster, 7 threads, 21 connections, nothing pinned " +
			"(published in 2013: go-meter 28,106, wrk 34,388, ratio 0.82)",
		load: load{connections: 21, threads: 7, seconds: 30}, pairs: 3, server: nodeServer,
		rivals: []string{"wrk", "go-meter"}, baseline: wrkOnly, unpinned: true, columns: speedColumns,
		bars: []bar{{metric: rate, ratio: true, op: atLeast, value: 1}},
	},
}

// http2Row returns a row of small answers over HTTP/2.
func http2Row(tls bool) row {
	name, how := "h2c", "in clear"
	if tls {
		name, how = "h2", "over TLS 1.3"
	}
	h2load := []string{"h2load"}
	return row{
		name: name, title: "HTTP/2 " + how + ", 10 connections with 100 streams each, nginx",
		load: load{connections: 10, threads: 1, streams: 100, tls: tls}, server: nginxServer,
		rivals: append(otherDyno, "h2load", "shb"), baseline: h2load, columns: besideTruth(serverColumns),
		bars: []bar{
			{metric: cpu, ratio: true, op: atMost, value: 1},
			{metric: rate, ratio: true, op: atLeast, value: 0.97},
		},
	}
}

// lingerRow returns a row of HTTP/2 in which both tools let answers gather for so many µs: who is
// fast by waiting is not faster here. shb waits less if it has 32 completions, which it rarely has
// of ten connections.
func lingerRow(tls bool, us int) row {
	r := http2Row(tls)
	r.name = fmt.Sprintf("%s-linger%d", r.name, us)
	r.title += fmt.Sprintf(", answers gather for %d µs", us)
	r.load.linger = us
	r.rivals, r.baseline = append(otherDyno, "shb"), []string{"shb"}
	r.bars = []bar{{metric: cpu, ratio: true, op: atMost, value: 1.1}}
	return r
}

// queueRow returns a row of a server with one worker that takes 5 ms on average for a request:
// long, compared with waking a process.
func queueRow(name string, rate int) row {
	return row{
		name: name,
		title: fmt.Sprintf("%d/s for 10 s to one worker that takes exponential 5 ms each (%d %%): "+
			"each tool's own latency against the truth", rate, rate/2),
		load:  load{connections: 50, threads: 1, seconds: 10, rate: rate},
		pairs: 3, logged: true,
		rivals: openLoop, baseline: []string{"pacer"},
		serverArgs: []string{"--workers", "1", "--service", "exponential:5ms"},
		columns: []column{
			{metric: meanOff, spread: true}, {metric: p99Off, spread: true}, {metric: latencyMean},
			{metric: truthMean}, {metric: latencyP99}, {metric: truthP99}, {metric: served},
			{metric: failed},
		},
		bars: []bar{
			{metric: meanOff, op: within, tolerance: 5},
			{metric: p99Off, op: within, tolerance: 5},
			{metric: served, op: exactly},
		},
	}
}

func rowNames(rows []row) string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return strings.Join(names, ",")
}
