package luavm

import (
	"fmt"
	"math"
	"strconv"

	"dyno/internal/fault"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// This file replaces, in the syntax tree of a script, the operations that the machine carries out
// unlike Lua, or without a limit, by calls of functions of this package: .. and % and #, the keys
// of assignments, and the bounds of numeric loops. Numbers are read here, too.
//
// The functions are locals of a chunk around the script. Their names begin with %, so no script can
// use, hide or change them.

// helpers are these functions, in the order in which the chunk around a script gets them.
var helpers = []struct {
	name string
	f    func(*Machine, *lua.LState) int
}{{"%concat", (*Machine).concatenate}, {"%mod", (*Machine).modulo}, {"%len", (*Machine).length},
	{"%key", (*Machine).checkKey}, {"%bound", (*Machine).loopBound}, {"%number", (*Machine).literal}}

// A lowering is the replacement in one chunk.
type lowering struct {
	file     string
	depth    int // of functions
	locals   int // that hold the tables and keys of an assignment
	dots     int // line of a ... outside of all functions; 0: there is none
	arg      int // line of a name arg; 0: there is none
	problems []fault.Fault
}

// lower returns a chunk that gets the helpers as its arguments, and returns the script as a
// function.
func (w *lowering) lower(script []ast.Stmt) ([]ast.Stmt, error) {
	w.block(script)
	if w.dots > 0 && w.arg > 0 {
		w.fail(w.arg, "the name arg beside a ... outside of functions (line %d); call it otherwise",
			w.dots)
	}
	if len(w.problems) > 0 {
		return nil, w.problems[0]
	}
	names := make([]string, len(helpers))
	for i, h := range helpers {
		names[i] = h.name
	}
	function := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: w.dots > 0}, Stmts: script}
	if n := len(script); n > 0 {
		function.SetLastLine(max(script[n-1].LastLine(), script[n-1].Line()) + 1)
	}
	return []ast.Stmt{&ast.LocalAssignStmt{Names: names, Exprs: []ast.Expr{&ast.Comma3Expr{}}},
		&ast.ReturnStmt{Exprs: []ast.Expr{function}}}, nil
}

func (w *lowering) fail(line int, format string, args ...any) {
	w.problems = append(w.problems, fault.Fault{File: w.file, Line: line,
		Problem: fmt.Sprintf(format, args...)})
}

// helper is a call of a helper, which has one value.
func helper(name string, at ast.PositionHolder, args ...ast.Expr) ast.Expr {
	f := place(&ast.IdentExpr{Value: name}, at)
	call := &ast.FuncCallExpr{Func: f, Args: args, AdjustRet: true}
	single(args[len(args)-1])
	return place(call, at)
}

// single has a call or ... be one value, as an operand is.
func single(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
}

func place[E ast.PositionHolder](e E, at ast.PositionHolder) E {
	e.SetLine(at.Line())
	e.SetLastLine(at.LastLine())
	return e
}

func (w *lowering) block(all []ast.Stmt) {
	for i, s := range all {
		all[i] = w.statement(s)
	}
}

func (w *lowering) exprs(all []ast.Expr) {
	for i, e := range all {
		all[i] = w.expr(e)
	}
}

func (w *lowering) statement(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return w.assignment(s)
	case *ast.LocalAssignStmt:
		w.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = w.expr(s.Condition)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.block(s.Stmts)
		s.Condition = w.expr(s.Condition)
	case *ast.IfStmt:
		s.Condition = w.expr(s.Condition)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = w.bound(s.Init, "initial"), w.bound(s.Limit, "limit")
		if s.Step != nil {
			s.Step = w.bound(s.Step, "step")
		}
		w.block(s.Stmts)
	case *ast.GenericForStmt:
		w.exprs(s.Exprs)
		w.block(s.Stmts)
	case *ast.FuncDefStmt:
		if s.Name.Receiver != nil {
			s.Name.Receiver = w.expr(s.Name.Receiver)
		}
		w.expr(s.Func)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	}
	return s
}

// bound is a bound of a numeric loop, which may be the text of a number.
func (w *lowering) bound(e ast.Expr, what string) ast.Expr {
	e = w.expr(e)
	if _, is := e.(*ast.NumberExpr); is {
		return e
	}
	return helper("%bound", e, place(&ast.StringExpr{Value: what}, e), e)
}

// assignment checks the keys to which values are assigned. A table that is not just a name is
// evaluated once, into a local of its own. If there are several targets, so are all keys and
// values: the compiler would assign some before it has evaluated the others.
func (w *lowering) assignment(s *ast.AssignStmt) ast.Stmt {
	w.exprs(s.Rhs)
	several := len(s.Lhs) > 1
	held := &ast.LocalAssignStmt{}
	hold := func(e ast.Expr) *ast.IdentExpr {
		w.locals++
		name := place(&ast.IdentExpr{Value: "%local" + strconv.Itoa(w.locals)}, e)
		single(e)
		held.Names, held.Exprs = append(held.Names, name.Value), append(held.Exprs, e)
		return name
	}
	for i, target := range s.Lhs {
		get, is := target.(*ast.AttrGetExpr)
		if !is {
			s.Lhs[i] = w.expr(target)
			continue
		}
		get.Object, get.Key = w.expr(get.Object), w.expr(get.Key)
		plain := isPlainKey(get.Key)
		object, isName := get.Object.(*ast.IdentExpr)
		if several || !isName && !plain {
			object = hold(get.Object)
			get.Object = object
		}
		if plain {
			continue
		}
		again := *object
		if get.Key = helper("%key", get.Key, &again, get.Key); several {
			get.Key = hold(get.Key)
		}
	}
	body := []ast.Stmt{s}
	if several {
		body = w.oneByOne(s)
	}
	if len(held.Names) > 0 {
		body = append([]ast.Stmt{place(held, s)}, body...)
	}
	if len(body) == 1 {
		return body[0]
	}
	return place(&ast.DoBlockStmt{Stmts: body}, s)
}

// oneByOne evaluates the values of an assignment, and assigns them from the last to the first.
func (w *lowering) oneByOne(s *ast.AssignStmt) []ast.Stmt {
	values := place(&ast.LocalAssignStmt{Exprs: s.Rhs}, s)
	all := []ast.Stmt{values}
	for i := range s.Lhs {
		values.Names = append(values.Names, "%value"+strconv.Itoa(i))
	}
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		value := place(&ast.IdentExpr{Value: values.Names[i]}, s)
		all = append(all, place(&ast.AssignStmt{Lhs: s.Lhs[i : i+1], Rhs: []ast.Expr{value}}, s))
	}
	return all
}

// isPlainKey reports that a table grows by little with a key.
func isPlainKey(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr:
		return true
	case *ast.NumberExpr:
		n, _ := readNumber(e.Value)
		return n < plainKey
	}
	return false
}

func (w *lowering) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return w.number(e)
	case *ast.IdentExpr:
		if e.Value == "arg" {
			w.arg = e.Line()
		}
	case *ast.Comma3Expr:
		if w.depth == 0 {
			w.dots = e.Line()
		}
	case *ast.AttrGetExpr:
		e.Object, e.Key = w.expr(e.Object), w.expr(e.Key)
	case *ast.TableExpr:
		w.table(e)
	case *ast.FuncCallExpr:
		if e.Func != nil {
			e.Func = w.expr(e.Func)
		} else {
			e.Receiver = w.expr(e.Receiver)
		}
		w.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		return w.concat(e)
	case *ast.ArithmeticOpExpr:
		return w.arithmetic(e)
	case *ast.UnaryMinusOpExpr:
		e.Expr = w.expr(e.Expr)
		if n, is := e.Expr.(*ast.NumberExpr); is {
			v, _ := readNumber(n.Value)
			return constant(-v, e)
		}
	case *ast.UnaryNotOpExpr:
		e.Expr = w.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		return helper("%len", e, w.expr(e.Expr))
	case *ast.FunctionExpr:
		w.depth++
		w.block(e.Stmts)
		w.depth--
	}
	return e
}

func (w *lowering) table(e *ast.TableExpr) {
	for _, f := range e.Fields {
		f.Value = w.expr(f.Value)
		if f.Key == nil {
			continue
		}
		single(f.Value)
		if f.Key = w.expr(f.Key); !isPlainKey(f.Key) {
			f.Key = helper("%key", f.Key, place(&ast.NilExpr{}, f.Key), f.Key)
		}
	}
}

// concat is a chain of .. as one call.
func (w *lowering) concat(e *ast.StringConcatOpExpr) ast.Expr {
	var operands []ast.Expr
	rest := ast.Expr(e)
	for {
		c, is := rest.(*ast.StringConcatOpExpr)
		if !is {
			break
		}
		operands, rest = append(operands, w.expr(c.Lhs)), c.Rhs
	}
	return helper("%concat", e, append(operands, w.expr(rest))...)
}

// arithmetic computes what is constant. The machine would do that without the sign of a zero.
func (w *lowering) arithmetic(e *ast.ArithmeticOpExpr) ast.Expr {
	e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	left, is := e.Lhs.(*ast.NumberExpr)
	right, is2 := e.Rhs.(*ast.NumberExpr)
	if is && is2 {
		a, _ := readNumber(left.Value)
		b, _ := readNumber(right.Value)
		return constant(calculate(e.Operator[0], a, b), e)
	}
	if e.Operator == "%" {
		return helper("%mod", e, e.Lhs, e.Rhs)
	}
	return e
}

// calculate is the result of an operator.
func calculate(operator byte, a, b float64) float64 {
	switch operator {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	case '%':
		return a - math.Floor(a/b)*b
	}
	return math.Pow(a, b)
}

// constant is a number in a form that the compiler reads as that number.
func constant(v float64, at ast.PositionHolder) ast.Expr {
	if v == 0 && math.Signbit(v) { // the compiler takes it for 0
		return helper("%number", at, place(&ast.StringExpr{Value: "-0"}, at))
	}
	return place(&ast.NumberExpr{Value: exactText(v)}, at)
}

// number reads a number of the script.
func (w *lowering) number(e *ast.NumberExpr) ast.Expr {
	v, ok := readNumber(e.Value)
	if !ok {
		w.fail(e.Line(), "malformed number near %.40q", e.Value)
	}
	return constant(v, e)
}
