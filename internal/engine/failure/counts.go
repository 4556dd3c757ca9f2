package failure

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// Counts are failures by what a user would distinguish: phase, kind and address.
type Counts map[counted]*loadresult.Failure

type counted struct {
	Kind
	addr ring.Addr
}

// count counts one more of what key says. Only of the first one detail is asked.
func (f Counts) count(key counted, detail func() string) {
	known := f[key]
	if known == nil {
		known = &loadresult.Failure{Phase: key.Phase, Kind: key.Name, Detail: detail()}
		if key.addr != (ring.Addr{}) {
			known.Address = key.addr.String()
		}
		f[key] = known
	}
	known.Count++
}

// CountFailure counts a failure of a connection, or of a request without a complete answer.
func (f Counts) CountFailure(phase loadresult.Phase, addr ring.Addr, err error) {
	key := counted{Of(phase, err), addr}
	f.count(key, func() string { return Describe(err) })
	if f[key].Count > 1 {
		return
	}
	f[key].Remedies = Remedies(err)
	if unfinished, is := errors.AsType[*Unfinished](err); is {
		f[key].Unfinished = &unfinished.AnswerUnfinished
	}
}

// CountAnswer counts a complete answer that is an error. reason is what a scenario says of it; nil:
// nothing.
func (f Counts) CountAnswer(k Kind, status uint16, addr ring.Addr, reason error) {
	key := counted{k, addr}
	f.count(key, func() string {
		if reason != nil && (k.Phase == loadresult.Check || k.Phase == loadresult.Stream) {
			return oneLine(reason.Error())
		}
		return k.AnswerDetail(status)
	})
	if k.Phase == loadresult.Check && f[key].Count == 1 {
		f[key].Status = status
	}
}

// CountRefusal counts a request that was not sent because the scenario could not make it.
func (f Counts) CountRefusal(reason error) {
	f.count(counted{Kind: OfCheck(loadresult.Refused)}, func() string {
		return oneLine(reason.Error())
	})
}

// mostReason is how many bytes of a scenario's error are kept.
const mostReason = 300

// oneLine is a text on one line, cut where it is long.
func oneLine(s string) string {
	if s = strings.Join(strings.Fields(s), " "); len(s) > mostReason {
		return strings.ToValidUTF8(s[:mostReason], "") + "…"
	}
	return s
}

// AddCounts adds failures that were counted elsewhere.
func (f Counts) AddCounts(from Counts) {
	for key, more := range from {
		if known := f[key]; known != nil {
			known.Count += more.Count
			continue
		}
		first := *more
		f[key] = &first
	}
}

// ByFrequency returns all failures, the most frequent first, and consequences (Behind) last.
func (f Counts) ByFrequency() []loadresult.Failure {
	if len(f) == 0 {
		return nil
	}
	all := make([]loadresult.Failure, 0, len(f))
	for known := range maps.Values(f) {
		all = append(all, *known)
	}
	slices.SortFunc(all, loadresult.CompareFrequency)
	return all
}

// Dismissals are notices of how many connections the peer ended, for each reason that it sent.
func (f Counts) Dismissals() (notices []fact.Fact) {
	for _, why := range f.ByFrequency() {
		notices = append(notices, fact.Noticed(fact.ConnectionsEnded{Count: why.Count, Why: why.Detail},
			why.Remedies...))
	}
	return notices
}

// PhaseOf is the phase of a codec's failure: Read if the connection only ended too early,
// Protocol if the peer broke a rule.
func PhaseOf(err error) loadresult.Phase {
	var f *proto.Fault
	if errors.As(err, &f) && (f.Kind == proto.FaultClosed || f.Kind == proto.FaultTruncated) {
		return loadresult.Read
	}
	return loadresult.Protocol
}
