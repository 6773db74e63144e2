# Take away what install.ps1 installed. Settings and sessions stay.
# NOT YET RUN on Windows: written from the documentation of Windows alone.
$ErrorActionPreference = 'Stop'
$target = Join-Path $env:LOCALAPPDATA 'Programs\attn_gui'
$program = Join-Path $target 'attn-gui.exe'
$open = @(Get-Process -Name 'attn-gui' -ErrorAction SilentlyContinue | Where-Object { $_.Path -eq $program })
if ($open.Count) { throw 'attn_gui is open: close it, then run this again.' }
$places = @(
    (Join-Path ([Environment]::GetFolderPath('Programs')) 'attn_gui.lnk')
    'HKCU:\Software\Classes\attn_gui.session'
    'HKCU:\Software\Microsoft\Windows\CurrentVersion\Uninstall\attn_gui'
)
# another program may have taken the files over since
$kind = 'HKCU:\Software\Classes\.attn'
if ((Test-Path $kind) -and (Get-Item $kind).GetValue('') -eq 'attn_gui.session') { $places += $kind }
# its own folder last: this script lies in it
Set-Location $env:TEMP
foreach ($place in $places + $target) {
    if (Test-Path $place) { Remove-Item -Recurse -Force $place }
}
Write-Output 'attn_gui is gone; settings and sessions were left where they are'
