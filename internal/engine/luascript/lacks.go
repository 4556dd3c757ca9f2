package luascript

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/luavm"
	"dyno/internal/fault"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// This file is about what scripts do not have. A script that names such a thing is refused before
// it runs: many have it in done only, and would fail after the load. What is called by pcall may be
// missing, and a name that is computed is found missing when it is used.

// missing are names of the standard libraries that scripts do not have. To use one is an error that
// says so.
var missing = map[string][]string{
	"os":     {"execute", "exit", "remove", "rename", "tmpname", "setlocale", "setenv"},
	"string": {"dump"},
	"":       {"dofile", "loadfile", "module", "newproxy", "_printregs"},
}

// present are the names of io that scripts have.
var present = []string{"write", "stdout", "stderr", "flush"}

// isMissing reports whether scripts lack a name of a library.
func isMissing(library, name string) bool {
	switch library {
	case "io":
		return !slices.Contains(present, name)
	case "package", "debug":
		return true
	}
	return slices.Contains(missing[library], name)
}

// lacking says that a name is missing, and what to use in its place.
func lacking(name string, writes bool) string {
	place := ""
	switch library, _, _ := strings.Cut(name, "."); {
	case name == "io.open" && writes:
		place = "print what you want: it goes to stdout"
	case name == "io.popen" || name == "os.execute":
		place = "run that before dyno, or after it"
	case name == "os.exit":
		place = "wrk.thread:stop() ends a thread's load, and error() the run"
	case library == "io":
		place = "write the data into the script, as a table; print writes to stdout"
	case library == "package", strings.HasPrefix(name, "require("),
		slices.Contains([]string{"dofile", "loadfile", "module"}, name):
		place = "put the functions of that file into the script"
	default:
		return name + " is not available: scripts of dyno have no files, processes or network"
	}
	return name + " is not available: scripts of dyno have no files, processes or network; " + place
}

// A lack is the first use of what scripts do not have.
type lack struct {
	line int
	text string
}

// noteLack notes a node of a syntax tree that uses what is missing.
func (c *chunk) noteLack(node any) {
	if c.guarded[node] {
		return
	}
	switch node := node.(type) {
	case *ast.FuncCallExpr:
		c.noteCall(node)
	case *ast.AttrGetExpr:
		c.noteName(node, false)
	case *ast.LocalAssignStmt:
		for i, name := range node.Names {
			if i >= len(node.Exprs) || !isLibrary(node.Exprs[i], name) {
				c.shadowed = append(c.shadowed, name)
			}
		}
	case *ast.AssignStmt:
		for _, to := range node.Lhs {
			if name, is := to.(*ast.IdentExpr); is {
				c.shadowed = append(c.shadowed, name.Value)
			}
		}
	case *ast.FunctionExpr:
		c.shadowed = append(c.shadowed, node.ParList.Names...)
	}
}

// isLibrary reports whether an expression is that library: io, or require("io").
func isLibrary(x ast.Expr, library string) bool {
	switch x := x.(type) {
	case *ast.IdentExpr:
		return x.Value == library
	case *ast.FuncCallExpr:
		function, is := x.Func.(*ast.IdentExpr)
		name, _ := argument(x, 0)
		return is && function.Value == "require" && name == library
	}
	return false
}

// noteCall notes a call. What pcall and xpcall call is guarded.
func (c *chunk) noteCall(node *ast.FuncCallExpr) {
	if of, is := node.Func.(*ast.AttrGetExpr); is {
		mode, _ := argument(node, 1)
		c.noteName(of, strings.ContainsAny(mode, "wa+"))
	}
	function, is := node.Func.(*ast.IdentExpr)
	if !is {
		return
	}
	name, isText := argument(node, 0)
	_, known := modules[name]
	switch called := function.Value; {
	case called == "pcall" || called == "xpcall":
		if c.guarded == nil {
			c.guarded = map[any]bool{}
		}
		luavm.Walk(node.Args, func(n any) { c.guarded[n] = true })
	case slices.Contains(c.shadowed, called):
	case called == "require" && isText && !known:
		c.lacks(node.Line(), lacking(fmt.Sprintf("require(%.40q)", name), false))
	case isMissing("", called):
		c.lacks(node.Line(), lacking(called, false))
	}
}

// noteName notes library.name.
func (c *chunk) noteName(node *ast.AttrGetExpr, writes bool) {
	object, isName := node.Object.(*ast.IdentExpr)
	key, isKey := node.Key.(*ast.StringExpr)
	if isName && isKey && object.Value != "" && isMissing(object.Value, key.Value) &&
		!slices.Contains(c.shadowed, object.Value) {
		c.lacks(object.Line(), lacking(object.Value+"."+key.Value, writes))
	}
}

func (c *chunk) lacks(line int, text string) {
	if c.lack == (lack{}) {
		c.lack = lack{line, text}
	}
}

// argument is an argument of a call that is text.
func argument(node *ast.FuncCallExpr, i int) (text string, is bool) {
	if i >= len(node.Args) {
		return "", false
	}
	s, is := node.Args[i].(*ast.StringExpr)
	if !is {
		return "", false
	}
	return s.Value, true
}

// lackFault is the error of a script that uses what scripts do not have.
func (c *chunk) lackFault(name string) error {
	if c.lack == (lack{}) {
		return nil
	}
	return fault.Fault{File: name, Line: c.lack.line, Problem: c.lack.text}
}

// modules are what require knows: the libraries that scripts have anyway, and of socket the time.
var modules = map[string]lua.LGFunction{"string": nil, "table": nil, "math": nil, "coroutine": nil,
	"os": nil, "io": nil, "socket": openSocket}

// require is the module of that name.
func (t *machine) require(l *lua.LState) int {
	name := luavm.Text(l, 1)
	open, known := modules[name]
	switch {
	case !known:
		l.RaiseError("%s", lacking(fmt.Sprintf("require(%.40q)", name), false))
	case open == nil:
		l.Push(t.Library(name))
	case t.loaded[name] != nil:
		l.Push(t.loaded[name])
	default:
		open(l)
		if t.loaded == nil {
			t.loaded = map[string]lua.LValue{}
		}
		t.loaded[name] = l.Get(-1)
	}
	return 1
}

// openSocket is the module of LuaSocket as far as scripts need it for the time.
func openSocket(l *lua.LState) int {
	module, meta := l.NewTable(), l.NewTable()
	module.RawSetString("gettime", l.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LNumber(float64(time.Now().UnixMicro()) / 1e6))
		return 1
	}))
	meta.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("%s", lacking("socket."+l.ToString(2), false))
		return 0
	}))
	module.Metatable = meta
	l.Push(module)
	return 1
}
