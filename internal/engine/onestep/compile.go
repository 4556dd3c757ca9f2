package onestep

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/template"
)

// Texts are a request whose parts can have holes.
type Texts struct {
	Method, Authority string
	Path              template.Text // with the query
	Header            []Field
	Body              template.Text
}

// A Field is a header field whose value can have holes.
type Field struct {
	Name  string
	Value template.Text
}

// A Request is one of those to send.
type Request struct {
	proto.Request // Holes have the values that Sources say
	Sources       []template.Source
	Weight        int           // its share of what is sent; below 1: 1
	Checks        []int         // which of Config.Checks its responses must pass
	Timeout       time.Duration // 0: the plan's
}

// Compile makes a request of texts. The error has all that keeps it from being sent: see
// proto.Request.CheckHoles and proto.CheckValue.
func Compile(t Texts) (Request, error) {
	r := Request{Request: proto.Request{Method: t.Method, Authority: t.Authority,
		Path: t.Path.Literal}}
	var faults []error
	if len(t.Path.Holes) > 0 && t.Path.Holes[0].At == 0 {
		faults = append(faults, errors.New("the path begins with a hole; write / before it"))
	}
	part := func(in proto.Part, field int, text template.Text, name string) {
		if problem := proto.ValueProblem(in, []byte(text.Literal)); problem != "" {
			what := map[proto.Part]string{proto.InPath: "its text", proto.InHeader: "its value"}[in]
			faults = append(faults, fmt.Errorf("%s: %s %s", name, what, problem))
		}
		for _, h := range text.Holes {
			r.Holes = append(r.Holes, proto.Hole{In: in, Field: field, At: h.At, Value: r.valueOf(h.Source)})
		}
	}
	part(proto.InPath, 0, t.Path, "path")
	for i, f := range t.Header {
		r.Header = append(r.Header, proto.Field{Name: f.Name, Value: f.Value.Literal})
		part(proto.InHeader, i, f.Value, "header "+f.Name)
	}
	if t.Body.Literal != "" || len(t.Body.Holes) > 0 {
		r.Body = []byte(t.Body.Literal)
		part(proto.InBody, 0, t.Body, "body")
	}
	if len(faults) == 0 {
		if err := r.CheckHoles(); err != nil {
			faults = append(faults, err)
		}
	}
	return r, errors.Join(faults...)
}

// valueOf is the number of the value that a hole has. What is random is drawn for each hole; all
// else is the same in the whole request.
func (r *Request) valueOf(s template.Source) int {
	if s.Kind != template.UUID && s.Kind != template.Int && s.Kind != template.Hex {
		if i := slices.Index(r.Sources, s); i >= 0 {
			return i
		}
	}
	r.Sources = append(r.Sources, s)
	return len(r.Sources) - 1
}
