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

// compileChunk compiles the text of a script, or of load. checks are the names of all calls
// dyno.check("name", …), in their order: a run needs them before it begins, because a check that
// fails is an error of that name.
func compileChunk(name, source string) (f *lua.FunctionProto, checks []string, err error) {
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, nil, parseFault(name, err)
	}
	add := func(call *ast.FuncCallExpr) {
		if s, is := checkOf(call); is && !slices.Contains(checks, s) {
			checks = append(checks, s)
		}
	}
	if !walk(reflect.ValueOf(chunk), deepest, add) {
		return nil, nil, fault.Fault{File: name, Problem: fmt.Sprintf("more than %d expressions or "+
			"blocks lie inside each other", deepest)}
	}
	if len(checks) > mostChecks {
		return nil, nil, fault.Fault{File: name, Problem: fmt.Sprintf("it has %d checks; %d are possible",
			len(checks), mostChecks)}
	}
	f, err = lua.Compile(chunk, name)
	if bad, is := errors.AsType[*lua.CompileError](err); is {
		return nil, nil, fault.Fault{File: name, Line: bad.Line, Problem: bad.Message}
	} else if err != nil {
		return nil, nil, fault.Fault{File: name, Problem: err.Error()}
	}
	return f, checks, nil
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

// checkOf is the name in a call dyno.check("name", …).
func checkOf(call *ast.FuncCallExpr) (name string, is bool) {
	of, is := call.Func.(*ast.AttrGetExpr)
	if !is || len(call.Args) == 0 {
		return "", false
	}
	object, isName := of.Object.(*ast.IdentExpr)
	key, isKey := of.Key.(*ast.StringExpr)
	text, isText := call.Args[0].(*ast.StringExpr)
	if !isName || !isKey || !isText || object.Value != "dyno" || key.Value != "check" {
		return "", false
	}
	return text.Value, true
}

// walk visits all calls below a node of a syntax tree. It reports false if more than so many nodes
// lie inside each other.
func walk(v reflect.Value, depth int, visit func(*ast.FuncCallExpr)) bool {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return true
		}
		if v.Kind() == reflect.Pointer && v.CanInterface() {
			if call, is := v.Interface().(*ast.FuncCallExpr); is {
				visit(call)
			}
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
