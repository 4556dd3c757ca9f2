package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/server"
)

// listed are the files below dir, each with its mode and owner.
func listed(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all = append(all, fmt.Sprintf("%s %o %d", name, info.Mode().Perm(), info.Sys().(*syscall.Stat_t).Uid))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Who gets into a run directory, and what of it belongs to whom.
func TestFurnish(t *testing.T) {
	me := os.Getuid()
	files := []experiment.File{{Path: "conf/app.conf", Text: "x"}}
	for _, test := range []struct {
		name  string
		i     experiment.Instance
		users []string
		root  bool
		want  []string
	}{
		{"a process of ours", experiment.Instance{}, []string{""}, false,
			[]string{". 700 ME", "conf 700 ME", "conf/app.conf 600 ME"}},
		{"one of another user", experiment.Instance{}, []string{"4711"}, true, []string{". 711 ME",
			".u1 711 4711", ".u1/conf 700 4711", ".u1/conf/app.conf 600 4711"}},
		{"both", experiment.Instance{}, []string{"4711", ""}, true, []string{". 711 ME", ".u1 711 4711",
			".u1/conf 700 4711", ".u1/conf/app.conf 600 4711", "conf 700 ME", "conf/app.conf 600 ME"}},
		{"one that drops root", experiment.Instance{DropsRoot: true}, []string{""}, true,
			[]string{". 711 ME", "conf 755 ME", "conf/app.conf 644 ME"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.root && me != 0 {
				t.Skip("only root has processes of other users")
			}
			dir, err := server.SocketDir()
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			for i, user := range test.users {
				path := dir
				if user != "" {
					path = filepath.Join(dir, fmt.Sprintf(".u%d", i+1))
				}
				test.i.Folders = append(test.i.Folders, experiment.Folder{User: user, Path: path, Files: files})
			}
			if err := fillRunDir(dir, &test.i); err != nil {
				t.Fatal(err)
			}
			want := make([]string, len(test.want))
			for i, w := range test.want {
				want[i] = strings.Replace(w, "ME", fmt.Sprint(me), 1)
			}
			if got := listed(t, dir); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// That there is no such user is why the server cannot start, and no fault of ours.
func TestFurnishForNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has processes of other users")
	}
	dir, err := server.SocketDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	err = fillRunDir(dir, &experiment.Instance{Folders: []experiment.Folder{{User: "no such user",
		Path: filepath.Join(dir, ".u1")}}})
	f := new(server.Failure)
	if !errors.As(err, &f) || f.Kind != server.CannotStart || !strings.Contains(f.Reason, "no such user") {
		t.Errorf("%v", err)
	}
}
