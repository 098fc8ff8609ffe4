import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import { html, type Markup } from './markup.ts';
import { sizeOf, webAddress } from './text.ts';

interface InstallCommand {
  name: string;
  /** The reader's system that it is for; undefined for all. */
  system?: 'windows' | 'posix';
  line: string;
}

/**
 * One line for each way to install: the stage's own command, and commands that download, check and unpack the
 * archive, quoted for their shells. Empty without an archive.
 */
function installCommands(nodeId: string, version: PublicVersion, toolPackage?: string): InstallCommand[] {
  const address = webAddress(version.downloadUrl);
  const { sha256 = '' } = version;
  if (address === undefined || !/^[0-9a-f]{64}$/.test(sha256)) return [];
  const label = String(version.version);
  const name = `${nodeId}-${label}.zip`;
  const file = quoted(name);
  const posix = [
    `curl -fLo ${file} ${quoted(address)}`,
    `echo ${quoted(`${sha256}  ${name}`)} | sha256sum --check`,
    `unzip -d ${quoted(nodeId)} ${file}`,
  ].join(' && ');
  const [zip, url, folder] = [name, address, nodeId].map(quotedForPowerShell);
  const check = `(Get-FileHash -LiteralPath ${zip}).Hash -eq '${sha256}'`;
  const windows = `curl.exe -fLo ${zip} ${url}; if (${check}) { Expand-Archive -LiteralPath ${zip} -DestinationPath ${folder} } else { throw 'Not the published bytes.' }`;
  const tool = toolPackage?.replaceAll('{id}', nodeId).replaceAll('{version}', label);
  return [
    ...(tool ? [{ name: 'Tool', line: tool }] : []),
    { name: 'Linux, macOS', system: 'posix', line: posix },
    { name: 'Windows', system: 'windows', line: windows },
  ];
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** PowerShell also reads typographic quotes as quotes. */
function quotedForPowerShell(text: string): string {
  return `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;
}

/** The reader's system is chosen by a radio button, or by the script. */
export function installSection(id: string, version: PublicVersion, toolPackage?: string): Markup {
  const commands = installCommands(id, version, toolPackage);
  const address = webAddress(version.downloadUrl);
  const choices = commands.map(
    ({ name, system }, place) =>
      html`<input type="radio" name="install" id="install-${place}"${system && html` data-system="${system}"`}${place === 0 && html` checked`}><label for="install-${place}">${name}</label>`,
  );
  const lines = commands.map(
    ({ name, line }) =>
      html`<div class="copyable"><pre tabindex="0" aria-label="${name}"><code>${line}</code></pre></div>`,
  );
  return html`<section class="box install" aria-labelledby="install"><h2 id="install">Install</h2>
${
  commands.length === 0
    ? html`<p class="quiet">This version has no archive.</p>`
    : html`<fieldset class="choice"><legend class="unseen">Your system</legend>${choices}${lines}</fieldset>`
}
${
  address !== undefined &&
  html`<a class="button main" href="${address}" rel="noopener noreferrer nofollow">Download ${version.version}${version.size_bytes !== undefined && ` · ${sizeOf(version.size_bytes)}`}</a>`
}
${commands.length > 0 && html`<p class="quiet">Each command checks that the bytes are those that were published. Run it in the folder where the host looks for nodes.</p>`}</section>`;
}
