package setting

import "testing"

// What excludes each other are settings, and each pair stands once.
func TestClashesNameSettings(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, x := range Clashes {
		if Named(x.One) == nil || Named(x.Other) == nil || x.Because == "" {
			t.Errorf("%+v", x)
		}
		if seen[[2]string{x.One, x.Other}] || seen[[2]string{x.Other, x.One}] {
			t.Errorf("%s and %s stand twice", x.One, x.Other)
		}
		seen[[2]string{x.One, x.Other}] = true
	}
	for _, name := range SaidByHurl {
		if Of(Run, name) == nil && Of(Vs, name) == nil {
			t.Errorf("%s is no setting", name)
		}
	}
}

// Names, letters, keys and fields are of one setting each, for a verb.
func TestRowsDoNotShareNames(t *testing.T) {
	for _, v := range []Verbs{Run, Find, Vs} {
		seen := map[string]string{}
		for _, g := range Groups(v) {
			for _, s := range g.Settings {
				for _, name := range []string{"--" + s.Name, "-" + s.Short, "key " + s.Key, "field " + s.Field} {
					if other := seen[name]; other != "" && name != "-" && name != "key " && name != "field " {
						t.Errorf("%s is of %s and of %s", name, other, s.Name)
					}
					seen[name] = s.Name
				}
			}
		}
	}
}
