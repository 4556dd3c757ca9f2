package sample

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/view/format"
)

// shownBody is how many bytes of a body are shown.
const shownBody = 4 << 10

// WriteMessage writes a request or a response much as curl -v does: each line behind a mark, the
// head, the fields, then the beginning of a body of so many bytes. Of a body that is not whole it
// is -1.
func WriteMessage(b *strings.Builder, mark, head string, fields []proto.Field, body []byte,
	bytes int64) {
	fmt.Fprintf(b, "%s%s\n", mark, head)
	for _, f := range fields {
		fmt.Fprintf(b, "%s%s: %s\n", mark, f.Name, f.Value)
	}
	if bytes == 0 || bytes < 0 && len(body) == 0 {
		return
	}
	fmt.Fprintln(b, strings.TrimRight(mark, " "))
	whole := len(body)
	if body = body[:min(whole, shownBody)]; !utf8.Valid(body) {
		fmt.Fprintf(b, "%s%s that are no text\n", mark, format.Plural(max(bytes, int64(whole)), "byte"))
		return
	}
	for line := range strings.Lines(string(body)) {
		fmt.Fprintf(b, "%s%s\n", mark, strings.TrimRight(line, "\r\n"))
	}
	if bytes > int64(len(body)) {
		fmt.Fprintf(b, "%s… %s in all\n", mark, format.Plural(bytes, "byte"))
	}
}

// Split returns the samples of the requests that a run was to show, and the others.
func Split(all []loadresult.Sample) (shown, others []loadresult.Sample) {
	for _, s := range all {
		if s.Phase == loadresult.Shown {
			shown = append(shown, s)
		} else {
			others = append(others, s)
		}
	}
	return shown, others
}

// Shown writes the requests of a run and what was answered, much as curl -v does.
func Shown(w io.Writer, samples []loadresult.Sample) error {
	var b strings.Builder
	for i, s := range samples {
		writeShown(&b, i+1, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeShown(b *strings.Builder, n int, s loadresult.Sample) {
	fmt.Fprintf(b, "* request %d", n)
	if s.Step != "" {
		fmt.Fprintf(b, ", %s", format.PlainLine(s.Step))
	}
	fmt.Fprintf(b, ", on connection %d to %s\n", s.Connection+1, s.Address)
	r := &s.Request
	head := strings.TrimRight(r.Method+" "+r.Path+" "+versionText(s.Protocol), " ")
	WriteMessage(b, "> ", head, s.SentFields(), r.Body, s.RequestBytes)
	took := exactText(s.Ended - s.Sent)
	if s.Status == 0 {
		fmt.Fprintf(b, "* no response: %s, after %s\n\n", format.PlainLine(s.Detail), took)
		return
	}
	fields := slices.Concat(s.Fields, s.Trailers)
	head = strings.TrimLeft(fmt.Sprint(versionText(s.Protocol), " ", s.Status), " ")
	if len(s.Events) > 0 {
		WriteMessage(b, "< ", head, fields, nil, 0)
		writeEvents(b, &s.Seen)
	} else {
		WriteMessage(b, "< ", head, fields, s.Body, s.BodyBytes)
	}
	if s.LeftOut > 0 {
		fmt.Fprintf(b, "* %s left out\n", format.Plural(int64(s.LeftOut), "field"))
	}
	if len(s.Body)+len(s.Events) == 0 && s.BodyBytes > 0 {
		b.WriteString("* the body is compressed, and cannot be searched for secrets\n")
	}
	switch {
	case s.Detail != "":
		fmt.Fprintf(b, "* the response is not whole: %s, after %s\n\n", format.PlainLine(s.Detail), took)
	default:
		fmt.Fprintf(b, "* answered after %s\n\n", took)
	}
}

// shownEvent is how many characters of an event are shown.
const shownEvent = 100

// writeEvents writes when each event came, its size, and how its data begin.
func writeEvents(b *strings.Builder, s *loadresult.Seen) {
	b.WriteString("<\n")
	for _, e := range s.Events {
		note := ""
		if !e.Counted {
			note = ", not counted"
		}
		text := format.Clip(format.PlainLine(string(e.Text)), shownEvent)
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("< +%.2f ms, %s%s: %s",
			float64(e.After)/1e6, format.Plural(int64(e.Bytes), "byte"), note, text), ": "))
	}
	if s.More > 0 {
		fmt.Fprintf(b, "* %s more\n", format.Plural(int64(s.More), "event"))
	}
}

// versionText is a protocol as request lines have it; "" if it is not known any more.
func versionText(protocol string) string {
	if n, is := strings.CutPrefix(protocol, "h"); is && len(n) == 1 {
		return "HTTP/" + n
	}
	return strings.ToUpper(protocol)
}

func exactText(d time.Duration) string { return format.Micros(float64(d) / 1e3) }
