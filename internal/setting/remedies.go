package setting

import "dyno/internal/fact"

// A deed is what to do about a setting, in each voice. A voice that has no words for it has "".
type deed struct {
	flag, key string
	replay    string // "": as flag
}

// deeds are the remedies for which "raise", "lower" or "give" is not enough.
var deeds = map[fact.Remedy]deed{
	{Setting: "cpus", Value: fact.Some}: {flag: "give the generator CPUs of its own (--cpus)",
		key: "give the generator CPUs of its own (design: {cpus: ...})"},
	{Setting: "cpus", Value: fact.Other}: {flag: "give the generator other CPUs (--cpus)",
		key: "give the generator other CPUs (design: {cpus: ...})"},
	{Setting: "cpus", Value: fact.Higher}: {flag: "give the generator more CPUs (--cpus)",
		key: "give the generator more CPUs (design: {cpus: {generator: LIST}})"},
	{Setting: "drain", Value: fact.Higher}: {flag: "give a longer --drain"},
	{Setting: "expect", Value: fact.Some}: {
		flag: "if these are right answers, name them with --expect",
		key:  "if these are right answers, name them in the workload (expect: {status: ...})"},
	{Setting: expectStatus, Value: fact.Some}: {flag: nameStatus, key: nameStatus},
	{Setting: "clients", Value: fact.Higher}:  {key: "add clients (design: {clients: ...})"},
	{Setting: "duration", Value: fact.Higher}: {flag: "measure for longer (-d)",
		key: "measure for longer (design: {measure: ...})", replay: "replay more of the log"},
	{Setting: "requests", Value: fact.None}: {flag: "give -d in place of -n",
		key: "give the level no requests, so that its window is design.measure"},
	{Setting: "threads", Value: fact.Higher}: {flag: "add threads (-t)",
		key: "add threads (the level's threads)"},
	{Setting: "warmup", Value: fact.Higher}: {flag: "give a longer --warmup",
		key: "give a longer warmup (design: {warmup: {min: ...}})"},
	{Setting: "warmup", Value: fact.Some}: {flag: "give --warmup",
		key: "give a longer warmup (design: {warmup: {min: ...}})"},
}

// expectStatus is no setting of a load, but a key of the file of its requests.
const (
	expectStatus = "expect_status"
	nameStatus   = "if these are right answers, name them with " + expectStatus
)
