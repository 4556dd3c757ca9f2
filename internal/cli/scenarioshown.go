package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/session"
	"dyno/internal/redact"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
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
	if o.Failed {
		state = "FAILED"
	}
	said := fmt.Sprint(o.Response.Status)
	if o.Response.Failed != "" && o.Response.Status == 0 {
		said = "no response (" + o.Response.Failed + ")"
	}
	if took := o.Response.Took; took > 0 {
		said += " in " + format.Seconds(took.Seconds())
	}
	fmt.Fprintf(&b, "%-6s %s: %s\n", state, o.Step, said)
	if w.bodies {
		w.exchange(&b, o)
	}
	for _, c := range o.Outcomes {
		state := "ok"
		if !c.OK {
			state = "FAILED"
		}
		if w.bodies || !c.OK {
			fmt.Fprintf(&b, "  %-6s %s: %s\n", state, c.Name, c.Actual)
		}
	}
	w.write(b.String())
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
		sent = append(sent, proto.Field{Name: f.Name, Value: w.keep.Header(f.Name, f.Value)})
	}
	body := w.keep.AnswerBody(fieldOf(o.Request.Header, "Content-Type"), o.Request.Body)
	report.WriteMessage(b, "  > ", o.Request.Method+" "+w.keep.URL(o.Request.Path), sent, body,
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
	report.WriteMessage(b, "  < ", fmt.Sprint(o.Response.Status), fields, body, o.Response.BodyBytes)
}
