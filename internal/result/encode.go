package result

import (
	_ "embed" // for Schema
	"encoding/json"
	"io"
	"maps"
	"slices"
)

// Schema is the JSON Schema (2020-12) of a result.
//
//go:embed schema.json
var Schema []byte

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
