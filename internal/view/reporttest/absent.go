package reporttest

import (
	"reflect"
	"runtime/debug"
	"testing"

	"dyno/internal/result"
)

// EachAbsent tries what reads r without each pointer, list or map in it or in its structs: some
// loads do not measure all, and a file may lack anything. What lists and maps contain stays whole.
// It reports panics.
func EachAbsent(t *testing.T, r *result.Result, try func()) {
	t.Helper()
	eachWithout(reflect.ValueOf(r).Elem(), "", func(what string) {
		defer func() {
			if fault := recover(); fault != nil {
				t.Errorf("without %s: %v\n%s", what, fault, debug.Stack())
			}
		}()
		try()
	})
}

// eachWithout calls f with each field that can be nil set to nil, one after the other.
func eachWithout(v reflect.Value, at string, f func(what string)) {
	for i := range v.NumField() {
		field, what := v.Field(i), at+"."+v.Type().Field(i).Name
		if !field.CanSet() {
			continue
		}
		switch field.Kind() {
		case reflect.Struct:
			eachWithout(field, what, f)
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if field.IsNil() {
				continue
			}
			if field.Kind() == reflect.Pointer && field.Elem().Kind() == reflect.Struct {
				eachWithout(field.Elem(), what, f)
			}
			was := reflect.ValueOf(field.Interface())
			field.SetZero()
			f(what)
			field.Set(was)
		}
	}
}
