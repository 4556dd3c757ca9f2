// Package judge computes what the trials of an experiment allow one to say. It starts nothing: all
// it says follows from the records of package lab.
//
//	advice.go          noise of earlier experiments, beside this one's
//	cautions.go        what a reader must know before the verdicts
//	compute.go         Compute: all that a record says of its trials; medians of cells, CPU of
//	                   processes
//	countedtrials.go   which trials count
//	doc.go             this comment
//	excluded.go        variants that were not tested; is anything left?
//	factors.go         values of factors against one another
//	failed.go          variants whose trials all failed
//	family.go          ratio, interval and verdict, corrected for all that is compared
//	follower.go        follows an experiment that still runs
//	followup.go        what follows a screening
//	frontier.go        CPU against latency at rising rates
//	gate.go            the gate: passed, a regression, or undecided
//	groups.go          runs that were not measured in pairs: are they comparable? How many are
//	                   needed?
//	halfnormal.go      half-normal plots of a screening
//	inrounds.go        stored results of one experiment, paired by round
//	miscounted.go      trials in which server and generator counted differently
//	missing.go         trials that are missing
//	open.go            a folder's record, also of an experiment that still runs
//	openload.go        is the load of all that is compared open?
//	pairs.go           trials of two arms, paired by round, and the doubts about pairs
//	pooled.go          percentiles of all trials together; their noise floor
//	programs.go        other programs than before
//	published.go       figures of others, beside ours
//	ranks.go           arms in order, with letters for those that are not told apart
//	routes.go          medians of what routes have of streams and of goodput
//	sensitivity.go     does the answer depend on the generator's settings?
//	shift.go           latency, quantile by quantile
//	spoiled.go         trials that the server spoiled
//	unpaired.go        runs that were not measured in pairs: reads, compares and judges them
//	worth.go           how many trials can be relied on
//
// What a single trial is worth is package grade's.
//
// The trial is the statistical unit: requests and seconds of one are not independent, and their
// number says nothing of how well it repeats.
package judge
