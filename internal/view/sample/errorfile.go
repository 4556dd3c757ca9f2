// Package sample writes single requests with their responses as text: those that failed, and those
// that a run was to show.
//
//	errorfile.go   a file about a request that failed
//	shown.go       requests as curl -v shows them
package sample

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/view/format"
)

// ErrorFileName is a name for the file of the nth sample of a run, from 1, with the error's kind:
// 0001-expect-status-500.txt. It has letters, digits and hyphens only, whatever a check is called.
func ErrorFileName(n int, s loadresult.Sample) string {
	const most = 60
	words := string(s.Phase) + "-" + s.Kind
	if s.Phase == loadresult.Expect {
		words += "-" + s.Detail
	}
	name := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(words))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return fmt.Sprintf("%04d-%s.txt", n, strings.Trim(name[:min(len(name), most)], "-"))
}

// ErrorFile writes a sample of an error as text for people: when it happened and where, the
// request, and the response as far as there was one, both as lines of header and a body, whatever
// the protocol. In bodies, control characters and bytes that are no UTF-8 are written as \u001b and
// \x9b; elsewhere a dot stands for them.
func ErrorFile(w io.Writer, s loadresult.Sample) error {
	var b bytes.Buffer
	line := func(name, form string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, format.PlainLine(fmt.Sprintf(form, args...)))
	}
	line("error", "%s %s: %s", s.Phase, s.Kind, s.Detail)
	line("due", "%s after the window began", exactSeconds(s.Due))
	line("sent", "%s after it was due", exactSeconds(s.Sent-s.Due))
	line("took", "%s from due, %s from sent", exactSeconds(s.Ended-s.Due),
		exactSeconds(s.Ended-s.Sent))
	spoken := s.Protocol
	if spoken != "" {
		spoken = ", " + spoken
	}
	line("connection", "%d of thread %d, socket %d of it, to %s%s", s.Connection+1, s.Thread+1, s.Life,
		s.Address, spoken)
	if s.Step != "" {
		line("step", "%s, in iteration %d of user %d (both from 0)", s.Step, s.Iteration, s.User)
	}
	writeSentRequest(&b, &s)
	writeResponse(&b, &s)
	_, err := w.Write(format.Visible(b.Bytes(), ""))
	return err
}

func exactSeconds(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) }

func writeSentRequest(b *bytes.Buffer, s *loadresult.Sample) {
	r := &s.Request
	if r.Method == "" {
		return
	}
	fmt.Fprintf(b, "\n--- request%s ---\n", keptOf(s.RequestBytes, s.RequestKept))
	fmt.Fprintf(b, "%s %s\n", r.Method, format.PlainLine(r.Path))
	for _, f := range s.SentFields() {
		writeField(b, f.Name, f.Value)
	}
	writeBody(b, r.Body)
}

func writeResponse(b *bytes.Buffer, s *loadresult.Sample) {
	if s.Status == 0 && len(s.Fields) == 0 {
		b.WriteString("\n--- no response ---\n")
		return
	}
	fmt.Fprintf(b, "\n--- response%s ---\n", keptOf(s.BodyBytes, s.BodyKept))
	if s.Status > 0 {
		fmt.Fprintf(b, "%03d\n", s.Status)
	}
	for _, f := range s.Fields {
		writeField(b, f.Name, f.Value)
	}
	if s.LeftOut > 0 {
		fmt.Fprintf(b, "(%s left out)\n", format.Plural(int64(s.LeftOut), "field"))
	}
	writeBody(b, s.Body)
	if len(s.Trailers) > 0 {
		b.WriteString("\n--- trailer ---\n")
		for _, f := range s.Trailers {
			writeField(b, f.Name, f.Value)
		}
	}
}

// keptOf says how long a body was as it was sent, and whether less of it was kept.
func keptOf(all int64, kept int) string {
	switch {
	case all < 0:
		return ", incomplete"
	case all == 0:
		return ""
	case all > int64(kept):
		return fmt.Sprintf(", %d bytes of body, here the first %d", all, kept)
	}
	return fmt.Sprintf(", %d bytes of body", all)
}

func writeField(b *bytes.Buffer, name, value string) {
	fmt.Fprintf(b, "%s: %s\n", format.PlainLine(name), format.PlainLine(value))
}

func writeBody(b *bytes.Buffer, body []byte) {
	if len(body) == 0 {
		return
	}
	b.WriteByte('\n')
	b.Write(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	if !bytes.HasSuffix(body, []byte("\n")) {
		b.WriteByte('\n')
	}
}
