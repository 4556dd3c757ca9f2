// Package keys copies the settings of a load between a plan and a struct whose JSON tags are the
// keys of an experiment's file, by the table of settings. So a key that is in the table needs a
// field in the struct and nothing else.
package keys

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// SetPlan sets in a plan what from, a struct with the keys of a place ("level" or "workload"),
// says. What is zero in it and in unset, which is another, says nothing. Its error joins what is no
// value of its setting.
func SetPlan[T any](p *loadplan.Plan, place string, from, unset T) (err error) {
	for i := range setting.Table {
		s := &setting.Table[i]
		key, is := strings.CutPrefix(s.Key, place+".")
		if !is || s.Set == nil {
			continue
		}
		v, wrong := at(reflect.ValueOf(from), key)
		d, lacks := at(reflect.ValueOf(unset), key)
		if wrong = errors.Join(wrong, lacks); wrong == nil && (!v.IsZero() || !d.IsZero()) {
			wrong = Set(p, s, v)
		}
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.Key, wrong))
		}
	}
	return err
}

// Set sets a setting in a plan from a value of an experiment.
func Set(p *loadplan.Plan, s *setting.Setting, v reflect.Value) (err error) {
	values := textsOf(v)
	if len(values) > 1 && !s.Repeats() {
		values = []string{strings.Join(values, ",")}
	}
	for _, text := range values {
		err = errors.Join(err, s.Set(p, text))
	}
	return err
}

// Take sets in to, a struct with the keys of a place, what a plan has of the settings that are
// given, by their names.
func Take[T any](to *T, place string, p *loadplan.Plan, given map[string]bool) error {
	for i := range setting.Table {
		s := &setting.Table[i]
		key, is := strings.CutPrefix(s.Key, place+".")
		if !is || s.Set == nil || !given[s.Name] {
			continue
		}
		v, err := at(reflect.ValueOf(to).Elem(), key)
		if err != nil {
			return err
		}
		for _, text := range s.Text(p) {
			if err := setText(v, text); err != nil {
				return loadplan.Flaw{Setting: s.Field, Problem: err.Error()}
			}
		}
	}
	return nil
}

// at is the value at a path of keys.
func at(v reflect.Value, path string) (reflect.Value, error) {
	for key := range strings.SplitSeq(path, ".") {
		found := false
		for f := range v.Type().Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
				v, found = v.FieldByIndex(f.Index), true
				break
			}
		}
		if !found {
			return v, fmt.Errorf("%v has no key %s", v.Type(), key)
		}
	}
	return v, nil
}

// textsOf are the texts of a value, one of each element of a list.
func textsOf(v reflect.Value) (all []string) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			all = append(all, textsOf(v.Index(i))...)
		}
		return all
	}
	if text, is := v.Interface().(encoding.TextMarshaler); is {
		if b, err := text.MarshalText(); err == nil {
			return []string{string(b)}
		}
	}
	return []string{fmt.Sprint(v.Interface())}
}

// setText sets a value from a text, or adds to a list.
func setText(v reflect.Value, text string) (err error) {
	if v.Kind() == reflect.Slice {
		one := reflect.New(v.Type().Elem()).Elem()
		err = setText(one, text)
		v.Set(reflect.Append(v, one))
		return err
	}
	if to, is := v.Addr().Interface().(encoding.TextUnmarshaler); is {
		return to.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
	default:
		err = fmt.Errorf("%v has no text", v.Type())
	}
	return err
}
