const width = 30;
const lineMs = 10_000;

interface Terminal {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

/** A bar that redraws itself; without a terminal, as in a CI, a line every ten seconds. */
export function progressBar(terminal: Terminal, totalBytes: number) {
  let drawn = '';
  let lastLine = Date.now();
  return {
    show(bytes: number): void {
      const share = totalBytes === 0 ? 1 : bytes / totalBytes;
      const filled = Math.round(share * width);
      const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
      const percent = `${Math.round(share * 100)}% of ${megabytes(totalBytes)}`;
      if (terminal.isTTY === true) {
        const line = `  ${bar} ${percent}`;
        if (line !== drawn) terminal.write(`\r${line}`);
        drawn = line;
      } else if (Date.now() - lastLine > lineMs) {
        lastLine = Date.now();
        terminal.write(`  ${percent}\n`);
      }
    },
    finish(): void {
      if (drawn !== '') terminal.write('\n');
      drawn = '';
    },
  };
}

export function megabytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
