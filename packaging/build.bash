# Sourced by the scripts that build packages, after environment.bash: where they work, and the one
# date that they write into everything, so that the same source gives the same bytes.
#
# QCOWGUI_BUILD      where they work (default: build in the project's root); may be removed any time
# SOURCE_DATE_EPOCH  that date (default: of the last commit, else of the changelog)

BUILD=${QCOWGUI_BUILD:-$PROJECT/build}
BUILD_VENV=$BUILD/venv

source_date() {
    git -C "$PROJECT" log -1 --format=%ct 2>/dev/null || stat -c %Y -- "$PROJECT/CHANGELOG.md"
}

# What PyInstaller and shared_libraries.py read programs with, and libraries that Qt's need and that
# other packages do not always bring.
BUILD_PACKAGES=(binutils libgssapi-krb5-2)

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_date)}
export PYTHONHASHSEED=1 LC_ALL=C.UTF-8 TZ=UTC
umask 022

# Prints the version of the source tree.
source_version() {
    sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$PROJECT/qcowgui/__init__.py"
}

# An environment with the tools that build, at the versions of build-requirements.txt.
prepare_build() {
    local stamp wanted
    stamp=$BUILD_VENV/.qcowgui-build
    wanted=$(sha256sum <"$PROJECT/packaging/build-requirements.txt")
    mkdir -p -- "$BUILD"
    [[ -x $BUILD_VENV/bin/python && -r $stamp && $(<"$stamp") == "$wanted" ]] && return
    VENV=$BUILD_VENV make_venv
    "$BUILD_VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement "$PROJECT/packaging/build-requirements.txt" >&2
    printf '%s\n' "$wanted" >"$stamp"
}

# build_python wheel|sdist FOLDER: builds that and prints its path.
build_python() {
    local kind=$1 folder=$2
    (cd -- "$PROJECT" && "$BUILD_VENV/bin/python" -m hatchling build --target "$kind" --directory "$folder") >&2
    case $kind in
        wheel) printf '%s\n' "$folder/qcowgui-$(source_version)-py3-none-any.whl" ;;
        sdist) printf '%s\n' "$folder/qcowgui-$(source_version).tar.gz" ;;
    esac
}

# Builds the one-folder bundle anew and prints its path.
build_bundle() {
    local wheel version
    prepare_build
    version=$("$BUILD_VENV/bin/python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
    # Debian's Python is one program; a bundle starts from the library, which is another package.
    [[ $(realpath -- "$BUILD_VENV/bin/python") != /usr/bin/* ]] || BUILD_PACKAGES+=("libpython$version")
    install_packages "${RUNTIME_PACKAGES[@]}" "${BUILD_PACKAGES[@]}" || exit 1
    rm -rf -- "$BUILD/wheel"
    wheel=$(build_python wheel "$BUILD/wheel")
    say "Installing $(basename -- "$wheel") and what it needs"
    "$BUILD_VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" >&2
    "$BUILD_VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        --force-reinstall "$wheel" >&2
    say "Bundling: some minutes (what PyInstaller says is in $BUILD/bundle.log)"
    rm -rf -- "$BUILD/bundle" "$BUILD/pyinstaller"
    (cd -- "$BUILD" && "$BUILD_VENV/bin/pyinstaller" --noconfirm --log-level WARN \
        --distpath "$BUILD/bundle" --workpath "$BUILD/pyinstaller" \
        "$PROJECT/packaging/qcowgui.spec") >"$BUILD/bundle.log" 2>&1 ||
        die "PyInstaller failed:" "$(tail -n 5 -- "$BUILD/bundle.log")"
    "$BUILD_VENV/bin/python" "$PROJECT/packaging/licences.py" "$BUILD/bundle/qcowgui/_internal"
    # A module that is missing is missed by whoever uses it first: the demo uses most of them.
    rm -rf -- "$BUILD/demo"
    "$BUILD/bundle/qcowgui/qcowgui" demo --no-window --out "$BUILD/demo" >"$BUILD/demo.log" 2>&1 ||
        die "The bundle does not work:" "$(tail -n 5 -- "$BUILD/demo.log")"
    rm -rf -- "$BUILD/demo"
    printf '%s\n' "$BUILD/bundle/qcowgui"
}
