# Install attn_gui for the present user, out of the folder that this script lies in. Needs no administrator.
#   powershell -ExecutionPolicy Bypass -File install.ps1
# NOT YET RUN on Windows: written from the documentation of Windows alone.
$ErrorActionPreference = 'Stop'
$here = Split-Path -Parent $MyInvocation.MyCommand.Path
$source = Join-Path $here 'attn_gui'
$target = Join-Path $env:LOCALAPPDATA 'Programs\attn_gui'
$program = Join-Path $target 'attn-gui.exe'
if (-not (Test-Path (Join-Path $source 'attn-gui.exe'))) {
    throw 'The folder attn_gui is missing beside this script: extract the whole archive first.'
}
$open = @(Get-Process -Name 'attn-gui' -ErrorAction SilentlyContinue | Where-Object { $_.Path -eq $program })
if ($open.Count) { throw 'attn_gui is open: close it, then run this again.' }

# the new version is whole before the old one goes
foreach ($ending in '.new', '.old') {
    if (Test-Path "$target$ending") { Remove-Item -Recurse -Force "$target$ending" }
}
New-Item -ItemType Directory -Force -Path (Split-Path -Parent $target) | Out-Null
Copy-Item -Recurse $source "$target.new"
Copy-Item (Join-Path $here 'uninstall.ps1') "$target.new"
# a file out of a downloaded archive is marked as one, and asked about at each start
Get-ChildItem -Recurse -File "$target.new" | Unblock-File
if (Test-Path $target) { Rename-Item $target "$(Split-Path -Leaf $target).old" }
Rename-Item "$target.new" (Split-Path -Leaf $target)
if (Test-Path "$target.old") { Remove-Item -Recurse -Force "$target.old" }

$link = (New-Object -ComObject WScript.Shell).CreateShortcut(
    (Join-Path ([Environment]::GetFolderPath('Programs')) 'attn_gui.lnk'))
$link.TargetPath = $program
$link.WorkingDirectory = [Environment]::GetFolderPath('MyDocuments')
$link.Description = 'Explore attention: every score, weight and output, exact and editable'
$link.Save()

# .attn files open with it, and it is in the list of installed apps
$classes = 'HKCU:\Software\Classes'
$values = @{
    "$classes\.attn" = @{ '(default)' = 'attn_gui.session'; 'Content Type' = 'application/x-attn-session' }
    "$classes\attn_gui.session" = @{ '(default)' = 'attn_gui session' }
    "$classes\attn_gui.session\DefaultIcon" = @{ '(default)' = "`"$program`",0" }
    "$classes\attn_gui.session\shell\open\command" = @{ '(default)' = "`"$program`" `"%1`"" }
    'HKCU:\Software\Microsoft\Windows\CurrentVersion\Uninstall\attn_gui' = @{
        DisplayName = 'attn_gui'
        DisplayIcon = $program
        DisplayVersion = (Get-Item $program).VersionInfo.ProductVersion
        InstallLocation = $target
        UninstallString = "powershell -ExecutionPolicy Bypass -File `"$target\uninstall.ps1`""
    }
}
foreach ($key in $values.Keys) {
    New-Item -Force -Path $key | Out-Null
    foreach ($name in $values[$key].Keys) { Set-ItemProperty -Path $key -Name $name -Value $values[$key][$name] }
}
Write-Output "attn_gui is in the start menu and in $target; uninstall it in Settings, Apps"
