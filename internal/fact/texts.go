package fact

import (
	"reflect"
	"slices"
)

// ReplaceTexts replaces each text of the fact's arguments, its address and what its remedies give:
// others may have written them.
func (f *Fact) ReplaceTexts(replace func(string) string) {
	f.Scope.Address = replace(f.Scope.Address)
	f.Remedies = slices.Clone(f.Remedies)
	for i := range f.Remedies {
		f.Remedies[i].Value = replace(f.Remedies[i].Value)
	}
	if u, is := f.Args.(Unknown); is {
		f.Args = Unknown{u.Of, []byte(replace(string(u.Raw)))}
		return
	}
	args := reflect.New(reflect.TypeOf(f.Args)).Elem()
	args.Set(reflect.ValueOf(f.Args))
	replaceIn(args, replace)
	f.Args = args.Interface().(Args)
}

// replaceIn replaces the texts in the fields of a struct, and in slices and structs in them.
func replaceIn(v reflect.Value, replace func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(replace(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			replaceIn(v.Field(i), replace)
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			replaceIn(fresh.Index(i), replace)
		}
		if v.Len() > 0 {
			v.Set(fresh)
		}
	}
}
