package metric

import (
	"reflect"
	"strconv"
	"strings"
)

// A Percentile is a field of a struct that has one.
type Percentile struct {
	Key     string  // of the field in JSON: p99_9_us
	Name    string  // as people write it: p99.9
	Percent float64 // above 0, below 100
	Value   *float64
}

// Percentiles are those of the struct that of points to, in the order of its fields. They are the
// fields of float64 whose JSON key is that of a percentile: "p99_9_us", or "p99_9" of what has no
// unit. So a struct is the list of the percentiles that something has: whoever computes, checks or
// writes all of them asks here, and another percentile is another field.
func Percentiles(of any) (all []Percentile) {
	for f, v := range reflect.ValueOf(of).Elem().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := strings.ReplaceAll(strings.TrimSuffix(key, "_us"), "_", ".")
		number, is := strings.CutPrefix(name, "p")
		percent, err := strconv.ParseFloat(number, 64)
		if is && err == nil && f.Type.Kind() == reflect.Float64 {
			all = append(all, Percentile{key, name, percent, v.Addr().Interface().(*float64)})
		}
	}
	return all
}
