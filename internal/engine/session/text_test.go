package session

import "testing"

// Segments . and .. are removed as curl does it, in the path and not in the query.
func TestWithoutDots(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "/a/b": "/a/b", "/a/b/": "/a/b/", "//a": "//a", "/a//b": "/a//b", "/a/./b": "/a/b", "/a/../b": "/b",
		"/a/b/c/./../../g": "/a/g", "/..": "/", "/../../a": "/a", "/a/..": "/", "/a/b/..": "/a/", "/a/.": "/a/", "/./": "/",
		"/a...b/.c/..d": "/a...b/.c/..d", "/a/../b?c=../d": "/b?c=../d", "/?a/../b": "/?a/../b",
	} {
		if got := withoutDots(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestIndexFold(t *testing.T) {
	for in, want := range map[string]int{"": -1, "chars": -1, "charset": 0, "text/html; CharSet=x": 11, "set; CHARSET": 5} {
		if got := indexFold([]byte(in), "charset"); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}
