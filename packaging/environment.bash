# Sourced by run and test: prepares what they need, once. Everything it says goes to stderr, so
# that `packaging/run info --json IMAGE | jq` gets nothing but JSON.
#
# QCOWGUI_VENV    where the virtual environment is (default: .venv in the project's root)
# QCOWGUI_PYTHON  which Python makes it (default: the newest of 3.11 or later on the PATH)

PROJECT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${QCOWGUI_VENV:-$PROJECT/.venv}

# What Qt's libraries load at run time, and a font.
RUNTIME_PACKAGES=(
    libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
    libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1 libdbus-1-3
    libfontconfig1 fonts-dejavu-core
)
# The tests' oracle, file systems for its images, a display with somebody to click and a small
# desktop on it, and the judges of what is made for desktops, shells and man.
TEST_PACKAGES=(
    qemu-utils e2fsprogs xvfb xdotool imagemagick openbox xdg-utils libglib2.0-bin shared-mime-info
    desktop-file-utils appstream mandoc bash-completion fish zsh
)

say() {
    printf '%s\n' "$@" >&2
}

die() {
    say "$@"
    exit 1
}

# Prints those of the Debian packages named that are not installed. Since 2024 some carry the
# suffix t64 for 64-bit times; either name will do.
missing_packages() {
    local name installed
    command -v dpkg-query >/dev/null || return 0
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' -- "$@" "${@/%/t64}" 2>/dev/null) || true
    for name in "$@"; do
        case $'\n'$installed$'\n' in
            *$'\n'"installed $name"$'\n'* | *$'\n'"installed ${name}t64"$'\n'*) ;;
            *) printf '%s\n' "$name" ;;
        esac
    done
}

# Prints each name as this release of Debian or Ubuntu spells it.
available_names() {
    local name
    for name in "$@"; do
        if ! apt-cache show "$name" >/dev/null 2>&1 && apt-cache show "${name}t64" >/dev/null 2>&1; then
            name=${name}t64
        fi
        printf '%s\n' "$name"
    done
}

# Installs those of the Debian packages named that are missing.
# Returns 1, having said what to do, when that needs rights that we don't have.
install_packages() {
    local missing names as_root=()
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        if ! { command -v sudo && sudo -n true; } >/dev/null 2>&1; then
            mapfile -t names < <(available_names "${missing[@]}")
            say "Missing system packages. Install them with:" "" "    sudo apt-get install ${names[*]}" ""
            return 1
        fi
        as_root=(sudo -n)
    fi
    say "Installing system packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq >&2 || say "apt-get update failed; trying with the lists that are there"
    mapfile -t names < <(available_names "${missing[@]}")
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${names[@]}" >&2
}

# Prints the Python to make the environment with.
find_python() {
    local candidate
    for candidate in ${QCOWGUI_PYTHON:+"$QCOWGUI_PYTHON"} python3.14 python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    local python version
    python=$(find_python) || die "qcowgui needs Python 3.11 or later; none is on the PATH."
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
        install_packages "python$version-venv" || die "Python $version can't make virtual environments without it."
    fi
    say "Making a virtual environment in $VENV"
    "$python" -m venv --clear "$VENV" >&2
}

# prepare runtime|test: an environment in which the program, or its tests, run.
# The stamp holds what was installed and from where, so that nothing is done twice and a moved
# tree is noticed.
prepare() {
    local kind=$1 stamp wanted requirement=$PROJECT
    stamp=$VENV/.qcowgui-$kind
    wanted="$PROJECT $(sha256sum <"$PROJECT/pyproject.toml")"
    if [[ -x $VENV/bin/python && -r $stamp && $(<"$stamp") == "$wanted" ]]; then
        return 0
    fi
    if ! install_packages "${RUNTIME_PACKAGES[@]}"; then
        [[ $kind == runtime ]] || exit 1
        say "Going on: the command line works without them, the window may not."
    fi
    # A Python that was upgraded away leaves a link to nowhere.
    if ! "$VENV/bin/python" -c 'import pip' 2>/dev/null; then
        [[ ! -e $VENV || -e $VENV/pyvenv.cfg ]] || die "$VENV is there, but it is not a virtual environment."
        make_venv
    fi
    [[ $kind == runtime ]] || requirement+="[test]"
    say "Installing qcowgui and what it needs"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$requirement" >&2
    # The tests' packages contain the program's.
    printf '%s\n' "$wanted" | tee "$stamp" >"$VENV/.qcowgui-runtime"
}
