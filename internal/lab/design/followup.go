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
	root, err := withoutAliases(doc.Content[0])
	if err != nil {
		return nil, err
	}
	doc.Content[0] = root
	mergeKeys(root, 0)
	if v := valueOf(root, "name"); v != nil {
		v.SetString(name)
	}
	if d := valueOf(root, "design"); d != nil {
		mergeKeys(d, 0)
		removeKey(d, "screen")
	}
	if f := valueOf(root, "factors"); f != nil {
		mergeKeys(f, 0)
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
	err = out.Encode(&doc)
	return b.Bytes(), errors.Join(err, out.Close())
}

// nodesMost is how many nodes a file can have after its aliases were replaced.
const nodesMost = 100_000

// withoutAliases is a copy of a node in which a copy of what it stands for is in each alias' place:
// a change of one place then is none of another.
func withoutAliases(n *yaml.Node) (*yaml.Node, error) {
	left := nodesMost
	var copied func(*yaml.Node) *yaml.Node
	copied = func(n *yaml.Node) *yaml.Node {
		if left--; left < 0 {
			return n
		}
		comments := *n
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		c := *n
		c.Anchor, c.Alias = "", nil
		c.HeadComment, c.LineComment, c.FootComment = comments.HeadComment, comments.LineComment,
			comments.FootComment
		c.Content = nil
		for _, child := range n.Content {
			c.Content = append(c.Content, copied(child))
		}
		return &c
	}
	c := copied(n)
	if left < 0 {
		return nil, fmt.Errorf("the aliases of the screening's file stand for more than %d values",
			nodesMost)
	}
	return c, nil
}

// mergeKeys puts what << merges into a mapping without aliases in its place: keys that it does not
// have itself.
func mergeKeys(n *yaml.Node, depth int) {
	const deepest = 16 // as package experiment has it
	if n.Kind != yaml.MappingNode || depth > deepest {
		return
	}
	var own, merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i], n.Content[i+1]; key.ShortTag() != "!!merge" {
			own = append(own, key, value)
		} else if value.Kind == yaml.SequenceNode {
			merged = append(merged, value.Content...)
		} else {
			merged = append(merged, value)
		}
	}
	n.Content = own
	for _, m := range merged {
		mergeKeys(m, depth+1)
		for i := 0; m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
			if valueOf(n, m.Content[i].Value) == nil {
				n.Content = append(n.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
}

// valueOf is the value of a key of a mapping; nil if it has none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
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
