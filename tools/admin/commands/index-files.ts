import { table } from '@node-registry/command-line/table';
import { command } from '../command.ts';
import { rebuildIndex } from '../registry/index-files.ts';
import { findStage } from '../target.ts';

const nodesPerLine = 100;

export const rebuild = command({
  parameters: [],
  summary: 'Rebuild the public index from the whole table, and list the files that differed',
  notes:
    'The function that follows the table keeps the index up to date. Run this if it gave up on changes, or to give a\nlarge registry a catalog of more pieces. It is safe to run at any time.',
  examples: ['index rebuild'],
  async run() {
    await findStage();
    const data = await rebuildIndex({
      progress: (done, all) => {
        if (done % nodesPerLine === 0 || done === all) process.stderr.write(`${done} of ${all} nodes\n`);
      },
    });
    const rows = [
      ...data.written.map((file) => [file, 'written']),
      ...data.removed.map((file) => [file, 'removed']),
      ...data.too_large.map((file) => [file, 'too large']),
    ];
    const text = `${data.nodes} nodes, ${data.pieces} pieces of the catalog. ${
      rows.length === 0 ? 'Every file was up to date.' : `\n${table(['FILE', 'CHANGE'], rows)}`
    }`;
    return { data, text };
  },
});
