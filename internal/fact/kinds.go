package fact

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Args are the arguments of one kind of fact: a struct whose JSON keys have units in their names.
type Args interface{ Kind() Kind }

// kinds are all kinds of facts, by the type of their arguments. Add a kind here, and its sentence
// in package say.
var kinds = byKind(
	Steal{}, ApplicationStderr{}, StoodStill{}, CPUQuota{},
	ProxyUnused{}, ErrorsSince{}, AnswerUnfinished{}, RedirectsOnly{}, RedirectsAway{},
	DelayedAck{}, NotInTime{}, IterationsCut{}, NoServer{}, ErrorsUnjudged{},
	Retries{}, NotRetried{},
	RatesApart{}, StepsFailedAfter{},
	OthersOfName{}, NoListener{},
	AgentLost{}, AgentPartial{}, AgentDiffers{}, AgentClockOff{}, AgentDrift{},
	Rebalanced{}, ClocksLoose{}, FleetDiffers{}, AddressLost{},
	ErrorAnswers{}, RequestsFailed{}, RequestsUnanswered{}, RequestsRefused{}, RowsLeft{},
	Ended{}, Outage{}, NeverSent{}, Unserved{}, Busy{}, ScenarioBusy{}, SendLag{}, ProbeLag{},
	Unscheduled{}, Scheduling{}, Arrivals{}, NoPort{}, NoFile{}, TimeWait{}, Dropped{}, Resent{},
	ReadLag{}, EventsGathered{}, GapsBunched{}, WarmupShort{}, TokensUntold{}, TokensLeft{},
	Little{}, GCPause{}, RuntimeStop{}, TooShort{},
	PooledPercentile{}, ServerSpoiled{}, UnprovenChange{},

	FewerThreads{}, FewerStreams{}, SlowerRing{}, PortableRing{}, FilesRaised{}, SourcesSpread{},
	HTTP1Offered{}, HTTP3Costs{}, HTTP3Unanswered{}, SecretsWritten{}, OwnerAllows{}, ShareLate{},
	ThreadsLost{}, ConnectionsEnded{}, NearCeiling{}, CalibrationUnread{}, ProfileLacking{},
	ProfileInStep{}, NotWatched{}, NotStored{}, PartsApart{}, IterationsUnknown{}, RoutesUntimed{},

	NotCompared{}, SelfDiffers{}, SharedCPUs{}, CellsInSequence{}, ServersKept{}, FewRounds{},
	RoundsAdded{}, CheaperByQueue{}, GeneratorChoice{}, GradeF{}, TrialsLost{}, ProfilesShared{},
	Miscounted{}, MachineBusy{}, FairnessOff{}, ServersUnlike{}, Unsteady{}, ProgramChanged{},
	FrequencyUneven{}, NoiseUnusual{}, WeakDesign{}, Told{},

	TrialFailed{}, MachineEvent{}, MachineShare{}, AnswersLacking{}, AnswerChanged{}, SizeDiffers{},
	SentInTime{}, NotSteady{}, SecondsShow{}, ColdWindow{}, LoadLacking{}, ConnectionsLacking{},
	CountsDiffer{}, ServerKilled{},

	SearchEnded{}, GivenUp{}, LatencyGrowing{}, TooFewToBound{}, NothingAnswered{}, AnsweredLate{},
	OnlyErrors{}, MostErrors{}, LoadStopped{}, NoLaw{}, AnswersMissing{}, LoadNotApplied{},
	StreamsUnended{},

	RunsInSequence{}, PairsIgnored{}, TooFewRuns{}, GeneratorDoubted{}, GroupIncomplete{},
	GroupQuick{}, NotInGroup{}, MetricLacking{},

	Matters{}, OpensUnknown{}, ArmUnavailable{}, SessionFailed{}, ArmMend{}, SettingSkipped{},
	CPUInBoth{},

	Worse{}, LeftOpen{}, MayHide{}, TrialsUnreliable{},

	Wanted{}, NotMeasured{}, InScenario{}, NotInLoad{},
)

// Steal says that the hypervisor gave CPU time to other virtual machines.
type Steal struct {
	Percent float64 `json:"percent"` // of the time of all CPUs, in the window
}

// Kind is the kind's name.
func (Steal) Kind() Kind { return "steal" }

// StoodStill says that the generator itself was stopped, or had no CPU for long.
type StoodStill struct {
	LongestUS float64 `json:"longest_us"`
	SinceS    float64 `json:"since_s"` // when the longest began, after the window's start
	TotalUS   float64 `json:"total_us"`
	Delayed   float64 `json:"delayed_percent"` // of the requests: those in flight or due meanwhile
}

// Kind is the kind's name.
func (StoodStill) Kind() Kind { return "stood-still" }

// CPUQuota says that the generator's cgroup used up its CPU quota, and was stopped until the end of
// a period.
type CPUQuota struct {
	CPUs    float64 `json:"cpus,omitempty"` // of the quota; 0: unknown
	Periods int64   `json:"periods"`        // in which that was so
	TotalUS float64 `json:"total_us"`       // for which a thread of the generator was stopped, about
}

// Kind is the kind's name.
func (CPUQuota) Kind() Kind { return "cpu-quota" }

// ProxyUnused says that nothing could be reached directly, and that an environment variable names a
// proxy, which dyno does not use.
type ProxyUnused struct {
	Variable string `json:"variable"` // its name
}

// Kind is the kind's name.
func (ProxyUnused) Kind() Kind { return "proxy-unused" }

// ErrorsSince says that errors began during the window and stayed.
type ErrorsSince struct {
	SinceS  float64 `json:"since_s"`          // after the window's start
	Status  int     `json:"status,omitempty"` // of nearly all of them; 0: several, or no answers
	Percent float64 `json:"percent"`          // of the requests since then
}

// Kind is the kind's name.
func (ErrorsSince) Kind() Kind { return "errors-since" }

// AnswerUnfinished says that answers began and did not end in time, and how far the first came.
type AnswerUnfinished struct {
	Count   int64 `json:"count"`
	AtEnd   bool  `json:"at_end,omitempty"`       // of the run; else: within the timeout
	Header  int64 `json:"header_bytes,omitempty"` // that came, if the header was not whole
	Status  int   `json:"status,omitempty"`       // once it was
	Body    int64 `json:"body_bytes,omitempty"`   // that came
	Length  int64 `json:"length_bytes,omitempty"` // of the body, as Content-Length had it
	EndedBy End   `json:"ended_by,omitempty"`     // what would have ended the body
}

// An End is what ends the body of an answer. It is "" if that is not known.
type End string

// The ends of a body.
const (
	ByLength End = "length" // its last byte, by Content-Length
	ByChunk  End = "chunk"  // its last chunk
	ByClose  End = "close"  // the end of the connection
	ByStream End = "stream" // the end of its stream
)

// Kind is the kind's name.
func (AnswerUnfinished) Kind() Kind { return "answer-unfinished" }

// RedirectsOnly says that every answer was a redirect, and none was followed.
type RedirectsOnly struct {
	Status []int `json:"status"`
}

// Kind is the kind's name.
func (RedirectsOnly) Kind() Kind { return "redirects-only" }

// RedirectsAway says that redirects led to an origin to which none is followed.
type RedirectsAway struct {
	Count int64 `json:"count"` // of requests
}

// Kind is the kind's name.
func (RedirectsAway) Kind() Kind { return "redirects-away" }

// DelayedAck says that in the median the last byte of an answer came as long after the first as
// delayed acknowledgements of 40 ms hold up a server that writes an answer in pieces.
type DelayedAck struct {
	FirstByteUS float64 `json:"first_byte_us"` // median
	LastByteUS  float64 `json:"last_byte_us"`  // median
}

// Kind is the kind's name.
func (DelayedAck) Kind() Kind { return "delayed-ack" }

// ApplicationStderr says that a FastCGI application wrote to stderr.
type ApplicationStderr struct {
	Bytes int64  `json:"bytes"`
	First string `json:"first"` // line that says something, or its beginning
}

// Kind is the kind's name.
func (ApplicationStderr) Kind() Kind { return "application-stderr" }

// Retries says that requests were sent again on another connection.
type Retries struct {
	Count   int64   `json:"count"`
	Percent float64 `json:"percent"` // of the requests that were sent
	Of      []Retry `json:"of"`
	Peer    Peer    `json:"peer,omitempty"`
}

// A Retry is how many requests of a method were sent again for a reason, one of loadresult's.
type Retry struct {
	Method string `json:"method"`
	Why    string `json:"why"`
	Count  int64  `json:"count"`
	// Least and Most are how many requests their connections had answered before. Most 0: it is not
	// known, or none.
	Least int64 `json:"answered_least,omitempty"`
	Most  int64 `json:"answered_most,omitempty"`
	// Twice is set if the server may have carried them out before, and the method is not idempotent.
	Twice bool `json:"twice,omitempty"`
}

// OftenClosed is from how many closed connections on one number of answers is a rule of the peer.
const OftenClosed = 3

// IsAfterAnswers reports whether it is known after how many answers the connections were closed.
func (r Retry) IsAfterAnswers() bool {
	return (r.Why == "closed" || r.Why == "announced") && r.Most > 0
}

// Kind is the kind's name.
func (Retries) Kind() Kind { return "retries" }

// NotRetried says that requests failed because their connections were lost, and were not sent again
// because the server may have carried them out.
type NotRetried struct {
	Count   int64   `json:"count"`
	Percent float64 `json:"percent"` // of the requests that were sent
	Of      []Retry `json:"of"`
	Peer    Peer    `json:"peer,omitempty"`
}

// Kind is the kind's name.
func (NotRetried) Kind() Kind { return "not-retried" }

// RatesApart says that results are compared whose rates count other answers: those of an older dyno
// count answers that came after the window, and none to requests due in the warm-up.
type RatesApart struct {
	Older int `json:"older"` // results of an older dyno
	All   int `json:"all"`   // results that are compared
}

// Kind is the kind's name.
func (RatesApart) Kind() Kind { return "rates-apart" }

// StepsFailedAfter says that iterations of the window failed in steps that were due after it, which
// no count of requests or errors has.
type StepsFailedAfter struct {
	Steps  int64 `json:"steps"` // due after the window
	Failed int64 `json:"failed"`
}

// Kind is the kind's name.
func (StepsFailedAfter) Kind() Kind { return "steps-failed-after" }

// OthersOfName says that processes have the name that was to be watched, and are not: only those
// that listen where the load goes are.
type OthersOfName struct {
	Name    string `json:"name"`
	Port    int    `json:"port"`
	Watched []int  `json:"watched"` // numbers of processes, each the root of a tree
	Others  []int  `json:"others"`
}

// Kind is the kind's name.
func (OthersOfName) Kind() Kind { return "others-of-name" }

// NoListener says that no watched process of that name is known to listen where the load goes.
type NoListener struct {
	Name    string `json:"name"`
	Port    int    `json:"port,omitempty"` // 0: a Unix socket
	Watched []int  `json:"watched"`        // all of the name
}

// Kind is the kind's name.
func (NoListener) Kind() Kind { return "no-listener" }

// PooledPercentile says that a percentile is of all trials of a variant together, because a trial
// has too few requests for its own.
type PooledPercentile struct {
	Percent  float64 `json:"percent"`  // 99: p99
	Requests int64   `json:"requests"` // of the variant that has fewest, in all its trials
	Needs    int64   `json:"needs"`    // that a trial would have to have
}

// Kind is the kind's name.
func (PooledPercentile) Kind() Kind { return "pooled-percentile" }

// ServerSpoiled says that the server of a variant spoiled trials at a level, so that these do not
// show what was to be measured. Others are trials of other variants at that level.
type ServerSpoiled struct {
	Trials      int    `json:"trials"`
	Of          int    `json:"of"`
	Disturbed   int    `json:"disturbed"` // of Trials, in which the machine was busy, too
	Others      int    `json:"others"`    // spoiled likewise
	OtherTrials int    `json:"other_trials"`
	Why         string `json:"why"` // of the first

	// Starved are how many of the connections had no answer, in the trial with fewest; 0: it was
	// something else.
	Starved     int64 `json:"starved,omitempty"`
	Connections int64 `json:"connections,omitempty"`
}

// Kind is the kind's name.
func (ServerSpoiled) Kind() Kind { return "server-spoiled" }

// UnprovenChange says that the newest runs of a series differ from those before them, and that they
// are too few to be published as a change.
type UnprovenChange struct {
	Metric       string  `json:"metric"`
	Unit         string  `json:"unit"`
	Before       int     `json:"before"` // runs
	After        int     `json:"after"`
	MedianBefore float64 `json:"median_before"`
	MedianAfter  float64 `json:"median_after"`
	Ratio        float64 `json:"ratio"` // of what is after to what was before
	Low          float64 `json:"low"`   // of its 95 % interval
	High         float64 `json:"high"`
	More         int     `json:"more_runs,omitempty"` // that would show it, if they are alike
}

// Kind is the kind's name.
func (UnprovenChange) Kind() Kind { return "unproven-change" }

// AddressLost says that no connection could be opened to an address of the target, which is the
// fact's scope. If there are others, its share of the connections went to them.
type AddressLost struct {
	Name   string  `json:"name,omitempty"`   // of which it was an address when the load began
	Why    string  `json:"why"`              // a kind of error, as "refused" or "timeout"
	SinceS float64 `json:"since_s"`          // after the window's start; 0: from the start on
	BackS  float64 `json:"back_s,omitempty"` // when it answered again; 0: it did not
	Times  int     `json:"times"`            // how often it was lost
	Others int     `json:"others"`           // addresses that were not lost at the end
	Proxy  bool    `json:"proxy,omitempty"`  // they are its proxy's
}

// IsServer reports whether no address was left, for the rest of the load.
func (a AddressLost) IsServer() bool { return a.Others == 0 && a.SinceS > 0 && a.BackS == 0 }

// Kind is the kind's name.
func (AddressLost) Kind() Kind { return "address-lost" }

// Unknown are the arguments of a kind that this dyno does not know: a newer one wrote them.
type Unknown struct {
	Of  Kind
	Raw json.RawMessage
}

// Kind is the name that was read.
func (u Unknown) Kind() Kind { return u.Of }

// MarshalJSON writes the arguments as they were read.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }

// Kinds are the names of all kinds, in order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

func byKind(all ...Args) map[Kind]reflect.Type {
	table := make(map[Kind]reflect.Type, len(all))
	for _, args := range all {
		table[args.Kind()] = reflect.TypeOf(args)
	}
	return table
}

// decodeArgs reads the arguments of a kind.
func decodeArgs(k Kind, raw json.RawMessage) (Args, error) {
	of, known := kinds[k]
	if !known {
		return Unknown{k, slices.Clone(raw)}, nil
	}
	args := reflect.New(of)
	if err := json.Unmarshal(raw, args.Interface()); err != nil {
		return nil, err
	}
	return args.Elem().Interface().(Args), nil
}
