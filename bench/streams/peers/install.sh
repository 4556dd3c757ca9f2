#!/bin/sh
# Installs the peers of bench/streams/peers into FOLDER: k6, which Go compiles, and three that pip
# fetches from PyPI, each into a virtual environment of its own: AIPerf 1.2 GB, guidellm 6 GB, vLLM
# 10 GB, because the last two bring PyTorch. None needs a model, a hub or a GPU for what the bench
# does. With names after FOLDER it installs only these.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 FOLDER [k6|aiperf|guidellm|vllm]…" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
absent() { echo "$1 could not be installed; the bench leaves it out" >&2; }
case " ${*:-k6} " in *" k6 "*)
	GOBIN=$(cd "$folder" && pwd)/k6 go install go.k6.io/k6@v1.8.1 || absent k6 ;;
esac
for package in aiperf==0.13.0 guidellm==0.8.1 vllm==0.33.0; do
	name=${package%%==*}
	case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
	python3 -m venv "$folder/$name"
	"$folder/$name/bin/pip" install --quiet --no-cache-dir "$package" || absent "$package"
done
