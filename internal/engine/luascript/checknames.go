package luascript

import (
	"reflect"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// mostChecks is how many different checks a script can have: each is a row of the report.
const mostChecks = 1000

// checkNames are the names of all calls dyno.check("name", …) of a script, in their order. A run
// needs them before it begins: a check that fails is an error of that name.
func checkNames(chunk []ast.Stmt) (names []string) {
	walk(reflect.ValueOf(chunk), func(call *ast.FuncCallExpr) {
		of, is := call.Func.(*ast.AttrGetExpr)
		if !is || len(call.Args) == 0 {
			return
		}
		object, isName := of.Object.(*ast.IdentExpr)
		key, isKey := of.Key.(*ast.StringExpr)
		name, isText := call.Args[0].(*ast.StringExpr)
		if isName && isKey && isText && object.Value == "dyno" && key.Value == "check" &&
			!slices.Contains(names, name.Value) {
			names = append(names, name.Value)
		}
	})
	return names
}

// walk visits all calls below a node of a syntax tree.
func walk(v reflect.Value, visit func(*ast.FuncCallExpr)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.CanInterface() {
			if call, is := v.Interface().(*ast.FuncCallExpr); is && v.Kind() == reflect.Pointer {
				visit(call)
			}
		}
		walk(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), visit)
		}
	}
}
