package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/session"
	"dyno/internal/redact"
	"dyno/internal/view/format"
	"dyno/internal/view/sample"
)

// This file shows what dyno scenario run does.

// shownSteps shows steps as they are done.
type shownSteps struct {
	to     io.Writer
	bodies bool
	steps  int
	err    error

	keep    redact.Replacer // what is shown of secrets; nil: themselves
	secrets []string        // those that are known so far
}

// step shows a step.
func (w *shownSteps) step(o session.Observation) {
	w.steps++
	w.noteSecrets(o)
	var b strings.Builder
	state := "ok"
	switch {
	case o.Again != "":
		state = "again"
	case o.Failed:
		state = "FAILED"
	}
	said := fmt.Sprint(o.Response.Status)
	if o.Response.Failed != "" && o.Response.Status == 0 {
		said = "no response (" + o.Response.Failed + ")"
	}
	if took := o.Response.Took; took > 0 {
		said += " in " + format.Seconds(took.Seconds())
	}
	if o.Retry > 0 {
		said += fmt.Sprintf(" (retry %d of at most %d)", o.Retry, o.Retries)
	}
	if o.Again != "" {
		said += "; " + o.Again + " runs again, and then this"
	}
	fmt.Fprintf(&b, "%-6s %s: %s\n", state, o.Step, said)
	if o.Refused != nil && o.Retry < o.Retries { // the last is told of as that of the iteration
		fmt.Fprintf(&b, "  FAILED %v\n", o.Refused)
	}
	if w.bodies {
		w.exchange(&b, o)
	}
	for _, c := range o.Outcomes {
		state := "ok"
		if !c.OK {
			state = "FAILED"
		}
		if w.bodies || !c.OK {
			name := c.Name
			if !c.OK && c.Expr != "" {
				name += ": " + c.Expr
			}
			fmt.Fprintf(&b, "  %-6s %s: %s\n", state, name, c.Actual)
		}
		if !w.bodies && !c.OK && c.Expr != "" && c.Body {
			start := "the body is not shown, because the value is one to redact"
			if !c.Redact || w.keep == nil {
				start = w.bodyStart(o)
			}
			fmt.Fprintf(&b, "         %s\n", start)
		}
	}
	w.write(b.String())
}

// shownStart is how much of a body a capture that fails shows, in characters.
const shownStart = 300

// bodyStart is the start of a response's body on one line. It is cut after secrets were replaced,
// so that no part of one is left.
func (w *shownSteps) bodyStart(o session.Observation) string {
	body := w.keep.AnswerBody(string(o.Response.Field("content-type")), o.Response.Body)
	size := format.Plural(max(o.Response.BodyBytes, int64(len(o.Response.Body))), "byte")
	switch {
	case len(body) == 0:
		return "the body is empty"
	case !utf8.Valid(body):
		return "the body has " + size + " that are no text"
	}
	text := redact.NewKnown(w.keep, w.secrets).Text(string(body))
	text = strings.Join(strings.Fields(text), " ")
	return "the body (" + size + ") begins: " + format.ClipText(format.PlainLine(text), shownStart)
}

// write writes a text, without the secrets that are known.
func (w *shownSteps) write(text string) {
	known := redact.NewKnown(w.keep, w.secrets)
	if _, err := io.WriteString(w.to, known.Text(text)); err != nil && w.err == nil {
		w.err = err
	}
}

// noteSecrets notes the secrets of a step: what a name says of headers, fields and captures, and
// captures with redact.
func (w *shownSteps) noteSecrets(o session.Observation) {
	if w.keep == nil {
		return
	}
	note := redact.Replacer(func(_, value string) string {
		if value != "" && !slices.Contains(w.secrets, value) && len(w.secrets) < redact.MostKnown {
			w.secrets = append(w.secrets, value)
		}
		return value
	})
	note.URL(o.Request.Path)
	for _, f := range o.Request.Header {
		note.Header(f.Name, f.Value)
		if _, password, _ := strings.Cut(f.Value, ":"); isSigner(&o.Request, f) {
			note("", password)
		}
	}
	note.Body(fieldOf(o.Request.Header, "Content-Type"), o.Request.Body)
	for i := range o.Response.Fields() {
		name, value, _ := o.Response.FieldAt(i)
		note.AnswerField(string(name), string(value))
	}
	note.AnswerBody(string(o.Response.Field("content-type")), o.Response.Body)
	for _, c := range o.Captures {
		if c.Redact || redact.Secret(c.Name) {
			note(c.Name, c.Value)
		}
	}
}

// isSigner reports whether a field is not sent as it is: USER:PASSWORD says who signs the request.
func isSigner(r *proto.Request, f proto.Field) bool {
	return r.Auth != "" && strings.EqualFold(f.Name, "Authorization")
}

// fieldOf is the value of a header field; "" if there is none.
func fieldOf(header []proto.Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// exchange writes a request and its response.
func (w *shownSteps) exchange(b *strings.Builder, o session.Observation) {
	sent := []proto.Field{{Name: "Host", Value: o.Request.Authority}}
	for _, f := range o.Request.Header {
		value := w.keep.Header(f.Name, f.Value)
		if isSigner(&o.Request, f) {
			user, _, _ := strings.Cut(f.Value, ":")
			value = "(" + o.Request.Auth + " of " + user + ")"
		}
		sent = append(sent, proto.Field{Name: f.Name, Value: value})
	}
	body := w.keep.AnswerBody(fieldOf(o.Request.Header, "Content-Type"), o.Request.Body)
	sample.WriteMessage(b, "  > ", o.Request.Method+" "+w.keep.URL(o.Request.Path), sent, body,
		int64(len(body)))
	if o.Response.Status == 0 {
		return
	}
	var fields []proto.Field
	for i := range o.Response.Fields() {
		name, value, _ := o.Response.FieldAt(i)
		fields = append(fields, proto.Field{Name: string(name),
			Value: w.keep.AnswerField(string(name), string(value))})
	}
	body = w.keep.AnswerBody(string(o.Response.Field("content-type")), o.Response.Body)
	sample.WriteMessage(b, "  < ", fmt.Sprint(o.Response.Status), fields, body, o.Response.BodyBytes)
}
