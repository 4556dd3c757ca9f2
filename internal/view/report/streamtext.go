package report

import (
	"fmt"

	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// streamRows are what came of streams of events, and how many requests kept the limits.
func streamRows(r *result.Result) (all []document.Row) {
	add := func(name, text string) {
		if text != "" {
			all = append(all, document.Row{Name: name, Text: text})
		}
	}
	if s := r.Stream; s != nil {
		add("first event", firstEventText(s))
		add("gap", gapText(s))
		add("events", eventsText(s))
		add("tokens", tokensText(s))
	}
	if g := r.Goodput; g != nil {
		add("good", fmt.Sprintf("%s, %s/s (%s)", format.Percentage(g.Share, 3), format.Digits3(g.Rate),
			format.PlainLine(g.Limits)))
	}
	return all
}

// firstEventText is how long first events took, from when streams were due.
func firstEventText(s *streamed.Stream) string {
	if s.First == nil {
		return "none"
	}
	text := quantilesText(s.First, "p50", "p99", "max")
	if s.Service != nil && tailText(s.First) != tailText(s.Service) {
		text += fmt.Sprintf(" (%s from sending)", tailText(s.Service))
	}
	return text
}

// gapText is how long there was between the arrivals of a stream.
func gapText(s *streamed.Stream) string {
	if s.Gap == nil {
		return ""
	}
	text := quantilesText(s.Gap, "p50", "p99", "max")
	if share := s.Gathered(); share > 0 {
		text += fmt.Sprintf("; %s of the events came with another", format.Percentage(share, 2))
	}
	if c := s.Cut; c != nil {
		text += fmt.Sprintf("; %s cut, silent for up to %s", format.Plural(c.Count, "stream"),
			format.Micros(c.Silence))
	}
	return text
}

// eventsText is how many events came.
func eventsText(s *streamed.Stream) string {
	text := fmt.Sprintf("%s/s", format.Digits3(s.Rate.Events))
	if n := s.Each.Events; n != nil {
		text += fmt.Sprintf("; p50 %s a stream", format.Digits3(n.P50))
	}
	if s.Counted < s.Events {
		text += fmt.Sprintf("; %s of %s with data are counted", format.Count(s.Counted),
			format.Count(s.Events))
	}
	if s.Taken > 0 {
		text += fmt.Sprintf("; users left %s", format.Plural(s.Taken, "stream"))
	}
	return text
}

// tokensText is how many tokens came, by the server's count; "" if it told none.
func tokensText(s *streamed.Stream) string {
	if s.Tokens == 0 {
		return ""
	}
	text := fmt.Sprintf("%s/s", format.Digits3(s.Rate.Tokens))
	if n := s.Each.Tokens; n != nil {
		text += fmt.Sprintf("; p50 %s a stream", format.Digits3(n.P50))
	}
	if s.Token != nil {
		text += "; token time " + quantilesText(s.Token, "p50", "p99")
	}
	return text
}

// streamTail is what a verdict says of streams: how late they begin, and how long they pause.
func streamTail(s *streamed.Stream) string {
	if s.First == nil {
		return "no event that counts"
	}
	text := "first event " + tailText(s.First)
	if s.Gap != nil {
		text += ", gap " + tailText(s.Gap)
	}
	return text
}
