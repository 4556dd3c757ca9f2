package luascript

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/fault"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// deepest is how many parts of a script may lie inside each other. The compiler calls itself for
// each, and Go ends a program whose stack becomes too large.
const deepest = 2000

// mostChecks is how many different checks a script can have: each is a row of the report.
const mostChecks = 1000

// A chunk is the text of a script, or of load, with the names that stand in its calls of
// dyno.check, dyno.counter and dyno.histogram as text, each once and in their order.
//
// A run needs those of checks before it begins, because a check that fails is an error of that
// name. A counter whose name is written exists from the start: one that never counted is 0, and an
// objective such as metric.failures<3 is met.
type chunk struct {
	code                         *lua.FunctionProto
	checks, counters, histograms []string

	uses, written int // of the name dyno; and of calls with a name that is text

	lack     lack         // the first use of what scripts do not have
	guarded  map[any]bool // nodes that pcall calls
	shadowed []string     // names that are local variables
}

// compileChunk compiles the text of a script, or of load.
func compileChunk(name, source string) (c chunk, err error) {
	tree, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return c, parseFault(name, err)
	}
	if !walk(reflect.ValueOf(tree), deepest, c.note) {
		return c, fault.Fault{File: name, Problem: fmt.Sprintf("more than %d expressions or "+
			"blocks lie inside each other", deepest)}
	}
	if len(c.checks) > mostChecks {
		return c, fault.Fault{File: name, Problem: fmt.Sprintf("it has %d checks; %d are possible",
			len(c.checks), mostChecks)}
	}
	c.guarded = nil
	c.code, err = lua.Compile(tree, name)
	if bad, is := errors.AsType[*lua.CompileError](err); is {
		return c, fault.Fault{File: name, Line: bad.Line, Problem: bad.Message}
	} else if err != nil {
		return c, fault.Fault{File: name, Problem: err.Error()}
	}
	return c, nil
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
	case *ast.FuncCallExpr:
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

// parseFault is a fault of the syntax.
func parseFault(name string, err error) error {
	bad, is := errors.AsType[*parse.Error](err)
	if !is {
		return fault.Fault{File: name, Problem: firstLine(err.Error())}
	}
	if bad.Pos.Line == parse.EOF {
		return fault.Fault{File: name, Problem: bad.Message + " at the end of the file"}
	}
	return fault.Fault{File: name, Line: bad.Pos.Line, Column: bad.Pos.Column,
		Problem: fmt.Sprintf("%s near %.40q", bad.Message, bad.Token)}
}

// namedCall are function and name of a call dyno.function("name", …).
func namedCall(call *ast.FuncCallExpr) (function, name string, is bool) {
	of, is := call.Func.(*ast.AttrGetExpr)
	if !is || len(call.Args) == 0 {
		return "", "", false
	}
	object, isName := of.Object.(*ast.IdentExpr)
	key, isKey := of.Key.(*ast.StringExpr)
	text, isText := call.Args[0].(*ast.StringExpr)
	if !isName || !isKey || !isText || object.Value != "dyno" {
		return "", "", false
	}
	return key.Value, text.Value, true
}

// walk visits all nodes below one of a syntax tree. It reports false if more than so many nodes
// lie inside each other.
func walk(v reflect.Value, depth int, visit func(node any)) bool {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return true
		}
		if v.Kind() == reflect.Pointer && v.CanInterface() {
			visit(v.Interface())
		}
		return walk(v.Elem(), depth, visit)
	case reflect.Slice:
		for i := range v.Len() {
			if !walk(v.Index(i), depth, visit) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if depth == 0 || !walk(v.Field(i), depth-1, visit) {
				return false
			}
		}
	}
	return true
}
