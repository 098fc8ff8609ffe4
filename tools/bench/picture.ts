import type { Report } from './report.ts';

const barHeight = 14;
const rowHeight = 52;
const labelWidth = 190;
const width = 860;
const top = 64;

/** The cold starts as bars: this service's, and the usual build of the same functions. */
export function picture({ date, machine, figures }: Report): string {
  const rows = figures.filter(({ name }) => name.startsWith('cold: '));
  const maxValue = Math.max(...rows.map(({ median, usual = 0 }) => Math.max(median, usual)));
  const scale = (width - labelWidth - 90) / maxValue;
  const height = top + rows.length * rowHeight + 24;
  const bar = (y: number, value: number, kind: string) =>
    `<rect class="${kind}" x="${labelWidth}" y="${y}" width="${(value * scale).toFixed(1)}" height="${barHeight}" rx="2"/>` +
    `<text x="${(labelWidth + value * scale + 8).toFixed(1)}" y="${y + 11}">${value.toFixed(2)}</text>`;
  const floor = labelWidth + scale;
  const body = rows.map(({ name, median, usual = 0 }, index) => {
    const y = top + index * rowHeight;
    const label = `<text class="name" x="${labelWidth - 12}" y="${y + 20}">${name.slice('cold: '.length)}</text>`;
    return label + bar(y, median, 'ours') + bar(y + barHeight + 3, usual, 'usual');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">
<title>Cold starts of the functions</title>
<style>
  svg { background: #fff } text { fill: #333 } .name { text-anchor: end } .title { font-size: 17px; font-weight: 600 }
  .ours { fill: #0f766e } .usual { fill: #cbd5e1 } .floor { stroke: #b91c1c; stroke-dasharray: 3 3 } .note { fill: #666; font-size: 12px }
</style>
<text class="title" x="20" y="28">First answer after a cold start, over a handler that does nothing</text>
<text class="note" x="20" y="48">dark: this service; light: the same functions, bundled the usual way; dashed: the bare handler. ${date}, ${escaped(machine)}</text>
${body.join('\n')}
<line class="floor" x1="${floor.toFixed(1)}" y1="${top - 6}" x2="${floor.toFixed(1)}" y2="${height - 20}"/>
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
