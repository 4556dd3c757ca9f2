package luavm

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"dyno/internal/fault"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// deepest is how many parts of a script may lie inside each other. The compiler calls itself for
// each, and Go ends a program whose stack becomes too large.
const deepest = 2000

// A Chunk is the text of a script, or of load.
type Chunk struct {
	name      string
	tree      []ast.Stmt      // until it is compiled
	constants map[string]bool // numbers, texts and names
	code      *lua.FunctionProto
}

// mostCompiling is what the work of compiling a script may be: some tens of seconds.
const mostCompiling = 500_000_000

// work is how many instructions it takes to compile a chunk: the compiler compares each constant
// with those before it.
func (c *Chunk) work() int {
	const compared = 16 // in the time of an instruction
	return len(c.constants) * len(c.constants) / compared
}

// Read reads the text of a script, and shows each node of its syntax tree to visit, which may be
// nil.
func Read(name, source string, visit func(node any)) (*Chunk, error) {
	c := &Chunk{name: name, constants: map[string]bool{}}
	source, err := plainEscapes(name, source)
	if err != nil {
		return c, err
	}
	if c.tree, err = parse.Parse(strings.NewReader(source), name); err != nil {
		return c, parseFault(name, err)
	}
	if !Walk(c.tree, func(node any) {
		c.note(node)
		if visit != nil {
			visit(node)
		}
	}) {
		return c, fault.Fault{File: name, Problem: fmt.Sprintf("more than %d expressions or "+
			"blocks lie inside each other", deepest)}
	}
	if c.work() > mostCompiling {
		return c, fault.Fault{File: name, Problem: fmt.Sprintf("it has %d numbers, texts and names, "+
			"which take too long to compile", len(c.constants))}
	}
	return c, nil
}

func (c *Chunk) note(node any) {
	switch node := node.(type) {
	case *ast.NumberExpr:
		c.constants[node.Value] = true
	case *ast.StringExpr:
		c.constants[node.Value] = true
	case *ast.IdentExpr:
		c.constants[node.Value] = true
	}
}

// Compile compiles a chunk that was read. Nothing of the tree is needed afterwards.
func (c *Chunk) Compile() error {
	tree, err := (&lowering{file: c.name}).lower(c.tree)
	c.tree, c.constants = nil, nil
	if err != nil {
		return err
	}
	c.code, err = lua.Compile(tree, c.name)
	if bad, is := errors.AsType[*lua.CompileError](err); is {
		return fault.Fault{File: c.name, Line: bad.Line, Problem: bad.Message}
	} else if err != nil {
		return fault.Fault{File: c.name, Problem: err.Error()}
	}
	return nil
}

// Script is the function of a chunk.
func (t *Machine) Script(l *lua.LState, c *Chunk) *lua.LFunction {
	l.Push(l.NewFunctionFromProto(c.code))
	for _, h := range t.helpers {
		l.Push(h)
	}
	l.Call(len(t.helpers), 1)
	f := l.Get(-1).(*lua.LFunction)
	l.Pop(1)
	return f
}

// parseFault is a fault of the syntax.
func parseFault(name string, err error) error {
	bad, is := errors.AsType[*parse.Error](err)
	if !is {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return fault.Fault{File: name, Problem: line}
	}
	if bad.Pos.Line == parse.EOF {
		return fault.Fault{File: name, Problem: bad.Message + " at the end of the file"}
	}
	return fault.Fault{File: name, Line: bad.Pos.Line, Column: bad.Pos.Column,
		Problem: fmt.Sprintf("%s near %.40q", bad.Message, bad.Token)}
}

// Walk visits all nodes of a syntax tree, which is a slice of statements or expressions. It reports
// false if too many of them lie inside each other.
func Walk(tree any, visit func(node any)) bool {
	return walk(reflect.ValueOf(tree), deepest, visit)
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
