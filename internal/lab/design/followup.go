package design

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// FollowUp changes the text of a screening's file into the experiment that follows it: with all
// combinations of factors, others at their first value. Comments stay.
func FollowUp(source []byte, name string, factors []string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(bytes.TrimPrefix(source, []byte("\ufeff")), &doc); err != nil {
		return nil, fmt.Errorf("reading the screening's file: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the screening's file is no experiment")
	}
	root := doc.Content[0]
	if v := valueOf(root, "name"); v != nil {
		v.SetString(name)
	}
	if d := valueOf(root, "design"); d != nil {
		removeKey(d, "screen")
	}
	if f := valueOf(root, "factors"); f != nil {
		for i := 0; i+1 < len(f.Content); i += 2 {
			if values := f.Content[i+1]; !slices.Contains(factors, f.Content[i].Value) &&
				len(values.Content) > 1 {
				values.Content = values.Content[:1]
			}
		}
	}
	var b bytes.Buffer
	out := yaml.NewEncoder(&b)
	out.SetIndent(2)
	err := out.Encode(&doc)
	return b.Bytes(), errors.Join(err, out.Close())
}

// valueOf is the value of a key of a mapping; nil if it has none. An alias is followed.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			v := n.Content[i+1]
			if v.Kind == yaml.AliasNode {
				v = v.Alias
			}
			return v
		}
	}
	return nil
}

// removeKey removes a key of a mapping.
func removeKey(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}
