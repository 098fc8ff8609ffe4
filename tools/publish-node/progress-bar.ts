const width = 30;

interface Terminal {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

/** A bar that is drawn over itself; where nobody looks on, as in a CI, nothing is drawn. */
export function progressBar(terminal: Terminal, totalBytes: number) {
  let drawn = '';
  return {
    show(bytes: number): void {
      const share = totalBytes === 0 ? 1 : bytes / totalBytes;
      const filled = Math.round(share * width);
      const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
      const line = `  ${bar} ${Math.round(share * 100)}% of ${megabytes(totalBytes)}`;
      if (terminal.isTTY !== true || line === drawn) return;
      terminal.write(`\r${line}`);
      drawn = line;
    },
    finish(): void {
      if (drawn !== '') terminal.write('\n');
    },
  };
}

export function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
