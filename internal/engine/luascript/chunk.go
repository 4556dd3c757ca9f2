package luascript

import (
	"fmt"
	"slices"

	"dyno/internal/engine/luavm"
	"dyno/internal/fault"
	"github.com/yuin/gopher-lua/ast"
)

// mostChecks is how many different checks a script can have: each is a row of the report.
const mostChecks = 1000

// A chunk is the text of a script, or of load, with the names that stand in its calls of
// dyno.check, dyno.counter and dyno.histogram as text, each once and in their order.
//
// A run needs those of checks before it begins, because a check that fails is an error of that
// name. A counter whose name is written exists from the start: one that never counted is 0, and an
// objective such as metric.failures<3 is met.
type chunk struct {
	*luavm.Chunk
	checks, counters, histograms []string

	uses    int // of the name dyno
	written int // those of them that are dyno.user, or a call with a name that is text

	stream string // the format of dyno.stream(format): see stream.go; "": it is not called

	lack     lack         // the first use of what scripts do not have, or wrong dyno.stream
	guarded  map[any]bool // nodes that pcall calls
	shadowed []string     // names that are local variables
}

// compileChunk compiles the text of a script.
func compileChunk(name, source string) (c chunk, err error) {
	if c.Chunk, err = luavm.Read(name, source, c.note); err == nil && len(c.checks) > mostChecks {
		err = fault.Fault{File: name, Problem: fmt.Sprintf("it has %d checks; %d are possible",
			len(c.checks), mostChecks)}
	}
	c.guarded = nil
	if err == nil {
		err = c.Compile()
	}
	return c, err
}

// reaches are names of Lua by which a script can get at dyno without writing it.
var reaches = []string{"dyno", "_G", "getfenv", "load", "loadstring"}

// note notes a node of a syntax tree.
func (c *chunk) note(node any) {
	c.noteLack(node)
	switch node := node.(type) {
	case *ast.IdentExpr:
		if slices.Contains(reaches, node.Value) {
			c.uses++
		}
	case *ast.AttrGetExpr:
		if object, key := nameOf(node); object == "dyno" && key == "user" {
			c.written++ // it defines no measure, and so it hides none
		}
	case *ast.FuncCallExpr:
		c.noteStream(node)
		function, name, is := namedCall(node)
		to := map[string]*[]string{"check": &c.checks, "counter": &c.counters,
			"histogram": &c.histograms}[function]
		if !is || to == nil {
			return
		}
		if c.written++; !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
}

// namedCall are function and name of a call dyno.function("name", …).
func namedCall(call *ast.FuncCallExpr) (function, name string, is bool) {
	of, is := call.Func.(*ast.AttrGetExpr)
	if !is || len(call.Args) == 0 {
		return "", "", false
	}
	object, key := nameOf(of)
	text, isText := call.Args[0].(*ast.StringExpr)
	if !isText || object != "dyno" || key == "" {
		return "", "", false
	}
	return key, text.Value, true
}

// nameOf are the two names of object.key; "": one is none.
func nameOf(of *ast.AttrGetExpr) (object, key string) {
	if o, is := of.Object.(*ast.IdentExpr); is {
		object = o.Value
	}
	if k, is := of.Key.(*ast.StringExpr); is {
		key = k.Value
	}
	return object, key
}
