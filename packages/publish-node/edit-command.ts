import { explain, Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, metadataNotes, readNamed, requestOf, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';

export interface EditFlags extends OwnerFlags {
  metadata: Metadata;
}

/** Changes a node's metadata without a release: what pyproject.toml and the command line name, and nothing else. */
export async function editCommand(folder: string, flags: EditFlags, mean: Mean): Promise<Ending> {
  const read = await readNamed(folder, flags.metadata);
  mean({ ...meantBy(read), version: undefined });
  const named = { ...read.metadata, ...flags.metadata, ...requireOwned(read), version: '' };
  const { id: _, ...fields } = requestOf(named).node ?? {};
  const names = Object.keys(fields);
  if (names.length === 0)
    throw new Failure(
      'usage',
      'Name what to change, in pyproject.toml or as an option, such as --description.',
    );
  const { registry, hint } = connectAsOwner(flags);
  const { publisher, node } = named;
  await registry.nodes.update(publisher, node, fields).catch(explain({ unauthorized: hint }));
  return {
    report: { status: 'edited', publisher, node, notes: metadataNotes(named) },
    lines: [`${node} has these fields as named here: ${names.join(', ')}.`, ...metadataNotes(named)],
  };
}
