// Package judge computes what the trials of an experiment allow one to say. It starts nothing: all
// it says follows from the records of package lab.
//
//	GradeTrial     grade.go      A, B or F of a trial, with reasons
//	Compute        compute.go    all that a record says of its trials
//	  pairs        pairs.go      trials of two arms, paired by round
//	  verdicts     family.go     ratio, interval and verdict, corrected for all that is compared
//	  ranks        ranks.go      arms in order, with letters for those that are not told apart
//	  shifts       shift.go      latency, quantile by quantile
//	  cautions     cautions.go   what a reader must know before the verdicts
//	Gate           gate.go       passed, a regression, or undecided
//	Compare        unpaired.go   runs that were not measured in pairs, with cautions.go's like
//	Open, Follow   open.go       a folder's record, also of an experiment that still runs
//
// The trial is the statistical unit: requests and seconds of one are not independent, and their
// number says nothing of how well it repeats.
package judge
