package metric

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A Percentile is a field of a struct that has one.
type Percentile struct {
	Key     string  // of the field in JSON: p99_9_us
	Of      string  // what it is of, where the key says so: gap of gap_p99_us
	Name    string  // as people write it: p99.9
	Percent float64 // above 0, below 100
	Value   *float64
}

// Percentiles are those of the struct that of points to, in the order of its fields. They are the
// fields of float64 whose JSON key is that of a percentile: "p99_9_us", or "p99_9" of what has no
// unit, or "gap_p99_us" of one quantity among several. So a struct is the list of the percentiles
// that something has: whoever computes, checks or writes all of them asks here, and another
// percentile is another field.
func Percentiles(of any) []Percentile {
	v := reflect.ValueOf(of).Elem()
	fields := percentilesOf(v.Type())
	all := make([]Percentile, len(fields))
	for i, f := range fields {
		all[i] = Percentile{f.key, f.of, f.name, f.percent,
			v.Field(f.index).Addr().Interface().(*float64)}
	}
	return all
}

// A percentileField is what the type of a struct says of one of its percentiles.
type percentileField struct {
	index         int
	key, of, name string
	percent       float64
}

// percentileFields are the []percentileField of each reflect.Type that was asked for: an experiment
// asks for those of the same type once for each trial and measure.
var percentileFields sync.Map

func percentilesOf(t reflect.Type) []percentileField {
	if known, is := percentileFields.Load(t); is {
		return known.([]percentileField)
	}
	var all []percentileField
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := strings.TrimSuffix(key, "_us")
		of := name[:max(strings.LastIndex(name, "_p"), 0)]
		name = strings.ReplaceAll(strings.TrimPrefix(name[len(of):], "_"), "_", ".")
		number, is := strings.CutPrefix(name, "p")
		percent, err := strconv.ParseFloat(number, 64)
		if is && err == nil && f.Type.Kind() == reflect.Float64 {
			all = append(all, percentileField{i, key, of, name, percent})
		}
	}
	percentileFields.Store(t, all)
	return all
}
