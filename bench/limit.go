package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// The tools of the rows of -limit: all generators, dyno with each ring, and the minimal programs of
// limit/bare.c, which show what the kernel allows. dyno-other is another dyno, if DYNO_OTHER names
// one.
var (
	bareTools   = []string{"bare-epoll", "bare-uring"}
	dynoRings   = []string{"dyno-epoll", "dyno-uring"}
	limitRivals = []string{"dyno-epoll", "dyno-uring", "dyno-other", "bare-epoll", "bare-uring",
		"wrk", "ab", "h2load", "hey", "oha", "bombardier", "k6", "vegeta", "go-meter"}
	pipeRivals  = []string{"dyno-epoll", "dyno-other", "bare-epoll", "bare-uring", "wrk"}
	closeRivals = []string{"dyno-epoll", "dyno-other", "wrk", "ab", "hey", "oha", "bombardier", "k6",
		"vegeta"}
)

var limitColumns = []column{
	{metric: rate, spread: true, ratio: true}, {metric: cpu, ratio: true}, {metric: user},
	{metric: system}, {metric: calls}, {metric: peak}, {metric: connServed}, {metric: failed},
	{metric: foreign},
}

// limitRows compare dyno with what the kernel allows.
var limitRows = []row{
	limitRow("limit1", "keep-alive, 1 connection", load{connections: 1}),
	limitRow("limit1-spin", "keep-alive, 1 connection, dyno with --spin",
		load{connections: 1, spin: true},
		bar{metric: rate, ratio: true, op: atLeast, value: 1.5}),
	limitRow("limit100", "keep-alive, 100 connections", load{connections: 100},
		bar{metric: rate, ratio: true, op: atLeast, value: 1.5},
		bar{metric: cpu, ratio: true, op: atMost, value: 1.1, to: bareTools},
		bar{metric: user, op: atMost, value: 0.3},
		bar{tool: "dyno-epoll", metric: rate, ratio: true, op: atLeast, value: 1.4},
		bar{tool: "dyno-epoll", metric: cpu, ratio: true, op: atMost, value: 1.15,
			to: []string{"bare-epoll"}}),
	limitRow("limit1000", "keep-alive, 1,000 connections", load{connections: 1000},
		bar{metric: rate, ratio: true, op: atLeast, value: 1.4}, fasterThanRings),
	limitRow("limit10000", "keep-alive, 10,000 connections", load{connections: 10000},
		bar{metric: rate, ratio: true, op: atLeast, value: 1.5}, fasterThanRings,
		bar{metric: connServed, op: exactly}),
	limitRow("limit-pipe16", "keep-alive, 100 connections, 16 requests sent together",
		load{connections: 100, pipeline: 16},
		bar{metric: rate, ratio: true, op: atLeast, value: 1.4}),
	limitRow("limit-close", "a connection for each request, 100 at a time",
		load{connections: 100, close: true},
		bar{metric: rate, ratio: true, op: atLeast, value: 1, to: []string{"wrk", "ab"}}),
	bodyRow("limit-1k", "1 KiB", "1024"),
	bodyRow("limit-16k", "16 KiB", "16384"),
	bodyRow("limit-64k", "64 KiB", "65536"),
	bodyRow("limit-1m", "1 MiB", "1048576"),
	paceRow,
	manyRow,
	startRow,
}

// fasterThanRings is reached if dyno, left to itself, chooses the faster of its rings.
var fasterThanRings = bar{metric: rate, ratio: true, op: atLeast, value: 1, to: dynoRings}

// paceRow is the send lag at a rate that takes much of a CPU.
var paceRow = row{
	name: "limit-pace", title: "50,000/s for 10 s on 100 connections, beside a bare pacer in C",
	load:       load{connections: 100, threads: 1, seconds: 10, rate: 50000},
	serverArgs: helloArgs, rivals: []string{"dyno-epoll", "dyno-uring", "pacer"},
	baseline: []string{"pacer"},
	columns: []column{
		{metric: lagP999, spread: true, ratio: true}, {metric: lagP99}, {metric: lagP50},
		{metric: lagMax}, {metric: sent}, {metric: served}, {metric: cpu}, {metric: foreign},
	},
	bars: []bar{
		{metric: lagP999, ratio: true, op: atMost, value: 1.2},
		{metric: sent, op: exactly},
		{metric: served, op: exactly},
	},
}

// manyRow needs root, for so many files.
var manyRow = row{
	name: "limit100000", title: "100,000 connections, and their memory above that of one",
	load: load{connections: 100000, threads: 1, seconds: 15}, pairs: 3, memory: true,
	serverArgs: helloArgs, rivals: dynoRings,
	columns: []column{
		{metric: perConn, spread: true}, {metric: peak}, {metric: connServed}, {metric: failed},
		{metric: rate}, {metric: cpu},
	},
	bars: []bar{
		{metric: perConn, op: atMost, value: 4096},
		{metric: connServed, op: exactly},
		{metric: failed, op: atMost, value: 0},
	},
}

// startRow measures the start of the programs, without a load.
var startRow = row{
	name: "limit-start", title: "a program that starts, says its version and ends",
	load: load{connections: 1, seconds: 1}, idle: true,
	columns: []column{{metric: startUp, spread: true}, {metric: size}},
}

// limitRow returns a row with a load of one thread.
func limitRow(name, title string, l load, bars ...bar) row {
	l.threads = 1
	r := row{name: name, title: title, load: l, serverArgs: helloArgs, rivals: limitRivals,
		baseline: wrkOnly, calls: true, columns: limitColumns, bars: bars}
	switch {
	case l.pipeline > 1:
		r.rivals = pipeRivals
	case l.close:
		r.rivals = closeRivals
	}
	return r
}

// bodyRow returns a row of answers of one size.
func bodyRow(name, title, size string) row {
	r := limitRow(name, "bodies of "+title+", 100 connections", load{connections: 100},
		fasterThanRings)
	r.serverArgs = []string{"--body", size}
	return r
}

// countCalls makes one more trial, under perf, to count system calls per request. perf slows it,
// so nothing else of it is used.
func (b *bench) countCalls(ctx context.Context, r row, t tool) trial {
	report := filepath.Join(b.dir, "calls")
	under, out := t, trial{Tool: t.name, Round: r.pairs, Calls: true}
	under.path = "perf"
	under.command = func(l load, url string) command {
		c := t.command(l, url)
		c.args = append([]string{"stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-o", report,
			"--", t.path}, c.args...)
		return c
	}
	v, err := b.runLoad(ctx, r, under)
	var count float64
	if err == nil {
		count, err = readCalls(report)
	}
	if err != nil {
		out.Error = err.Error()
		fmt.Fprintf(b.log, "%s: system calls of %s: %v\n", r.name, t.name, err)
		return out
	}
	out.Values = reading{calls: count / v[served]}
	fmt.Fprintf(b.log, "%s: system calls of %s: %.3g a request\n", r.name, t.name, out.Values[calls])
	return out
}

// readCalls reads the count in a report of perf stat -x ,.
func readCalls(file string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("counting system calls: %w", err)
	}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("raw_syscalls:sys_enter")) {
			first, _, _ := bytes.Cut(line, []byte(","))
			return strconv.ParseFloat(string(first), 64)
		}
	}
	return 0, errors.New("counting system calls: perf counted none; it needs root")
}
