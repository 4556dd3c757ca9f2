package fairness

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// An aspect is one thing that is compared.
type aspect struct {
	name string
	show func(*Answer) string

	judge func(ref, a *Answer, ok allowed) State // nil: equal is what is shown alike
	bytes func(*Answer) *Span                    // what is quantified, if anything is
	has   func(*Answer) bool                     // nil: every answer has it
}

// aspects are all of them, in the table's order. Headers stand behind
// header_names.
var aspects = []aspect{
	{name: "status", show: showStatus, judge: judgeStatus},
	{name: "reason", show: showReason, judge: judgeReason},
	{name: "version", show: func(a *Answer) string { return a.Version }},
	{name: "interim", show: showInterim, judge: judgeInterim},
	{name: "header_names", show: showNames, judge: judgeNames},
	{name: "header_bytes", show: showHeaderBytes,
		judge: judgeHeaderBytes, bytes: func(a *Answer) *Span { return &a.HeaderBytes }},
	{name: "body", show: showBody, judge: judgeBody, has: (*Answer).isWhole},
	{name: "body_bytes", show: func(a *Answer) string { return a.BodyBytes.String() },
		judge: judgeBodyBytes, has: (*Answer).isWhole,
		bytes: func(a *Answer) *Span { return &a.BodyBytes }},
	{name: "events", show: showEvents, judge: judgeEvents, has: (*Answer).hasEvents},
	{name: "tokens", show: showTokens, judge: judgeTokens, has: (*Answer).hasTokens},
	{name: "stream_end", show: showEnd, has: func(a *Answer) bool { return a.Stream != nil }},
	{name: "trailer", show: showTrailer, judge: judgeTrailer, has: (*Answer).isCompressed},
	{name: "framing", show: func(a *Answer) string { return string(a.Framing) }, judge: judgeFraming},
	{name: "wire_bytes", show: showWireBytes,
		judge: judgeWireBytes, has: (*Answer).isWhole,
		bytes: func(a *Answer) *Span { return &a.WireBytes }},
	{name: "content_encoding", show: func(a *Answer) string { return orNoneText(a.Encoding) }},
	{name: "gzip", show: showGzip, judge: judgeGzip},
	{name: "keep_alive", show: showKept, judge: judgeKept},
	{name: "date", show: func(a *Answer) string { return string(a.Date) }, judge: judgeDate},
	{name: "unknown_path", show: showUnknown, judge: judgeUnknown},
	{name: "stability", show: showStability, judge: judgeStability},
	{name: "new_connections", show: showOpens, judge: judgeOpens},
	{name: "tls", show: showTLS, judge: judgeTLS},
}

func (s *aspect) compareAnswers(ref, a *Answer, ok allowed) State {
	if s.judge != nil {
		return s.judge(ref, a, ok)
	}
	return equalityState(s.show(ref) == s.show(a))
}

func equalityState(same bool) State {
	if same {
		return Equal
	}
	return Violating
}

// explainedState is the state of a difference that is there, or not, besides what is
// allowed.
func explainedState(plain, residual bool) State {
	switch {
	case plain:
		return Equal
	case residual:
		return Allowed
	}
	return Violating
}

// String is the span as one reads it, without unit.
func (s Span) String() string {
	if s.Min == s.Max {
		return fmt.Sprint(s.Min)
	}
	return fmt.Sprintf("%d to %d, mean %.1f", s.Min, s.Max, s.Mean)
}

// overlapsWith is how spans are the same: two that vary need not have the same ends.
func (s Span) overlapsWith(t Span) bool { return s.Min <= t.Max && t.Min <= s.Max }

func (s Span) isBelow(n int64) Span { return Span{Min: s.Min - n, Max: s.Max - n} }

// judgeStatus takes statuses that vary for the same if both servers have the same ones: how often
// each comes is chance.
func judgeStatus(ref, a *Answer, _ allowed) State {
	return equalityState(slices.Equal(ref.AllStatuses(), a.AllStatuses()))
}

// AllStatuses are the statuses of all exchanges, each once, in order.
func (a *Answer) AllStatuses() []int {
	if a.Statuses == nil {
		return []int{a.Status}
	}
	return slices.Sorted(maps.Keys(a.Statuses))
}

func showStatus(a *Answer) string {
	if a.Statuses == nil {
		return fmt.Sprint(a.Status)
	}
	var parts []string
	for _, code := range a.AllStatuses() {
		parts = append(parts, fmt.Sprintf("%d in %d of %d answers", code, a.Statuses[code], a.Exchanges))
	}
	return strings.Join(parts, ", ")
}

func judgeNames(ref, a *Answer, ok allowed) State {
	ok, none := ok.withoutHops(ref, a), allowed{}.withoutHops(ref, a)
	one, _ := ok.headerNames(ref)
	two, _ := ok.headerNames(a)
	all1, _ := none.headerNames(ref)
	all2, _ := none.headerNames(a)
	return explainedState(slices.Equal(all1, all2), slices.Equal(one, two))
}

func judgeHeaderBytes(ref, a *Answer, ok allowed) State {
	if ref.hasLines() != a.hasLines() {
		return Unseen
	}
	one, two := ref.HeaderBytes.isBelow(ok.headerBytes(ref)), a.HeaderBytes.isBelow(ok.headerBytes(a))
	return explainedState(ref.HeaderBytes.overlapsWith(a.HeaderBytes), one.overlapsWith(two))
}

// headerBytes is how many bytes of a header may differ: lines, and the reason.
func (a allowed) headerBytes(in *Answer) int64 {
	_, n := a.headerNames(in)
	if a.hasName("reason") || a.hasName("status") {
		n += int64(len(in.Reason))
	}
	return n
}

func judgeBody(ref, a *Answer, _ allowed) State {
	if slices.Contains(ref.Varies, "body") && slices.Contains(a.Varies, "body") {
		return Equal
	}
	one, two := ref.BodySHA256, a.BodySHA256
	if ref.BodyNeutral != "" && a.BodyNeutral != "" {
		one, two = ref.BodyNeutral, a.BodyNeutral
	}
	same := one == two && ref.BodyCut == a.BodyCut
	varies, refVaries := slices.Contains(a.Varies, "body"), slices.Contains(ref.Varies, "body")
	return equalityState(same && varies == refVaries)
}

func judgeBodyBytes(ref, a *Answer, _ allowed) State {
	return equalityState(ref.BodyBytes.overlapsWith(a.BodyBytes))
}

// judgeWireBytes takes off what is allowed to differ, which with an allowed body
// is all behind the header, and with allowed framing what framing adds to it.
func judgeWireBytes(ref, a *Answer, ok allowed) State {
	if ref.hasLines() != a.hasLines() || ref.isCompressed() || a.isCompressed() {
		return Unseen
	}
	rest := func(in *Answer) Span {
		s := in.WireBytes
		switch {
		case ok.hasName("body-bytes"):
			s = in.HeaderBytes
		case ok.hasName("framing"):
			s = Span{Min: in.HeaderBytes.Min + in.BodyBytes.Min,
				Max: in.HeaderBytes.Max + in.BodyBytes.Max}
		}
		return s.isBelow(ok.headerBytes(in))
	}
	same := func(one, two Span) bool {
		return one.overlapsWith(two) ||
			ref.Framing == a.Framing && a.Framing.isPieces() && one.isNear(two)
	}
	return explainedState(same(ref.WireBytes, a.WireBytes), same(rest(ref), rest(a)))
}

// isPieces reports whether the server cuts the body, and adds bytes to each piece.
func (f Framing) isPieces() bool { return f == ByChunks || f == ByRecords }

// isNear is how the bytes of two chunked responses are the same: how many chunks
// make up a long body, and so a few bytes, is a matter of time.
func (s Span) isNear(t Span) bool {
	const thousandth = 1000
	return max(s.Min-t.Max, t.Min-s.Max)*thousandth <= min(s.Max, t.Max)
}

func judgeGzip(ref, a *Answer, _ allowed) State {
	one, two := ref.Gzip, a.Gzip
	if one == nil || two == nil {
		return Unseen
	}
	return attemptState(one.Problem, two.Problem, one.Encoding == two.Encoding)
}

func judgeUnknown(ref, a *Answer, _ allowed) State {
	one, two := ref.Unknown, a.Unknown
	if one == nil || two == nil || ref.Statuses != nil || a.Statuses != nil {
		return Unseen // where the status varies, that of one answer is chance
	}
	return attemptState(one.Problem, two.Problem, *one == *two)
}

// attemptState is the state of what may have failed: two failures are not compared,
// as their words differ without meaning.
func attemptState(problem1, problem2 string, same bool) State {
	if problem1 != "" && problem2 != "" {
		return Unseen
	}
	return equalityState(problem1 == problem2 && same)
}

// judgeKept compares how far both were asked: one that had no time for as many
// exchanges as the other needed to be closed is not known.
func judgeKept(ref, a *Answer, _ allowed) State {
	one, two := ref.Kept, a.Kept
	switch {
	case one == nil || two == nil:
		return equalityState(one == two)
	case one.End == EndCut || two.End == EndCut:
		return Unseen
	case one.End.isOpen() && two.End.isOpen():
		return Equal
	case one.End.isOpen():
		return stateBeyond(one, two)
	case two.End.isOpen():
		return stateBeyond(two, one)
	}
	return equalityState(*one == *two)
}

// isOpen reports whether the server would have gone on.
func (e End) isOpen() bool { return e == EndAsked || e == EndTime }

func stateBeyond(open, closed *Kept) State {
	if closed.Served > open.Served {
		return Unseen
	}
	return Violating
}

// judgeDate takes a Date that was not asked for twice for one that is there.
func judgeDate(ref, a *Answer, _ allowed) State {
	unasked := ref.Date == DateUnasked || a.Date == DateUnasked
	absent := ref.Date == DateAbsent || a.Date == DateAbsent
	if unasked && !absent && ref.Date != a.Date {
		return Unseen
	}
	return equalityState(ref.Date == a.Date)
}

func judgeStability(ref, a *Answer, ok allowed) State {
	return explainedState(slices.Equal(ref.Varies, a.Varies),
		slices.Equal(ok.varyingNames(ref), ok.varyingNames(a)))
}

func judgeOpens(ref, a *Answer, _ allowed) State {
	one, two := ref.Opens.PerExchange, a.Opens.PerExchange
	if one == nil || two == nil {
		return Unseen
	}
	return equalityState(math.Abs(*one-*two) < surely)
}

func showHeader(a *Answer, name string) string {
	value, has := valueOf(a.Header, name)
	switch {
	case !has:
		return "absent"
	case slices.Contains(a.Varies, "header "+name):
		return clipText(value) + " (varies)"
	case name == "server":
		return fmt.Sprintf("%s (%d bytes)", clipText(value), len(value))
	}
	return clipText(value)
}

// clipText bounds what a server may write into a table.
func clipText(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

func orNoneText(s string) string {
	if s == "" {
		return "none"
	}
	return clipText(s)
}

func showNames(a *Answer) string {
	var names []string
	for _, l := range a.Header {
		names = append(names, l.Name)
	}
	return orNoneText(strings.Join(names, ", "))
}

func showBody(a *Answer) string {
	s := "sha256 " + a.BodySHA256[:min(12, len(a.BodySHA256))]
	if a.BodyStart != "" {
		s += fmt.Sprintf(" %q", a.BodyStart)
	}
	if a.BodyCut {
		s += fmt.Sprintf(" (only the first %d MiB were read)", maxBody>>20)
	}
	if slices.Contains(a.Varies, "body") {
		s = "several bodies, the first " + s
	}
	return s
}

func showGzip(a *Answer) string {
	switch g := a.Gzip; {
	case g == nil:
		return "not asked"
	case g.Problem != "":
		return clipText(g.Problem)
	case g.Encoding != "":
		return clipText(g.Encoding) + " when accepted"
	}
	return "none when accepted"
}

func showKept(a *Answer) string {
	switch k := a.Kept; {
	case k == nil:
		return "not asked for"
	case k.End == EndAsked:
		return fmt.Sprintf("kept for all %d requests", k.Asked)
	default:
		return fmt.Sprintf("%d of %d requests: %s", k.Served, k.Asked, k.End)
	}
}

func showUnknown(a *Answer) string {
	switch u := a.Unknown; {
	case u == nil:
		return "not asked"
	case u.Problem != "":
		return clipText(u.Problem)
	case !a.isWhole():
		return fmt.Sprint(u.Status)
	case u.SameBody:
		return fmt.Sprintf("%d, the same body", u.Status)
	default:
		return fmt.Sprintf("%d, another body", u.Status)
	}
}

func showStability(a *Answer) string {
	if len(a.Varies) == 0 {
		return "nothing varies"
	}
	return clipText(strings.Join(a.Varies, ", ") + " vary")
}

func showOpens(a *Answer) string {
	if n := a.Opens.PerExchange; n != nil {
		return fmt.Sprintf("%.2f per request", *n)
	}
	return "not known: " + a.Opens.Problem
}
