package luascript

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/stream"
	"dyno/internal/fact"
	"dyno/internal/say"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// This file is dyno.stream(format), which says in request() that what it returns is answered by a
// stream of events. Whoever reads events has to know their format before the load: so it stands in
// the script as text, and all of a load have one.

// noteStream notes the format of a call of dyno.stream.
func (c *chunk) noteStream(call *ast.FuncCallExpr) {
	of, is := call.Func.(*ast.AttrGetExpr)
	if !is {
		return
	}
	if object, key := nameOf(of); object != "dyno" || key != "stream" {
		return
	}
	c.written++ // it defines no measure, and so it hides none
	format, is := argument(call, 0)
	switch {
	case !is:
		c.lacks(call.Line(), "dyno.stream: write the format as text, as "+
			`dyno.stream("openai"): it is known before the load`)
	case !slices.Contains(stream.Formats, format):
		c.lacks(call.Line(), fmt.Sprintf("dyno.stream: %.40q is no format of a stream: write one of %s",
			format, strings.Join(stream.Formats, ", ")))
	case c.stream != "" && c.stream != format:
		c.lacks(call.Line(), say.Plain(fact.InScenario{Of: fact.FormatsMixed, Value: format,
			Other: c.stream}))
	default:
		c.stream = format
	}
}

// StreamFormat is the format of the streams by which requests of a script are answered, as the
// script says; "": it says nothing of streams. Nothing of the script runs.
func StreamFormat(name, source string) (string, error) {
	c, err := compileChunk(name, source)
	if err == nil {
		err = c.lackFault(name)
	}
	return c.stream, err
}

// markStream is dyno.stream(format): the answer to what request() returns is a stream.
func (t *machine) markStream(l *lua.LState) int {
	switch format := l.CheckString(1); {
	case !t.requesting:
		l.RaiseError("dyno.stream is about what request() returns: call it there. If the answer to " +
			"every request is a stream, leave it out, and say so of the load")
	case format != t.stream:
		l.RaiseError("dyno.stream: the format %.40q is not written in the script as dyno.stream(%[1]q), "+
			"by which it is known before the load", format)
	}
	t.streams = true
	return 0
}

// StreamsFirst reports whether the first request that the script makes is answered by a stream.
func (m *Maker) StreamsFirst() bool { return m.first }

// isPlain reports whether the answer to what the last request() returned is no stream, where others
// are.
func (t *machine) isPlain() bool { return t.stream != "" && !t.streams }

// streamFault is why the answer to a request, which is to be a stream, cannot be read as one.
func streamFault(r *proto.Request) error {
	if r.Method == "HEAD" {
		return say.Wrong(fact.InScenario{Of: fact.NoBodyToStream})
	}
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "Accept-Encoding") && !strings.EqualFold(f.Value, "identity") {
			return say.Wrong(fact.InScenario{Of: fact.StreamCompressed})
		}
	}
	return nil
}
