package say

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/setting"
)

var update = flag.Bool("update", false, "write the golden file")

// said has a fact of each kind.
var said = []fact.Fact{
	{Args: fact.Steal{Percent: 12.34}},
	{Args: fact.StoodStill{LongestUS: 987_654, SinceS: 2.98, TotalUS: 987_654, Delayed: 5.12}},
	{Args: fact.StoodStill{LongestUS: 123_456, SinceS: 61.5, TotalUS: 456_789}},
	{Args: fact.CPUQuota{CPUs: 0.5, Periods: 1, TotalUS: 21_000}},
	{Args: fact.CPUQuota{Periods: 1234, TotalUS: 2_345_678}},
	{Args: fact.ProxyUnused{Variable: "HTTPS_PROXY"},
		Remedies: []fact.Remedy{{Setting: "proxy", Value: fact.Some}}},
	{Args: fact.ErrorsSince{SinceS: 1.9, Status: 401, Percent: 100}},
	{Args: fact.ErrorsSince{SinceS: 61.25, Percent: 99.456}},
	{Args: fact.ErrorsSince{SinceS: 3, Percent: 100}}, {Args: fact.ErrorsSince{SinceS: 3, Status: 503, Percent: 60}},
	{Args: fact.AnswerUnfinished{Count: 2, Status: 200, Body: 2, Length: 10, EndedBy: fact.ByLength}},
	{Args: fact.AnswerUnfinished{Count: 2, AtEnd: true, Status: 200, Body: 1, EndedBy: fact.ByClose}},
	{Args: fact.AnswerUnfinished{Count: 1, Status: 206, Body: 1234, EndedBy: fact.ByChunk}},
	{Args: fact.AnswerUnfinished{Count: 1, Status: 200, EndedBy: fact.ByStream}},
	{Args: fact.AnswerUnfinished{Count: 1, Status: 200}},
	{Args: fact.AnswerUnfinished{Count: 1, Header: 22}},
	{Args: fact.RedirectsOnly{Status: []int{301, 308}}, Remedies: []fact.Remedy{{Setting: "follow", Value: "10"}}},
	{Args: fact.RedirectsAway{Count: 12}, Remedies: []fact.Remedy{{Setting: "follow-to", Value: "ORIGIN"}}},
	{Args: fact.DelayedAck{FirstByteUS: 115, LastByteUS: 44_012}},
	shortage(fact.NotInTime{Never: 1234, After: 5, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 10}}),
	shortage(fact.NotInTime{After: 35, Iterations: true, Shortage: fact.Shortage{Of: fact.OfUsers, Connections: 400, Users: 20}}),
	shortage(fact.NotInTime{Never: 3, Iterations: true, Shortage: fact.Shortage{Of: fact.OfEither, Connections: 40, Users: 200}}),
	shortage(fact.NotInTime{Never: 3, Shortage: fact.Shortage{Of: fact.OfServer, Connections: 40, OutageUS: 5e6}}),
	{Args: fact.IterationsCut{Unfinished: 22, Started: 80, TimeUS: 3_104_000, DrainUS: 2e6},
		Remedies: []fact.Remedy{{Setting: "drain", Value: fact.Higher}}},
	{Args: fact.IterationsCut{Unfinished: 80, Started: 80, DrainUS: 2e6}},
	{Args: fact.IterationsCut{Unfinished: 1, Started: 1, DrainUS: 2e6}},
	{Args: fact.NotInTime{Never: 1, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 1}}},
	{Args: fact.NotInTime{After: 1, Iterations: true, Shortage: fact.Shortage{Of: fact.OfUsers, Connections: 1, Users: 1}}},
	{Args: fact.NotInTime{Never: 1, After: 1, Shortage: fact.Shortage{Of: fact.OfEither, Connections: 1, Users: 2}}},
	{Args: fact.ApplicationStderr{Bytes: 12_345, First: "PHP Warning: no such key"}},
	{Args: fact.Retries{Count: 1, Percent: 0.1, Of: []fact.Retry{{Method: "GET", Why: "closed", Count: 1}}}},
	{Args: fact.NotRetried{Count: 2_234, Percent: 4.7, Of: []fact.Retry{{Method: "POST", Why: "closed", Count: 2_234, Least: 20, Most: 20, Twice: true}}},
		Remedies: []fact.Remedy{{Setting: "retry-unsafe", Value: fact.Some}}},
	{Args: fact.NotRetried{Count: 1, Percent: 0.2, Of: []fact.Retry{{Method: "PATCH", Why: "closed", Count: 1}}}},
	{Args: fact.Retries{Count: 3_926, Percent: 5, Of: []fact.Retry{{Method: "GET", Why: "closed", Count: 3_926, Least: 20, Most: 20}}}},
	{Args: fact.Retries{Count: 3_926, Percent: 5, Of: []fact.Retry{{Method: "GET", Why: "closed", Count: 3_926, Least: 20, Most: 20}}, Peer: fact.Proxy},
		Remedies: []fact.Remedy{{Setting: "reconnect", Value: "20"}}},
	{Args: fact.Retries{Count: 9, Percent: 5, Of: []fact.Retry{{Method: "GET", Why: "announced", Count: 9}}, Peer: fact.Tunnel}},
	{Args: fact.Retries{Count: 9, Percent: 5, Of: []fact.Retry{{Method: "GET", Why: "announced", Count: 7, Least: 3, Most: 2_000},
		{Method: "POST", Why: "closed", Count: 2, Least: 1, Most: 1, Twice: true}}}},
	{Args: fact.Retries{Count: 1_009, Percent: 47.36, Of: []fact.Retry{{Method: "GET", Why: "closed", Count: 1_000},
		{Method: "POST", Why: "closed", Count: 9, Twice: true}}}},
	{Scope: fact.Scope{Agent: "web2"}, Args: fact.AgentLost{AfterS: 4.25, Why: "nothing was heard of it for 3 s"}},
	{Scope: fact.Scope{Agent: "web1"}, Args: fact.AgentLost{AfterS: -0.5, Why: "it was stopped"}},
	{Args: fact.RatesApart{Older: 4, All: 12}},
	{Args: fact.StepsFailedAfter{Steps: 1200, Failed: 1100}},
	{Args: fact.OthersOfName{Name: "nginx", Port: 80, Watched: []int{12}, Others: []int{5, 7}}},
	{Args: fact.OthersOfName{Name: "nginx", Port: 80, Watched: []int{12, 14}, Others: []int{5}}},
	{Args: fact.NoListener{Name: "nginx", Port: 80, Watched: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
	{Args: fact.NoListener{Name: "php-fpm", Watched: []int{3}}},
	{Scope: fact.Scope{Variant: "maxconn=4"}, Remedies: []fact.Remedy{{Setting: "connections", Value: fact.Lower}},
		Args: fact.ServerSpoiled{Trials: 10, Of: 10, OtherTrials: 20, Why: "x", Starved: 12, Connections: 16}},
	{Scope: fact.Scope{Variant: "php"}, Args: fact.ServerSpoiled{Trials: 7, Of: 10, Disturbed: 3, Others: 1, OtherTrials: 20,
		Why: "12 of 4,000 requests failed"}},
	{Scope: fact.Scope{Variant: "php"}, Args: fact.ServerSpoiled{Trials: 1, Of: 1, Disturbed: 1, Why: "x"}},
	{Args: fact.UnprovenChange{Metric: "throughput", Unit: "req/s", Before: 5, After: 5, MedianBefore: 1980, MedianAfter: 1650, Ratio: 0.8333,
		Low: 0.821, High: 0.845, More: 2}},
	{Args: fact.UnprovenChange{Metric: "p99", Unit: "µs", Before: 9, After: 6, MedianBefore: 1980, MedianAfter: 16_500, Ratio: 8.3, Low: 8.1, High: 8.5}},
	{Args: fact.UnprovenChange{Metric: "throughput", Unit: "req/s", Before: 5, After: 5, MedianBefore: 1980, MedianAfter: 1650, Ratio: 0.8333,
		Low: 0.821, High: 0.845, More: 1}},
	{Scope: fact.Scope{Variant: "php"}, Args: fact.ServerSpoiled{Trials: 3, Of: 4, Disturbed: 3, Why: "x"}},
	{Args: fact.PooledPercentile{Percent: 99.9, Requests: 12_345, Needs: 3_688}},
	{Scope: fact.Scope{Address: "[2001:db8::2]:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "timeout", Times: 1, Others: 1}},
	{Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "refused", SinceS: 2.5, Times: 1, Others: 2}},
	{Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "unreachable", SinceS: 2.5, BackS: 61.25, Times: 3, Others: 2}},
	{Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "reset", BackS: 1.5, Times: 1, Others: 1}},
	{Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "refused", SinceS: 2.5, Times: 2}},
	{Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: fact.AddressLost{Name: "shop.example", Why: "timeout", Times: 1}},
	{Scope: fact.Scope{Address: "192.0.2.1:80", Parts: []int{1, 3}, OfParts: 4}, Args: fact.AddressLost{Why: "timeout", SinceS: 2.5, Times: 1, Others: 1}},
	{Scope: fact.Scope{Address: "127.0.0.1:80"}, Args: fact.AddressLost{Why: "refused", SinceS: 2.5, Times: 1}},
	{Args: fact.NoServer{Of: 8, Held: 3, LostUS: 1.88e6, WindowUS: 5e6}},
	{Args: fact.NoServer{Of: 80, Streams: true, Held: 30, Unanswered: 2, LostUS: 1.88e6, WindowUS: 5e6}},
	{Args: fact.NoServer{Of: 10, Unanswered: 10, SinceS: 5.69, LostUS: 4.3e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 1, Unanswered: 1, SinceS: 5.69, LostUS: 4.3e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 4, Unanswered: 4, SinceS: 1.01, LostUS: 2e6, WindowUS: 6e6}},
	{Args: fact.NoServer{Of: 8, Why: "connection refused", SinceS: 5.35, LostUS: 3.1e6, OutageUS: 3.05e6, WindowUS: 8e6}},
	{Args: fact.NoServer{Of: 8, Why: "connection refused", SinceS: 4.35, LostUS: 3.7e6, OutageUS: 3.65e6, WindowUS: 8e6}},
	{Args: fact.NoServer{Of: 10, Why: "connection refused", SinceS: 7.01, LostUS: 3.52e6, OutageUS: 3.5e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 10, Why: "no answer in time", SinceS: 4.01, LostUS: 3.52e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 10, Why: "connection refused", SinceS: 4.01, LongestUS: 3.5e6, LostUS: 3.52e6, OutageUS: 3.5e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 10, Why: "no answer in time", SinceS: 4.01, LongestUS: 3.53e6, LostUS: 3.52e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 4, Unanswered: 4, SinceS: 2.01, LongestUS: 3.99e6, LostUS: 2e6, WindowUS: 6e6}},
	{Args: fact.NoServer{Of: 8, Why: "connection refused", SinceS: 2.914, LongestUS: 2.03e6, LostUS: 2.0316e6, OutageUS: 2.03e6, WindowUS: 5e6}},
	{Args: fact.NoServer{Of: 4, Unanswered: 4, LongestUS: 1.5e6, LostUS: 3e6, WindowUS: 6e6}},
	{Args: fact.NoServer{Of: 1, Why: "no answer in time", SinceS: 4.01, LongestUS: 3.5e6, LostUS: 3.5e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 1234, LostUS: 3.52e6, WindowUS: 1e7}},
	{Args: fact.NoServer{Of: 1234, LostUS: 3.52e6, WindowUS: 1e7, Peer: fact.Proxy}},
	{Args: fact.NoServer{Of: 1234, LostUS: 3.52e6, WindowUS: 1e7, Peer: fact.Tunnel}},
	{Args: fact.ErrorsUnjudged{Percent: 49.95}, Remedies: []fact.Remedy{{Setting: "slo", Value: "errors<1%"}}},

	{Args: fact.NotCompared{Comparable: 2, Variants: 7, NotTested: []fact.NotTested{
		{Variant: "absent", Missing: []string{"nginx is not on the PATH", "port 80 is taken"}},
		{Variant: "created", Why: `its status is 201 where "go" has 200`, Remedy: "to compare it all the same, write fairness: {mode: warn} in the file"},
		{Variant: "none", Why: "its server ended with status 3"}},
		Failed: []fact.FailedVariant{{Variant: "go", Trials: 3, Phase: "start", Why: "ended with status 3"},
			{Variant: "php", Trials: 1, Phase: "load", Why: "connection refused"}}}},
	{Args: fact.NotCompared{Variants: 2, Unpaired: true}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.SelfDiffers{Change: fact.Change{Metric: "throughput", Ratio: 0.81, Low: 0.71, High: 0.93}}},
	{Scope: fact.Scope{Group: "A", Variant: "fast", Level: "c16"}, Args: fact.SelfDiffers{Change: fact.Change{Metric: "p99", Ratio: 8.1, Low: 7.5, High: 9, Bound: "at least"},
		Before: true}},
	{Args: fact.SharedCPUs{Why: "this machine has 2"}}, {Args: fact.CellsInSequence{}}, {Args: fact.ServersKept{}},
	{Args: fact.FewRounds{Rounds: 3, Least: 25, Needs: 6}},
	{Args: fact.RoundsAdded{After: []int{6, 12}}},
	{Scope: fact.Scope{Variant: "batch", Level: "r1000"}, Args: fact.CheaperByQueue{Than: "go", Less: 31.4, InFlight: 4.21, Low: 3.9, High: 12.5}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "p50", Open: fact.TooFewRounds, Rounds: 2}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "p50", Open: fact.RoundsDiffer}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "p50", High: 6.3}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "p50", Setting: "epoll", Percent: 14, Low: 9.2, High: 20}},
	{Args: fact.GradeF{Trials: 5, Of: 18}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GradeF{Trials: 5, Of: 18, Why: "the machine was busy"}},
	{Args: fact.TrialsLost{Trials: 3, Cells: []fact.CellTrials{{Variant: "go", Level: "c16", Trials: 2}, {Variant: "php", Level: "c64", Trials: 1}}}, Remedies: []fact.Remedy{{Setting: "resume", Value: fact.Some}}},
	{Args: fact.ProfilesShared{Cells: []fact.CellTrials{{Variant: "go", Level: "c16"}, {Variant: "go", Level: "c 16"}}}, Remedies: []fact.Remedy{{Setting: "resume", Value: fact.Some}}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.Miscounted{Trials: 2, Of: 6, Server: 12_345, Clients: 12_000}},
	{Args: fact.MachineBusy{Trials: 16, Of: 18}}, {Args: fact.FairnessOff{}}, {Args: fact.ServersUnlike{}},
	{Args: fact.Unsteady{Variants: []string{"go", "php"}}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.ProgramChanged{Program: "nginx"}},
	{Args: fact.FrequencyUneven{LowMHz: 1800, HighMHz: 3600}},
	{Scope: fact.Scope{Level: "c16"}, Args: fact.NoiseUnusual{Metric: "throughput", Now: 12.31, Usual: 3.2, Others: 4}},
	{Scope: fact.Scope{Level: "c16"}, Args: fact.NoiseUnusual{Metric: "throughput", Now: 1, Usual: 3.2, Others: 4}},
	{Args: fact.WeakDesign{By: fact.InSequence}}, {Args: fact.WeakDesign{By: fact.NoControl}},
	{Args: fact.WeakDesign{By: fact.NotIsolated}}, {Args: fact.WeakDesign{By: fact.CPUShared}},
	{Args: fact.WeakDesign{By: fact.ShortProbes, GivenS: 0.5, NeedsS: 2}},
	{Args: fact.WeakDesign{By: fact.OnlyOne, Baseline: "go"}},
	{Args: fact.WeakDesign{By: fact.SmallBudget, Rounds: 10, GivenS: 60, NeedsS: 450}},
	{Args: fact.Told{Text: "what an older dyno wrote"}},

	{Args: fact.RunsInSequence{First: "B", Then: "A"}}, {Args: fact.PairsIgnored{First: "A", Other: "C"}},
	{Args: fact.TooFewRuns{Compared: 3, LeastP: 0.3, Needs: 6}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GeneratorDoubted{Verdict: "client-bound", Runs: 2, Suspect: 3, Of: 12, Why: "a worker was busy 95 to 99 % of the time", WhyRuns: 4}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GeneratorDoubted{Verdict: "suspect", Runs: 2, Of: 5, Why: "a worker was busy 95 % of the time", WhyRuns: 2, OfOne: true}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GeneratorDoubted{Verdict: "client-bound", Runs: 1, Suspect: 1, Of: 5, Why: "a worker was busy 99 % of the time", WhyRuns: 1}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GeneratorDoubted{Verdict: "not judged", Runs: 1, Of: 5, Why: "too short to judge", WhyRuns: 1}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GroupIncomplete{}}, {Scope: fact.Scope{Group: "B"}, Args: fact.GroupQuick{}},
	{Scope: fact.Scope{Group: "A", Variant: "fast", Level: "c16"}, Args: fact.NotInGroup{Group: "B"}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MetricLacking{Metric: "cpu", Runs: 0, Against: fact.Scope{Group: "A", Level: "c16"}, AgainstRuns: 5}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MetricLacking{Metric: "p99", Against: fact.Scope{Group: "A"}, Needs: 368}},

	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GradeF{Trials: 5, Of: 8, Why: "10 of 100 requests failed", Lasting: true}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GradeF{Trials: 1, Of: 6, Why: "the machine was busy"}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.GradeF{Trials: 1, Of: 1, Why: "10 of 100 requests failed", Lasting: true}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.Worse{Change: fact.Change{Metric: "p99", Ratio: 1.3, Low: 1.2, High: 1.4}}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.Worse{Change: fact.Change{Metric: "p99", Ratio: 1.3, Alone: true}, Unshown: fact.ByTrials}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.Worse{Change: fact.Change{Metric: "p99", Ratio: 1.3, Low: 1.2, High: 1.4}, Unshown: fact.ByMachine}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.Worse{Change: fact.Change{Metric: "p99", Ratio: 1.3, Low: 1.2, High: 1.4}, Unshown: fact.BySecondBatch}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.LeftOpen{Change: fact.Change{Metric: "p50", Ratio: 1.1, Low: 0.9, High: 1.4}, More: 14}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.LeftOpen{Change: fact.Change{Metric: "p50", Ratio: 1.1, Low: 0.9, High: 1.4}, More: 1, Apart: true}},
	{Scope: fact.Scope{Group: "B", Variant: "go"}, Args: fact.LeftOpen{Change: fact.Change{Metric: "p50", Ratio: 1.1, Low: 0.9, High: 1.4}, More: 1000,
		Beyond: true, Apart: true}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.LeftOpen{Change: fact.Change{Metric: "p50", Ratio: 1.001, Low: 0.97, High: 1.03}}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.TooFew, Count: 1}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.MayHide{Metrics: []string{"p50", "p99"}, By: fact.TooFew, Count: 5}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.TooFew, Count: 1, Against: 3}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.Unmeasured}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.MayHide{Metrics: []string{"p50", "p99"}, By: fact.Unmeasured}},
	{Scope: fact.Scope{Variant: "go"}, Args: fact.MayHide{Metrics: []string{"p50", "p99", "max"}, By: fact.ValueLacks, Count: 1}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.ValueLacks, Count: 2, Against: 3}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.AtItsLimit, Against: 3}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.MayHide{Metrics: []string{"p50"}, By: fact.HeldUp, Count: 3}},
	{Scope: fact.Scope{Group: "B"}, Args: fact.MayHide{Metrics: []string{"p50", "p99"}, By: fact.HeldUp, Count: 1, Against: 3}},
	{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.MayHide{Metrics: []string{"cpu"}, By: fact.AnotherLoad, Count: 1}},
	{Args: fact.TrialsUnreliable{Trials: 20, Unreliable: 7}}, {Args: fact.TrialsUnreliable{Trials: 1, Unreliable: 1}},

	{Args: fact.OpensUnknown{Why: fact.InBrief}}, {Args: fact.OpensUnknown{Why: fact.OfStreams}}, {Args: fact.OpensUnknown{Why: fact.Elsewhere}},
	{Args: fact.OpensUnknown{Why: fact.Unreadable, Text: "open /proc/net/snmp: permission denied"}},
	{Args: fact.OpensUnknown{Why: fact.OthersOpen, Noise: 0.8, Counted: 1.5}},
	{Args: fact.ArmUnavailable{Why: fact.NotThen}}, {Args: fact.ArmUnavailable{Why: fact.OwnKernel}}, {Args: fact.ArmUnavailable{Why: fact.OwnGenerator}},
	{Args: fact.SessionFailed{}}, {Args: fact.SessionFailed{Failures: []string{"shop.hurl:3:1: status 200", "a check failed: body"},
		Status: []fact.StatusCount{{Code: "200", Count: 1}, {Code: "404", Count: 12}}}},
	{Args: fact.ArmMend{By: fact.ListenThere, At: "127.0.0.1:8080"}}, {Args: fact.ArmMend{By: fact.StartIt}}, {Args: fact.ArmMend{By: fact.NoOutput}},
	{Args: fact.ArmMend{By: fact.SeeOutput, File: "out/check-go.0.log"}}, {Args: fact.ArmMend{By: fact.SeeSession, File: "shop.hurl"}},
	{Args: fact.ArmMend{By: fact.AllowAll}}, {Args: fact.ArmMend{By: fact.AllowThem, Aspects: []string{"status", "body"}, Allowed: []string{"server", "status", "body"}}},
	{Args: fact.SettingSkipped{Setting: fact.HalfThreads, Why: fact.ForConnections, Threads: 1, Connections: 16}},
	{Args: fact.SettingSkipped{Setting: fact.DoubleThreads, Why: fact.ForConnections, Threads: 4, Connections: 4}},
	{Args: fact.SettingSkipped{Setting: fact.OtherRing, Why: fact.RingUnknown}}, {Args: fact.SettingSkipped{Setting: fact.OtherRing, Why: fact.RingOnly}},
	{Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.NotInstalled}}, {Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.NoServed}},
	{Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.NoSuchLoad}}, {Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.MoreThanGET}},
	{Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.OfThisMachine}}, {Args: fact.CPUInBoth{CPU: 3}},
	{Args: fact.Wanted{What: fact.AnObjective}}, {Args: fact.Wanted{What: fact.ADuration, Got: "20"}},
	{Args: fact.Wanted{What: fact.ANumber, Got: "ten"}}, {Args: fact.Wanted{What: fact.EitherNumber, Got: "1ms"}},
	{Args: fact.Wanted{What: fact.APercentage, Got: "120%", More: true}},
	{Args: fact.NotMeasured{Lacks: fact.NoChecks}}, {Args: fact.NotMeasured{Lacks: fact.NoMetrics}},
	{Args: fact.NotMeasured{Lacks: fact.NoCheck, Name: "is 20", Meant: "is 200"}},
	{Args: fact.NotMeasured{Lacks: fact.NoMetric, Name: "x", Has: []string{"hits", "size"}}},
	{Args: fact.NotMeasured{Lacks: fact.NoMetric, Name: "x", Has: []string{"a1", "a2", "a3", "a4", "a5", "a6"}}},
	{Args: fact.NotMeasured{Lacks: fact.NoStatistic, Name: "size", Statistic: "median"}},
	{Args: fact.NotMeasured{Lacks: fact.NotOne, Name: "size"}},
	{Args: fact.InScenario{Of: fact.NameOfFunction, Name: "newUuid"}}, {Args: fact.InScenario{Of: fact.OptionValue, Name: "retry", Value: "x"}},
	{Args: fact.InScenario{Of: fact.NoLaterRequest}}, {Args: fact.InScenario{Of: fact.NothingFollows}}, {Args: fact.InScenario{Of: fact.HeaderForm}}, {Args: fact.InScenario{Of: fact.SignerPartial}},
	{Args: fact.InScenario{Of: fact.SignerNone}, Remedies: []fact.Remedy{{Setting: "auth", Value: fact.Some}}},

	{Args: fact.InScenario{Of: fact.RowsMixed, Name: "user", Line: 3}, Remedies: []fact.Remedy{{Setting: "data-order", Value: "per-user"}}},
	{Args: fact.InScenario{Of: fact.RowsMixed, Name: "user", Line: 3}},
	{Args: fact.InScenario{Of: fact.ValueLater, Name: "token"}}, {Args: fact.InScenario{Of: fact.NotBare, Name: "token"}},
	{Args: fact.InScenario{Of: fact.NameUnknown, Name: "uuid"}, Remedies: []fact.Remedy{{Setting: "variable", Value: "uuid=VALUE"}}},
	{Args: fact.InScenario{Of: fact.NameUnknown, Name: "usr", Has: []string{"user", "password"}, Hint: "the first line of users.csv has the names"},
		Remedies: []fact.Remedy{{Setting: "variable", Value: "usr=VALUE"}}},
	{Args: fact.InScenario{Of: fact.NameUnknown, Name: "j", Has: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}}},
	{Args: fact.InScenario{Of: fact.FormatUnknown, Value: "avro", Has: []string{"sse", "ndjson"}}},
	{Args: fact.InScenario{Of: fact.FormatsMixed, Other: "sse", Value: "ndjson"}}, {Args: fact.InScenario{Of: fact.NoBodyToStream}},
	{Args: fact.InScenario{Of: fact.StreamCompressed}}, {Args: fact.InScenario{Of: fact.NoHost, Name: "GET"}}, {Args: fact.InScenario{Of: fact.PathUnknown}},
	{Args: fact.InScenario{Of: fact.NoScheme, Value: "example.org"}}, {Args: fact.InScenario{Of: fact.Fragment}},
	{Args: fact.InScenario{Of: fact.OtherServer, Value: "http://b.example", Other: "http://a.example"}},
	{Args: fact.InScenario{Of: fact.RedirectsMany, Most: 4}}, {Args: fact.InScenario{Of: fact.ValueNoText}}, {Args: fact.InScenario{Of: fact.ValueNotBare}},
	{Args: fact.InScenario{Of: fact.ColumnFunction, Name: "newUuid"}}, {Args: fact.InScenario{Of: fact.ColumnTwice, Name: "user"}},
	{Args: fact.InScenario{Of: fact.VariableFunction, Name: "newDate"}}, {Args: fact.InScenario{Of: fact.QuoteOpen, Name: "user"}},
	{Args: fact.NotInLoad{What: fact.HurlQuery, Name: "certificate"}}, {Args: fact.NotInLoad{What: fact.HurlQuery, Name: "ip"}},
	{Args: fact.NotInLoad{What: fact.HurlOption, Name: "output"}}, {Args: fact.NotInLoad{What: fact.HurlOption, Name: "location-trusted"}},
	{Args: fact.NotInLoad{What: fact.HurlOption, Name: "aws-sigv4"}}, {Args: fact.NotInLoad{What: fact.EndlessOption, Name: "repeat"}},
	{Args: fact.NotInLoad{What: fact.HurlOption, Name: "max-time", OfRun: true}, Remedies: []fact.Remedy{{Setting: "timeout", Value: fact.Some}}},
	{Args: fact.NotInLoad{What: fact.HeaderName, Late: true}, Remedies: []fact.Remedy{{Setting: "variable", Value: "NAME=VALUE"}}},
	{Args: fact.NotInLoad{What: fact.VariableName, Late: true}}, {Args: fact.NotInLoad{What: fact.FileName, Late: true}},
	{Args: fact.NotInLoad{What: fact.CaptureName}}, {Args: fact.NotInLoad{What: fact.TwoBodies}},

	{Scope: fact.Scope{Group: "B"}, Args: fact.MetricLacking{Metric: "cpu", Runs: 1, Against: fact.Scope{Group: "A"}, AgainstRuns: 1, InRounds: true}},
	{Args: fact.HTTP1Offered{Over: fact.NoChunks}},

	{Args: fact.Unknown{Of: "of-2030"}},
	{Args: fact.Ended{How: "unreachable", Why: "connection refused"}},
	{Args: fact.Ended{How: "gone", Why: "connection refused", MeasuredUS: 4.25e6}},
	{Args: fact.Ended{How: "unserved", Why: "end of file", MeasuredUS: 4.25e6}},
	{Args: fact.Ended{How: "gone", Why: "the proxy p:3128: connection refused", MeasuredUS: 4.25e6, Peer: fact.Proxy}},
	{Args: fact.Ended{How: "unserved", Why: "end of file", MeasuredUS: 4.25e6, Peer: fact.Tunnel}},
	{Args: fact.Ended{How: "interrupted", MeasuredUS: 61.25e6}},
	{Args: fact.Ended{How: "faulted", Why: "load.lua:3: no such field", MeasuredUS: 4.25e6}},
	{Args: fact.Ended{Why: "no answer in time", MeasuredUS: 1e7}},
	{Args: fact.Ended{MeasuredUS: 1e7}},
	{Args: fact.Outage{OutageUS: 1.95e6, Why: "connection refused"}},
	{Args: fact.Outage{OutageUS: 1.95e6, Open: true}},
	{Args: fact.NeverSent{Percent: 12.345}, Remedies: fact.Shortage{Of: fact.OfConnections}.Remedies()},
	{Args: fact.NeverSent{Percent: 12.345, Iterations: true}, Remedies: fact.Shortage{Of: fact.OfUsers}.Remedies()},
	{Args: fact.NeverSent{Percent: 12.345}},
	{Args: fact.Unserved{Missing: 3, Of: 1000}, Remedies: []fact.Remedy{{Setting: "warmup", Value: fact.Some},
		{Setting: "duration", Value: fact.Higher}, {Setting: "connections", Value: fact.Lower}}},
	{Args: fact.Unserved{Missing: 3, Of: 1000}, Remedies: []fact.Remedy{{Setting: "warmup", Value: fact.Higher},
		{Setting: "requests", Value: fact.Higher}, {Setting: "connections", Value: fact.Lower}}},
	{Args: fact.Unserved{Missing: 3, Of: 10, Unopened: true}, Remedies: []fact.Remedy{{Setting: "connections", Value: fact.Lower}}},
	{Args: fact.Busy{Percent: 84.6}, Severity: fact.Warning, Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher},
		{Setting: "clients", Value: fact.Higher}}},
	{Args: fact.Busy{Percent: 98.4}, Severity: fact.Error, Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Higher},
		{Setting: "clients", Value: fact.Higher}}},
	{Args: fact.Busy{Percent: 98.4, AllCPUs: true}, Severity: fact.Error, Remedies: []fact.Remedy{{Setting: "clients", Value: fact.Higher}}},
	{Args: fact.Busy{Percent: 98.4, AtQuota: true}, Severity: fact.Error},
	{Args: fact.ScenarioBusy{Busy: fact.Busy{Percent: 98.4, AllCPUs: true}, Scenario: 71.2, Steps: true}, Severity: fact.Error},
	{Args: fact.ScenarioBusy{Busy: fact.Busy{Percent: 80}, Scenario: 41, Steps: true}, Severity: fact.Warning,
		Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher}, {Setting: "clients", Value: fact.Higher}}},
	{Args: fact.ScenarioBusy{Busy: fact.Busy{Percent: 98.4}, Scenario: 71.2}, Severity: fact.Error},
	{Scope: fact.Scope{Parts: []int{1, 3}, OfParts: 4}, Args: fact.SendLag{P99US: 1100, MeanUS: 132},
		Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Some}, {Setting: "rate", Value: fact.Lower}}},
	{Args: fact.ReadLag{P99US: 2400, GapUS: 20e3}, Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher}}},
	{Args: fact.ReadLag{P99US: 2400, FirstUS: 21e3}},
	{Args: fact.EventsGathered{Percent: 62.1}},
	{Args: fact.GapsBunched{Percent: 81}},
	{Args: fact.WarmupShort{WarmupUS: 1e6, StreamUS: 6.1e6}, Remedies: []fact.Remedy{{Setting: "warmup", Value: fact.Higher}}},
	{Args: fact.TokensUntold{Streams: 12, Of: 400}},
	{Args: fact.TokensLeft{Streams: 390, Of: 400}, Remedies: []fact.Remedy{{Setting: "stream-take", Value: fact.None}}},
	{Args: fact.ProbeLag{SendLag: fact.SendLag{P99US: 1100, MeanUS: 132}}, Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Lower}}},
	{Args: fact.Unscheduled{Percent: 5.6}, Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Some}}},
	{Args: fact.Unscheduled{Percent: 30}, Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Other}}},
	{Args: fact.Scheduling{P99US: 1100, MeanUS: 1000}},
	{Args: fact.Arrivals{Spans: 2000, A2: 69.5}, Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Some}}},
	{Args: fact.Arrivals{Spans: 2000, Off: 72.4}},
	{Args: fact.NoPort{Times: 1234}},
	{Args: fact.NoFile{Times: 4}, Remedies: []fact.Remedy{{Setting: "connections", Value: fact.Lower}}},
	{Args: fact.TimeWait{Sockets: 25_000, Ports: 28_232}},
	{Args: fact.Dropped{Times: 1}, Remedies: []fact.Remedy{{Setting: "connect-rate", Value: fact.Some}}},
	{Args: fact.Dropped{Times: 3}, Remedies: []fact.Remedy{{Setting: "connect-rate", Value: fact.Lower}}},
	{Args: fact.Resent{Segments: 1234, Answers: 100_000}},
	{Args: fact.Little{Ratio: 0.951, Connections: 10}, Remedies: []fact.Remedy{{Setting: "warmup", Value: fact.Some}}},
	{Args: fact.Little{Ratio: 0.951, Connections: 10, Unanswered: true}, Remedies: []fact.Remedy{{Setting: "warmup", Value: fact.Higher},
		{Setting: "requests", Value: fact.None}}},
	{Args: fact.Little{Ratio: 1.05, Connections: 1234}},
	{Args: fact.GCPause{LongestUS: 1234.5}},
	{Args: fact.RuntimeStop{LongestUS: 1500}},
	{Args: fact.TooShort{Answers: 99, WindowUS: 1e7, LeastAnswers: 100, LeastWindowUS: 1e6}, Remedies: longer},
	{Args: fact.TooShort{Answers: 100_000, Failures: 1, WindowUS: 50_100, LeastAnswers: 100, LeastWindowUS: 1e6}, Remedies: longer},
	{Scope: fact.Scope{Agent: "web1"}, Args: fact.AgentPartial{Reports: 7}},
	{Scope: fact.Scope{Agent: "web1"}, Args: fact.AgentDiffers{}},
	{Scope: fact.Scope{Agent: "web1"}, Args: fact.AgentClockOff{OffS: -12.4}},
	{Scope: fact.Scope{Agent: "web1"}, Args: fact.AgentDrift{DriftUS: 12_345}},
	{Args: fact.Rebalanced{AfterS: 4.25, Agents: []string{"web1", "web3"}}},
	{Args: fact.ClocksLoose{BoundUS: 6100}},
	{Args: fact.FleetDiffers{}},
	{Args: fact.ErrorAnswers{Count: 8, Percent: 100, All: true, Of: []string{"500", "503"}}, Remedies: []fact.Remedy{{Setting: "expect", Value: fact.Some}}},
	{Args: fact.ErrorAnswers{Count: 8, Percent: 100, All: true, Of: []string{"404"}}, Remedies: []fact.Remedy{{Setting: "expect_status", Value: fact.Some}}},
	{Args: fact.ErrorAnswers{Count: 8, Percent: 100, All: true, Of: []string{"407"}, ProxyRefuses: true}},
	{Args: fact.ErrorAnswers{Count: 300_000, Percent: 75, Of: []string{"404"},
		Checks: []fact.CheckMissed{{Name: "price", Status: 200}, {Name: "size"}}}},
	{Args: fact.ErrorAnswers{Count: 300_000, Percent: 75, Of: []string{"404", "check price: answered 200"}}}, // an older dyno's
	{Args: fact.ErrorAnswers{Count: 1, Percent: 20, Of: []string{"404"}}},
	{Args: fact.RequestsFailed{Percent: 2.04}},
	{Args: fact.RequestsUnanswered{Percent: 5.04}, Remedies: []fact.Remedy{{Setting: "drain", Value: fact.Higher}}},
	{Args: fact.RequestsRefused{Count: 1, Why: "the path has a line break"}},
	{Args: fact.RequestsRefused{Count: 1234, Why: "people.csv has no more rows"}},
	{Args: fact.FewerThreads{Threads: 2, Asked: 4}},
	{Args: fact.FewerStreams{Streams: 1, Asked: 10}},
	{Args: fact.SlowerRing{Ring: "epoll", Why: "io_uring is refused by this system"}},
	{Args: fact.PortableRing{Procs: 1, Threads: 2}},
	{Args: fact.FilesRaised{From: 1024, To: 20_016}},
	{Args: fact.SourcesSpread{From: "127.0.0.1", To: "127.0.0.3", Connections: 60_000}},
	{Args: fact.HTTP1Offered{Over: fact.NoPipelining}, Remedies: []fact.Remedy{{Setting: "streams", Value: fact.Some}}},
	{Args: fact.HTTP1Offered{Over: fact.OldTLS}, Remedies: []fact.Remedy{{Setting: "tls-max", Value: fact.Higher}}},
	{Args: fact.HTTP1Offered{Over: fact.OneRequest, Request: 2, Why: "header Upgrade is of HTTP/1.1"}},
	{Args: fact.HTTP3Costs{}},
	{Args: fact.HTTP3Unanswered{}, Remedies: []fact.Remedy{{Setting: "http", Value: "2"}, {Setting: "http", Value: "1.1"}}},
	{Args: fact.SecretsWritten{File: "keys.log"}},
	{Args: fact.OwnerAllows{Rate: 12_500}},
	{Args: fact.ShareLate{}},
	{Args: fact.ThreadsLost{Threads: 1, Of: 4}},
	{Args: fact.ConnectionsEnded{Count: 1, Why: "ended by the server: GOAWAY, HTTP_1_1_REQUIRED"},
		Remedies: []fact.Remedy{{Setting: "http", Value: "1.1"}}},
	{Args: fact.ConnectionsEnded{Count: 1234, Why: "ended by the server: GOAWAY, ENHANCE_YOUR_CALM"}},
	{Args: fact.NearCeiling{Percent: 94.6, Ceiling: 123_456, Connections: 1, Threads: 2, Calibrated: "2026-01-31"}},
	{Args: fact.CalibrationUnread{Why: "calibration-x.json: it is damaged"}},
	{Args: fact.ProfileLacking{Why: "the server has no /debug/pprof"}},
	{Args: fact.ProfileLacking{Taken: true, Why: "no space left on device"}},
	{Args: fact.ProfileInStep{}, Remedies: []fact.Remedy{{Setting: "arrival", Value: "poisson"}}},
	{Args: fact.NotWatched{Why: "the agent is gone"}},
	{Args: fact.NotStored{Why: "the result was not stored: no space left on device"}},
	{Args: fact.PartsApart{ApartUS: 31_250}},
	{Args: fact.IterationsUnknown{Parts: 1, Of: 4}},
	{Args: fact.RoutesUntimed{Routes: 12, Of: 1000}},
	{Args: fact.RowsLeft{Left: 60, Of: 1234, File: "people.csv"}},

	{Args: fact.TrialFailed{Phase: "start", Why: "it ended with status 3"}},
	{Args: fact.MachineEvent{Of: fact.QueueFull, Count: 3}}, {Args: fact.MachineEvent{Of: fact.PacketDropped, Count: 1234}},
	{Args: fact.MachineEvent{Of: fact.SegmentResent, Count: 2}}, {Args: fact.MachineEvent{Of: fact.SlowedByHeat, Count: 1}},
	{Args: fact.MachineShare{By: fact.ByHost, Percent: 5.72}}, {Args: fact.MachineShare{By: fact.ByOthers, Percent: 25.4}},
	{Args: fact.MachineShare{By: fact.ByQuota, Percent: 0.41, Periods: 1}}, {Args: fact.MachineShare{By: fact.ByMemory, Percent: 20}},
	{Args: fact.AnswersLacking{Failed: 12, Sent: 4000}},
	{Args: fact.AnswersLacking{Failed: 12, Sent: 4000, Unanswered: 3, Checks: []fact.CheckFailed{{Name: "body", Count: 10}, {Name: "json", Count: 2}}}},
	{Args: fact.AnswerChanged{Aspect: "status", Before: "200", After: "503"}},
	{Args: fact.SizeDiffers{Bytes: 1234.4, Checked: 100}},
	{Args: fact.SentInTime{Percent: 97.96, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 10}}},
	{Args: fact.SentInTime{Percent: 97.96, Iterations: true, OwnDelay: true}},
	{Args: fact.NotSteady{WarmupS: 3}}, {Args: fact.NotSteady{WarmupS: 3, Varied: 20.04}},
	{Args: fact.SecondsShow{What: "slowdown"}}, {Args: fact.ColdWindow{CutS: 3, Higher: 5.04}},
	{Args: fact.LoadLacking{Percent: 0.501}},
	{Args: fact.ConnectionsLacking{Missing: 2, Of: 9}}, {Args: fact.ConnectionsLacking{Missing: 3, Of: 50, Unopened: true}},
	{Args: fact.CountsDiffer{Server: 12_345, Clients: 12_000}}, {Args: fact.ServerKilled{Process: "app"}},

	{Args: fact.SearchEnded{How: fact.EndFound, Low: 1500, High: 1575.5}},
	{Args: fact.SearchEnded{How: fact.EndLimited, Low: 1500, High: 1575.5}},
	{Args: fact.SearchEnded{How: fact.EndNeverFree, HeldUp: true}}, {Args: fact.SearchEnded{How: fact.EndNoMore, Low: 1500}},
	{Args: fact.SearchEnded{How: fact.EndMissed, High: 10}}, {Args: fact.SearchEnded{How: fact.EndMissedOpen, High: 10}},
	{Args: fact.SearchEnded{How: fact.EndUndecided, High: 10}}, {Args: fact.SearchEnded{How: fact.EndUnconfirmed, High: 10}},
	{Args: fact.SearchEnded{How: fact.EndUnreachable}}, {Args: fact.SearchEnded{How: fact.EndLost, High: 10}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted, Low: 12_000, High: 16_000}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted, Low: 12_000, High: 16_000, Open: true}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted, Low: 12_000}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted, HighCount: 10, Axis: "users", Open: true}},
	{Args: fact.SearchEnded{How: fact.EndInterrupted, Axis: "users", HighCount: 10}},
	{Args: fact.SearchEnded{How: fact.EndFound, Axis: "users", LowCount: 82, HighCount: 86}},
	{Args: fact.SearchEnded{How: fact.EndLimited, Axis: "users", LowCount: 82, HighCount: 86}},
	{Args: fact.SearchEnded{How: fact.EndNeverFree, Axis: "connections"}}, {Args: fact.SearchEnded{How: fact.EndNoMore, Axis: "users", LowCount: 82}},
	{Args: fact.SearchEnded{How: fact.EndMissed, Axis: "users", HighCount: 1}},
	{Args: fact.SearchEnded{How: fact.EndUndecided, Axis: "users", HighCount: 2}},
	{Args: fact.GivenUp{AfterS: 1.2, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 1}}}, {Args: fact.LatencyGrowing{}},
	{Args: fact.TooFewToBound{Requests: 989, Objective: "p99<5s"}},
	{Args: fact.NothingAnswered{Why: "connection refused"}}, {Args: fact.NothingAnswered{Wrong: true, Why: "404"}},
	{Args: fact.NothingAnswered{WithinS: 2}}, {Args: fact.AnsweredLate{WindowS: 1, Later: 12}},
	{Args: fact.OnlyErrors{Of: []fact.ErrorCount{{What: "404", Count: 1234}, {What: "body", Check: true, Count: 1}}}},
	{Args: fact.MostErrors{ErrorCount: fact.ErrorCount{What: "503", Count: 12}, Of: 4000}},
	{Args: fact.LoadStopped{Why: "connection refused"}}, {Args: fact.LoadStopped{Why: "connection refused", Gone: true}},
	{Args: fact.NoLaw{Needs: 4}},
	{Args: fact.AnswersMissing{Count: 11, Of: 1000, By: fact.ByTimeout, DeadlineUS: 2e6}},
	{Args: fact.AnswersMissing{Count: 11, Of: 1000, By: fact.WhenGone}},
	{Args: fact.AnswersMissing{Count: 11, Of: 1000, Iterations: true, By: fact.ByDrain, DeadlineUS: 2.04e6}},
	{Args: fact.AnswersMissing{Waited: 12.34}}, {Args: fact.LoadNotApplied{Percent: 50}},
	{Args: fact.StreamsUnended{Cut: 3, Stalled: 1200}},
}

var longer = []fact.Remedy{{Setting: "duration", Value: fact.Higher}, {Setting: "requests", Value: fact.Higher}}

// shortage is a fact with the remedies of its arguments.
func shortage(a fact.NotInTime) fact.Fact { return fact.Fact{Args: a, Remedies: a.Remedies()} }

// everyAspect says of each aspect why it matters, and of headers.
func everyAspect() (all []fact.Fact) {
	for _, name := range slices.Sorted(maps.Keys(whyMatters)) {
		all = append(all, fact.Fact{Args: fact.Matters{Aspect: name}})
	}
	for _, name := range []string{"location", "connection", "keep-alive", "server"} {
		all = append(all, fact.Fact{Args: fact.Matters{Aspect: name, Header: true}})
	}
	return all
}

// Each kind has its sentence, and its advice in each voice.
func TestSentences(t *testing.T) {
	var out bytes.Buffer
	known := map[fact.Kind]bool{}
	for _, f := range slices.Concat(said, everyAspect()) {
		known[f.Kind()] = true
		fmt.Fprintf(&out, "%s\n\t%s\n", f.Kind(), Text(f, setting.Flag))
		if Advice(f, setting.Flag)+Advice(f, setting.Key) != "" {
			fmt.Fprintf(&out, "\tlabel\t%s\n\tkey\t%s\n\tfield\t%s\n", Advice(f, setting.Label), Advice(f, setting.Key),
				Advice(f, setting.Library))
		}
		if of := Advice(f, setting.Replay); of != Advice(f, setting.Flag) {
			fmt.Fprintf(&out, "\treplay\t%s\n", of)
		}
		for _, v := range []Voice{setting.Key, setting.Library} {
			for _, word := range strings.Fields(strings.NewReplacer("ulimit -n", "", "dyno lab run --resume", "").Replace(Advice(f, v))) {
				if strings.HasPrefix(strings.Trim(word, "(),;"), "-") {
					t.Errorf("%s: a file and a program have no %s", f.Kind(), word)
				}
			}
		}
		if s := Start(f); s != Sentence(f) {
			fmt.Fprintf(&out, "\tstart\t%s\n", s)
		}
		for _, r := range f.Remedies {
			if setting.Flag(r.Setting, r.Value)+setting.Key(r.Setting, r.Value) == "" {
				t.Errorf("%s: no voice names the setting %q", f.Kind(), r.Setting)
			}
		}
	}
	for _, k := range fact.Kinds() {
		if !known[k] {
			t.Errorf("no fact of the kind %q is said here", k)
		}
	}
	const golden = "testdata/sentences.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("%v; now:\n%s", err, out.Bytes())
	}
}

// A remedy says which way to change a setting, in the words of whoever described the load.
func TestAdvice(t *testing.T) {
	all := []fact.Remedy{{Setting: "drain", Value: "5s"}, {Setting: "rate", Value: fact.Lower},
		{Setting: "unheard", Value: "1"}}
	for want, v := range map[string]Voice{"give --drain 5s, or lower -R": setting.Flag,
		"lower the level's rate": setting.Key,
		"give --drain 5s, or lower the speed of the replay (dyno from access-log --replay)": setting.Replay} {
		if got := Advice(fact.Fact{Args: fact.GCPause{}, Remedies: all}, v); got != want {
			t.Errorf("%q", got)
		}
	}
	if got := Advice(fact.Fact{Args: fact.GCPause{}, Remedies: all[2:]}, setting.Flag); got != "" {
		t.Errorf("%q", got)
	}
}

// The server is silent from an instant on only if that is when all connections lost it.
func TestGone(t *testing.T) {
	for want, a := range map[string]fact.NoServer{
		"SERVER SILENT from 5.69 s into the window on (all 10 connections were still waiting for an answer when the run ended)": {Of: 10, Unanswered: 10, SinceS: 5.69, LostUS: 4.3e6},
		" 0": {Of: 4, Unanswered: 4, SinceS: 1, LostUS: 3.2e6},   // one from 1 s on, the others from 8 s on
		" 1": {Of: 20, Unanswered: 20, SinceS: 2, LostUS: 0.4e6}, // one; the others only at the end
		" 2": {Of: 1, Unanswered: 1, SinceS: 6, LostUS: 5e6},     // and another time before
		" 3": {Of: 10, Unanswered: 9, SinceS: 5.69, LostUS: 4.3e6},
		"PROXY SILENT from 5.69 s into the window on (all 10 connections were still waiting for an answer when the run ended)": {Of: 10, Unanswered: 10, SinceS: 5.69, LostUS: 4.3e6, Peer: fact.Proxy},
	} {
		a.WindowUS = 1e7
		if got := Gone(fact.Fact{Args: a}); got != want && (want[0] != ' ' || got != "") {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// What parts of a load have is said once if it is said alike, with the parts, unless all have it.
func TestMergeParts(t *testing.T) {
	busy := func(percent float64) *fact.Fact {
		return &fact.Fact{Severity: fact.Error, Args: fact.Busy{Percent: percent}}
	}
	for _, c := range []struct {
		found []*fact.Fact
		want  string
	}{
		{[]*fact.Fact{nil, nil}, ""},
		{[]*fact.Fact{busy(98)}, "98 %"},
		{[]*fact.Fact{busy(98), busy(98.4)}, "98 %"},
		{[]*fact.Fact{nil, busy(98), busy(98.4)}, "each of generators 2 and 3 (of 3) was busy 98 %"},
		{[]*fact.Fact{busy(99), busy(98), busy(99)}, "each of generators 1 and 3 (of 3) was busy 99 %; generator 2 (of 3) was busy 98 %"},
	} {
		var said []string
		all, _ := MergeParts(c.found)
		for _, f := range all {
			said = append(said, strings.NewReplacer("the generator was busy ", "",
				" of the time: it was at its limit, and the server may do more", "").Replace(Sentence(f)))
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Of facts that are said alike, the worst stands for all, whichever part has it.
func TestMergePartsWorst(t *testing.T) {
	mild := &fact.Fact{Severity: fact.Warning, Args: fact.Unscheduled{Percent: 19.6}}
	worst := &fact.Fact{Severity: fact.Error, Args: fact.Unscheduled{Percent: 20.4}}
	for i, found := range [][]*fact.Fact{{worst, mild, nil}, {mild, worst, nil}} {
		all, of := MergeParts(found)
		if len(all) != 1 || all[0].Severity != fact.Error || all[0].Args != worst.Args || len(all[0].Scope.Parts) != 2 ||
			of[0] != i {
			t.Errorf("%+v, of %d", all, of)
		}
	}
}

// A text begins with a capital, but what somebody else said and names stay as they are.
func TestStart(t *testing.T) {
	php := fact.Scope{Variant: "php"}
	for want, f := range map[string]fact.Fact{
		`The server of "php" spoiled 1 of its 2 trials (x); nothing else disturbed the machine`: {Scope: php, Args: fact.ServerSpoiled{Trials: 1,
			Of: 2, Why: "x"}},
		`"newUuid" is the name of a function; choose another name`: {Args: fact.InScenario{Of: fact.NameOfFunction, Name: "newUuid"}},
		"wrk, because it is not installed":                         {Args: fact.SettingSkipped{Setting: fact.WithWrk, Why: fact.NotInstalled}},
		"connection refused":                                       {Args: fact.LoadStopped{Why: "connection refused"}},
		"what it was":                                              {Args: fact.Told{Text: "what it was"}},
		"shop.example: connection refused":                         {Args: fact.LoadStopped{Why: "shop.example: connection refused"}},
		"The system does not tell how many connections were opened: open x: gone": {Args: fact.OpensUnknown{Why: fact.Unreadable, Text: "open x: gone"}},
	} {
		if got := Start(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Facts of a kind that differ in amounts alone are one sentence with the range of each. What is no amount, and another
// remedy, keeps them apart.
func TestMerge(t *testing.T) {
	busy := func(percent float64, setting string) fact.Fact {
		return fact.Fact{Severity: fact.Warning, Args: fact.Busy{Percent: percent}, Remedies: []fact.Remedy{{Setting: setting, Value: fact.Higher}}}
	}
	share := func(by fact.Deprived, percent float64) fact.Fact {
		return fact.Fact{Args: fact.MachineShare{By: by, Percent: percent, Periods: int64(percent)}}
	}
	pause := func(us float64) fact.Fact { return fact.Fact{Args: fact.GCPause{LongestUS: us}} }
	changed := func(after string) fact.Fact {
		return fact.Fact{Args: fact.AnswerChanged{Aspect: "status", Before: "200", After: after}}
	}
	late := func(of int, parts ...int) fact.Fact {
		return fact.Fact{Scope: fact.Scope{Parts: parts, OfParts: of}, Args: fact.NoFile{Times: 1}}
	}
	const none = "no file descriptor was left for a connection, 1 time; raise the limit (ulimit -n)"
	const near = " of the time, near its limit: some of the latency is the generator's; "
	for _, c := range []struct {
		all  []fact.Fact
		want string
	}{
		{nil, "[]"},
		{[]fact.Fact{busy(84, "threads"), busy(81, "threads"), busy(86, "threads")},
			"[the generator was busy 81 to 86 %" + near + "add threads (the level's threads) [0 1 2]]"},
		{[]fact.Fact{busy(84, "threads"), busy(84.3, "cpus")}, "[the generator was busy 84 %" + near +
			"add threads (the level's threads) [0] the generator was busy 84 %" + near + "give the generator more CPUs (design: {cpus: {generator: LIST}}) [1]]"},
		{[]fact.Fact{share(fact.ByOthers, 62), share(fact.ByOthers, 25), share(fact.ByOthers, 40)},
			"[other programs used at least 25 % of the machine's CPUs, in the worst trial 62 % [0 1 2]]"},
		{[]fact.Fact{share(fact.ByOthers, 25), share(fact.ByOthers, 25)}, "[other programs used at least 25 % of the machine's CPUs [0 1]]"},
		{[]fact.Fact{share(fact.ByQuota, 1), share(fact.ByQuota, 3)},
			"[the CPU quota of dyno's cgroup took 1 to 3 % of the CPUs' time, in 1 to 3 periods [0 1]]"},
		{[]fact.Fact{pause(900), pause(1100)}, "[garbage collection stopped the generator for up to 900 µs to 1.1 ms: the highest latencies may contain this delay [0 1]]"},
		{[]fact.Fact{pause(800), pause(900)}, "[garbage collection stopped the generator for up to 800 to 900 µs: the highest latencies may contain this delay [0 1]]"},
		{[]fact.Fact{changed("404"), changed("503"), changed("404")},
			"[after the load the server answers otherwise: status was 200 and is 404 [0 2] after the load the server answers otherwise: status was 200 and is 503 [1]]"},
		{[]fact.Fact{late(3, 1), late(3, 1)}, "[on generator 1 (of 3): " + none + " [0 1]]"},
		{[]fact.Fact{late(3, 2), late(3, 1)}, "[on generators 1 and 2 (of 3): " + none + " [0 1]]"},
		{[]fact.Fact{late(2, 2), late(2, 1)}, "[" + none + " [0 1]]"},
		{[]fact.Fact{late(2, 2), late(0)}, "[" + none + " [0 1]]"},
	} {
		var said []string
		for _, s := range Merge(c.all, setting.Key) {
			said = append(said, fmt.Sprintf("%s %v", s.Text, s.Of))
		}
		if got := fmt.Sprint(said); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
