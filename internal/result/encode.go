package result

import (
	"bytes"
	_ "embed" // for schema
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/setting"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of a result.
func Schema() []byte { return WithPercentiles(setting.WithSettings(schema)) }

// WithPercentiles is a JSON Schema in which "$percentiles" has become a property for each
// percentile of a second or of a route.
func WithPercentiles(schema []byte) []byte {
	places := map[string]any{"second": new(loadresult.LatencyTimes), "route": new(Route)}
	for place, of := range places {
		var all []string
		for _, p := range metric.Percentiles(of) {
			all = append(all, fmt.Sprintf(`%q: {"$ref": "#/$defs/quantity"}`, p.Key))
		}
		schema = bytes.ReplaceAll(schema, fmt.Appendf(nil, `"$percentiles": %q`, place),
			[]byte(strings.Join(all, ", ")))
	}
	return schema
}

// Encode writes r as stored: indented JSON, keys in a fixed order.
func Encode(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// StatusCodes are the keys of status, sorted.
func StatusCodes(status map[string]int64) []string {
	return slices.Sorted(maps.Keys(status))
}
