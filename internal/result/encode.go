package result

import (
	_ "embed" // for schema
	"encoding/json"
	"io"
	"maps"
	"slices"

	"dyno/internal/setting"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of a result.
func Schema() []byte { return setting.WithSettings(schema) }

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
