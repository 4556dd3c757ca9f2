package loadplan

import (
	"slices"
	"strings"
)

// Rows says what data the Requests have values from.
type Rows struct {
	File   string `json:"file"`   // its name, without the folder
	Rows   int    `json:"rows"`   // how many it has
	SHA256 string `json:"sha256"` // of the file
	Order  string `json:"order"`  // in which rows are taken: see package data
}

// SetVariables sets Variables, in the order of their names.
func (p *Plan) SetVariables(values map[string]string) {
	p.Variables = nil
	for name, value := range values {
		p.Variables = append(p.Variables, Param{Name: name, Value: value})
	}
	slices.SortFunc(p.Variables, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
}
