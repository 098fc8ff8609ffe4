import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import { html, type Markup } from './markup.ts';
import { sizeOf, webAddress } from './text.ts';

interface InstallCommand {
  name: string;
  /** The reader's system that it is for; undefined for all. */
  system?: 'windows' | 'posix';
  line: string;
}

/** Ids, labels and their URLs have no other characters, so no shell needs a rule of its own to quote them. */
const plainWord = /^\w[\w./:@%~+-]*$/;

/**
 * One line for each way to install: the stage's own command, and commands that download, check and unpack the
 * archive. Empty without an archive.
 */
function installCommands(id: string, version: PublicVersion, toolPackage?: string): InstallCommand[] {
  const address = webAddress(version.downloadUrl);
  const { sha256 = '' } = version;
  const label = String(version.version);
  const zip = `${id}-${label}.zip`;
  if (address === undefined || ![address, zip, sha256].every((word) => plainWord.test(word))) return [];
  const posix = `curl -fLo ${zip} ${address} && echo '${sha256}  ${zip}' | sha256sum --check && unzip -d ${id} ${zip}`;
  const check = `(Get-FileHash -LiteralPath '${zip}').Hash -eq '${sha256}'`;
  const windows = `curl.exe -fLo '${zip}' '${address}'; if (${check}) { Expand-Archive -LiteralPath '${zip}' -DestinationPath '${id}' } else { throw 'Not the published bytes.' }`;
  const tool = toolPackage?.replaceAll('{id}', id).replaceAll('{version}', label);
  return [
    ...(tool ? [{ name: 'Tool', line: tool }] : []),
    { name: 'Linux, macOS', system: 'posix', line: posix },
    { name: 'Windows', system: 'windows', line: windows },
  ];
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
