package setting

import "dyno/internal/fact"

// A deed is what to do about a setting: in the voices that name one setting each, where it stands
// in braces, and in that of an experiment's file. "": there it cannot be done.
type deed struct {
	says, key string
	replay    string // "": as says
	field     string // in the library; "": as says
}

// everywhere is a deed whose words name no setting.
func everywhere(says string) deed { return deed{says: says, key: says} }

// deeds are the remedies for which "raise", "lower" or "give" is not enough. Some settings are none
// of dyno's: those of the system, and of the file of requests.
var deeds = map[fact.Remedy]deed{
	{Setting: "arrival", Value: "poisson"}: {says: "give {arrival} poisson",
		key: "set the level's arrival to poisson", field: "set {arrival}"},
	{Setting: "cpus", Value: fact.Some}: {says: "give the generator CPUs of its own ({cpus})",
		key: "give the generator CPUs of its own (design: {cpus: ...})"},
	{Setting: "cpus", Value: fact.Other}: {says: "give the generator other CPUs ({cpus})",
		key: "give the generator other CPUs (design: {cpus: ...})"},
	{Setting: "cpus", Value: fact.Higher}: {says: "give the generator more CPUs ({cpus})",
		key: "give the generator more CPUs (design: {cpus: {generator: LIST}})"},
	{Setting: "drain", Value: fact.Higher}: {says: "give a longer {drain}"},
	{Setting: "expect", Value: fact.Some}: {
		says: "if these are right answers, name them with {expect}",
		key:  "if these are right answers, name them in the workload (expect: {status: ...})"},
	{Setting: "expect_status", Value: fact.Some}: everywhere(
		"if these are right answers, name them with expect_status"),
	{Setting: "clients", Value: fact.Higher}: {key: "add clients (design: {clients: ...})"},
	{Setting: "duration", Value: fact.Higher}: {says: "measure for longer ({duration})",
		key: "measure for longer (design: {measure: ...})", replay: "replay more of the log"},
	{Setting: "requests", Value: fact.None}: {says: "give {duration} in place of {requests}",
		field: "set {duration} in place of {requests}",
		key:   "leave out the level's requests, so that design.measure sets its window"},
	{Setting: "proxy", Value: fact.Some}: {says: "to use the proxy, give {proxy} its URL",
		key:   "to use the proxy, set the level's proxy to its URL",
		field: "to use the proxy, set {proxy} to its URL"},
	{Setting: "retry-unsafe", Value: fact.Some}: {
		says: "if it does no harm to carry out a request twice, give {retry-unsafe}",
		key:  "if it does no harm to carry out a request twice, set the level's retry_unsafe"},
	{Setting: "threads", Value: fact.Higher}: {says: "add threads ({threads})",
		key: "add threads (the level's threads)"},
	{Setting: "warmup", Value: fact.Higher}: {says: "give a longer {warmup}",
		key: "give a longer warmup (design: {warmup: {min: ...}})"},
	{Setting: "warmup", Value: fact.Some}: {says: "give {warmup}", field: "set {warmup}",
		key: "give a longer warmup (design: {warmup: {min: ...}})"},

	{Setting: "timeout", Value: fact.Higher}: {says: "give a longer {timeout}",
		key: "give the level a longer timeout"},
	{Setting: "stall", Value: fact.Higher}: {says: "give a longer {stall}",
		key: "give the workload's stream a longer stall"},
	{Setting: "cacert", Value: fact.Some}: {says: "give {cacert}", key: "have the machine trust it",
		field: "set {cacert}"},
	{Setting: "cert", Value: fact.Some}:  {says: "give {cert} and {key}"},
	{Setting: "cert", Value: fact.Other}: {says: "give it a certificate that it accepts ({cert})"},
	{Setting: "tls-max", Value: fact.Other}: {
		says: "give other TLS versions ({tls-min}, {tls-max})"},
	{Setting: "reconnect", Value: fact.Lower}: everywhere("keep connections open"),

	{Setting: "backlog", Value: fact.Higher}:     everywhere("raise the server's listen backlog"),
	{Setting: "clock", Value: fact.Other}:        everywhere("check the clock"),
	{Setting: "local-ports", Value: fact.Higher}: everywhere("widen net.ipv4.ip_local_port_range"),
	{Setting: "open-files", Value: fact.Higher}: everywhere(
		"raise the limit of open files (ulimit -n)"),
	{Setting: "resume", Value: fact.Some}: everywhere("go on with dyno lab run --resume"),
	{Setting: "url", Value: "http://"}:    everywhere("write http:// in the URL"),
}
