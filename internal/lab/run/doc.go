// Package run carries out an experiment. It starts servers, proves that they answer alike, loads
// them in random order, round by round, with fresh processes each time, and watches the machine
// meanwhile. What the trials say is computed by package judge, and stored by package lab.
//
// An experiment's way, each line a step deeper or further, none back:
//
//	Lab.Run                 lab.go
//	  arms                  arms.go
//	  fairness              fairness.go
//	  lab.OrderRound        lab/order.go: a round is all cells, shuffled
//	  trial                 trial.go: start → ask → warm → measure ∥ watch → ask → stop
//	    Start → Stand       stage.go: processes of package server, or a URL
//	    warm                warmup.go
//	    workload.Plan       lab/workload/plan.go
//	    grade.Of            lab/grade/grade.go
//	  lab.Folder            lab/store.go: a file for each trial, written once
//	  gate                  confirm.go
//	  judge.Compute         lab/judge/compute.go: paired by round
//
// All files:
//
//	arms.go               which variants take part, what is missing here, the A/A arm
//	build.go              builds variants
//	ceiling.go            the generator's own limit, at a server that does next to nothing
//	comparable.go         is anything left to compare? ends an experiment in which nothing is
//	confirm.go            a second batch of trials before a gate fails
//	doc.go                this comment
//	fairness.go           asks each variant once before any load, compares the answers
//	foreigngenerator.go   a load by another program
//	intent.go             what will be done, and how long it takes
//	lab.go                Lab.Run: prepare, rounds and their repeats, budget, resume
//	machine.go            facts of the machine
//	profiles.go           profiles of variants, under loads of their own
//	programs.go           which program a process executes, by its hash
//	rates.go              the rates of `rates: auto`
//	record.go             the record's beginning and conclusion
//	rehearse.go           dyno lab check --start: starts and asks each variant, without a load
//	rundirfiles.go        files that servers get
//	search.go             a trial that searches for the highest load (level with find)
//	secrets.go            keeps secrets out of trials and answers; out of the file:
//	                      lab/experiment/secrets
//	sensitivity.go        trials with other settings of the generator
//	servercount.go        what the server itself counted
//	serversettings.go     how servers are set up: workers, CPUs, backlog, beside the fairness
//	                      table
//	sharedstage.go        servers that go on running between trials, in place of stage.go
//	signals_unix.go       names of signals; signals_windows.go
//	splitcpus.go          which CPUs are whose
//	stage.go              starts and stops the servers of a trial; how each is asked if it is ready
//	trial.go              a trial: start, ask, warm up, measure and watch, ask, stop; a server
//	                      that dies meanwhile
//	trysession.go         one user runs the session of a Hurl file before any load
//	version.go            versions of servers
//	warmup.go             the load before the window: how long, and until streams have ended
//
// The method as a whole is that of randomised multiple interleaved trials (lab/order.go), judged
// by paired ranks (package stats).
package run
