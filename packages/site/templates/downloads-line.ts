import { html, type Markup } from './markup.ts';
import { dayBefore, numberOf } from './text.ts';

const days = 90;
const height = 40;

/** The downloads of the last 90 days as a line. Today is left out: its logs are still to come. */
export function downloadsLine(byDay: Readonly<Record<string, number>>, now: number): Markup {
  const counts = Array.from({ length: days }, (_, place) => byDay[dayBefore(days - place, now)] ?? 0);
  const max = Math.max(...counts, 1);
  const points = counts
    .map((count, day) => `${day},${(height - 2 - (count / max) * (height - 4)).toFixed(1)}`)
    .join(' ');
  const lately = counts.slice(-30).reduce((sum, count) => sum + count, 0);
  const said = `Downloads a day over ${days} days, ${numberOf(max)} at most`;
  return html`<p class="figure"><b>${numberOf(lately)}</b> <span class="quiet">in 30 days</span></p>
<svg class="spark" viewBox="0 0 ${days - 1} ${height}" preserveAspectRatio="none" role="img" aria-label="${said}"><title>${said}</title><polygon points="0,${height} ${points} ${days - 1},${height}"/><polyline points="${points}" vector-effect="non-scaling-stroke"/></svg>`;
}
