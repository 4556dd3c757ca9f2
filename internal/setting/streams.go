package setting

import (
	"errors"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/stream"
)

// streamRows are how answers are read as streams of events.
var streamRows = []Setting{
	{Name: "stream", Value: "FORMAT", Group: streamGroup, On: All,
		Does: "answers are streams of events: sse, ndjson or chunks; or those of\n" +
			"openai, anthropic or ollama. Without --timeout they have 10m, without\n--drain 30s",
		Values: stream.Formats,
		Access: Access{Set: setStream, Text: func(p *loadplan.Plan) []string {
			return oneText(p.Stream.Format)
		}},
		Field: "Format", Form: &Form{Does: "answers are streams of events"},
		Compare: &Form{Hint: Hint{Label: "Streams"}, Does: "answers are streams of events: sse, " +
			"ndjson, chunks, openai, anthropic or ollama"},
		Key: "workload.stream.format", Schema: KeyWords{oneOf, "how events are told apart"},
		Says: func(p *loadplan.Plan) string {
			if !p.Stream.IsSet() {
				return ""
			}
			return "streams of " + p.Stream.Format
		},
		Stored: "how events are told apart", StoredType: oneOf},
	{Name: "stream-count", Value: "PATH", Group: streamGroup, On: All,
		Does: "count events that have something at this path, as $.delta, in\n" +
			"place of all with data; {again}",
		Access: each(func(p *loadplan.Plan) *[]string { return &p.Stream.Count }, parseText,
			func(s string) string { return s }),
		Field: "Count", Form: &Form{},
		Key: "workload.stream.count", Schema: KeyWords{`"$ref": "#/$defs/textorlist"`, "paths in " +
			"an event's JSON, as $.delta: it counts if it has something at one of them; default: the " +
			"format's own, or all with data"},
		Stored: "paths in an event's JSON: it counts if it has something at one of them; absent: the " +
			"format's own, or all with data"},
	{Name: "stream-tokens", Value: "PATH", Group: streamGroup, On: All,
		Does:   "where an event has the server's number of tokens; the last counts",
		Access: text(func(p *loadplan.Plan) *string { return &p.Stream.Tokens }),
		Field:  "Tokens", Form: &Form{},
		Key: "workload.stream.tokens", Schema: KeyWords{`"type": "string"`, "path of the server's " +
			"number of tokens; default: the format's own, or none"},
		Stored: "path of the server's number of tokens; absent: the format's own, or none"},
	{Name: "stream-end", Value: "TEXT|PATH", Group: streamGroup, On: All,
		Does: "what a stream must end with: the data of an event, as [DONE], or a\n" +
			"path, as $.done or $.type==stop",
		Access: text(func(p *loadplan.Plan) *string { return &p.Stream.End }),
		Field:  "End", Form: &Form{},
		Key: "workload.stream.end", Schema: KeyWords{`"type": "string"`, "what a stream must end " +
			"with: the data of an event, as [DONE], or a path, as $.done; default: the format's own, " +
			"or nothing"},
		Stored: "what a stream must end with, data or a path; absent: the format's own, or nothing"},
	{Name: "stream-error", Value: "PATH", Group: streamGroup, On: All,
		Does: "an event that has something here says that the stream failed, as\n" +
			"one that is called error does",
		Access: text(func(p *loadplan.Plan) *string { return &p.Stream.Error }),
		Field:  "Error", Form: &Form{},
		Key: "workload.stream.error", Schema: KeyWords{`"type": "string"`, "path of what says that " +
			"a stream failed; default: the format's own, or none"},
		Stored: "path of what says that a stream failed; absent: the format's own, or none"},
	{Name: "stream-take", Value: "N|D|end", Group: streamGroup, On: All,
		Does: "users leave a stream behind N counted events, or a time D behind the\n" +
			"first; then it is complete (end)",
		Access: Access{Set: setTake, Text: func(p *loadplan.Plan) []string {
			return oneText(p.Stream.Take)
		}},
		Field: "Take", Form: &Form{}, Compare: &Form{Hint: Hint{Label: "Users leave a stream",
			Default: "at its end"}, Does: "behind so many counted events, or so long behind the " +
			"first, as 30s"},
		Key: "workload.stream.take", Schema: KeyWords{`"type": ["string", "integer"]`, "when users " +
			"leave a stream: behind so many counted events, as 100, or so long behind the first, as " +
			"30s; default: at its end"},
		Stored: "when users leave a stream: behind so many counted events, or so long behind the " +
			"first, as 30s; absent: at its end"},
	{Name: "goodput", Value: "LIMITS", Group: streamGroup, On: All,
		Does: "count requests that keep all these limits, as latency<500ms or\n" +
			"first_event<500ms,token_time<60ms,gap.max<2s; without streams, too",
		Access: text(func(p *loadplan.Plan) *string { return &p.Goodput }),
		Field:  "Goodput", Form: &Form{}, Stored: "limits that a good request keeps; absent: none",
		Compare: &Form{Hint: Hint{Label: "Good requests"}},
		Key:     "workload.goodput", Schema: KeyWords{`"$ref": "#/$defs/textorlist"`, "limits that a " +
			"good request keeps, all of them, as [first_event<500ms, token_time<60ms]; the metrics " +
			"good and goodput count these"}},
	{Name: "stall", Value: "D", Group: streamGroup, On: All,
		Does: "an error: a longer silence behind the first event (30s; 0: none)",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Stream.Stall }).showing(
			func(p *loadplan.Plan, _ bool) bool {
				return p.Stream.IsSet() && p.Stream.Stall != loadplan.StreamStall
			}),
		Field: "Stall", Form: &Form{Hint: Hint{Unit: "s"}},
		Key: "workload.stream.stall", Schema: KeyWords{`"$ref": "#/$defs/duration"`,
			"longest silence behind the first event; a longer one is an error; default 30s; 0: any"},
		Stored: "longest silence behind the first event; absent: any"},
}

const streamGroup = "Streams"

// setStream sets the format.
func setStream(p *loadplan.Plan, format string) error {
	switch {
	case format == "":
		return ErrNoValue
	case strings.Trim(format, "0123456789") == "":
		return errors.New("is a format, as sse; --streams is a number of requests at once")
	}
	p.Stream.Format = format
	return nil
}

// setTake sets when users leave a stream.
func setTake(p *loadplan.Plan, take string) error {
	if take == "" {
		return ErrNoValue
	}
	set := loadplan.Stream{Take: take}
	if take == "end" {
		set.Take = ""
	}
	_, _, err := set.Taken()
	if err == nil { // else the plan would have the fault, too
		p.Stream.Take = set.Take
	}
	return err
}

// parseText parses a text that is not empty.
func parseText(s string) (string, error) {
	if s == "" {
		return "", ErrNoValue
	}
	return s, nil
}
