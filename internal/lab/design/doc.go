// Package design says what an experiment compares, and in how many trials: its arms and cells, the
// contrasts of factors, how long it takes, and what is wrong with it before it begins.
//
//	plan.go      arms, cells, the estimate of time, warnings; Quick, WithRounds, WithRates
//	contrast.go  values of factors against one another; screen.go: those of a screening
//	ladder.go    levels that differ in their rate alone
//	followup.go  the experiment that follows a screening
//
// It knows the file (package experiment), and nothing of what was measured.
package design
