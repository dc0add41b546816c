; The installer for Windows, made with Inno Setup 6. On Windows, in the root of the tree:
;
;   py -3 -m venv build\venv
;   build\venv\Scripts\pip install -r packaging\build-requirements.txt .
;   build\venv\Scripts\pyinstaller --distpath build\bundle --workpath build\pyinstaller packaging\qcowgui.spec
;   iscc /DVersion=X.Y.Z packaging\windows\qcowgui.iss
;
; It installs for this user, or for all when asked to, and adds qcowgui to what qcow2 files open with.
; It takes no file type away from another program: Windows asks the user.

#ifndef Version
  #error Give the version: iscc /DVersion=X.Y.Z packaging\windows\qcowgui.iss
#endif
#define ProgId "qcowgui.Image.1"

[Setup]
AppId={{7E0B7A6C-58D1-4C0B-9D5E-2E1C8F4E6B1A}
AppName=qcowgui
AppVersion={#Version}
AppPublisher=The qcowgui authors
VersionInfoVersion={#Version}
DefaultDirName={autopf}\qcowgui
DefaultGroupName=qcowgui
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
ChangesAssociations=yes
LicenseFile=..\..\LICENSE
SetupIconFile=qcowgui.ico
UninstallDisplayIcon={app}\qcowgui-window.exe
OutputDir=..\..\dist
OutputBaseFilename=qcowgui-{#Version}-windows-x64
Compression=lzma2
SolidCompression=yes
WizardStyle=modern

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Files]
Source: "..\..\build\bundle\qcowgui\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\qcowgui"; Filename: "{app}\qcowgui-window.exe"; AppUserModelID: "qcowgui"

[Registry]
; what a qcow2 file is to this program
Root: HKA; Subkey: "Software\Classes\{#ProgId}"; ValueType: string; ValueName: ""; ValueData: "qcow2 disk image"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\{#ProgId}\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\qcowgui-window.exe,0"
Root: HKA; Subkey: "Software\Classes\{#ProgId}\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\qcowgui-window.exe"" ""%1"""
; one of the programs that such a file may be opened with
Root: HKA; Subkey: "Software\Classes\.qcow2\OpenWithProgids"; ValueType: string; ValueName: "{#ProgId}"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty
Root: HKA; Subkey: "Software\Classes\.qcow\OpenWithProgids"; ValueType: string; ValueName: "{#ProgId}"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty
; "Open with" for any other file: it is looked at by its content
Root: HKA; Subkey: "Software\Classes\Applications\qcowgui-window.exe"; ValueType: string; ValueName: "FriendlyAppName"; ValueData: "qcowgui"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Applications\qcowgui-window.exe\SupportedTypes"; ValueType: string; ValueName: ".qcow2"; ValueData: ""
Root: HKA; Subkey: "Software\Classes\Applications\qcowgui-window.exe\SupportedTypes"; ValueType: string; ValueName: ".img"; ValueData: ""
Root: HKA; Subkey: "Software\Classes\Applications\qcowgui-window.exe\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\qcowgui-window.exe"" ""%1"""
; the list of Settings, Default apps
Root: HKA; Subkey: "Software\qcowgui"; Flags: uninsdeletekeyifempty
Root: HKA; Subkey: "Software\qcowgui\Capabilities"; ValueType: string; ValueName: "ApplicationName"; ValueData: "qcowgui"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\qcowgui\Capabilities"; ValueType: string; ValueName: "ApplicationDescription"; ValueData: "See inside qcow2 disk images, check and convert them"
Root: HKA; Subkey: "Software\qcowgui\Capabilities\FileAssociations"; ValueType: string; ValueName: ".qcow2"; ValueData: "{#ProgId}"
Root: HKA; Subkey: "Software\RegisteredApplications"; ValueType: string; ValueName: "qcowgui"; ValueData: "Software\qcowgui\Capabilities"; Flags: uninsdeletevalue

[Run]
Filename: "{app}\qcowgui-window.exe"; Description: "{cm:LaunchProgram,qcowgui}"; Flags: nowait postinstall skipifsilent
