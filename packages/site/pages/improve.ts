/* What scripts improve on pages that are whole without them. */

/** A slow phone lays the page out when it is parsed; what scripts do comes in a task of its own. */
export const parsed = () => new Promise<void>((resolve) => setTimeout(resolve));

const minuteMs = 60_000;
/** The longest unit that fits, with the number of minutes in it. */
const units: [minutes: number, name: string][] = [
  [525_960, 'year'],
  [43_830, 'month'],
  [10_080, 'week'],
  [1440, 'day'],
  [60, 'hour'],
  [1, 'minute'],
];

/** "3 months ago". The exact time stays in the title. */
function relativeTime(timestamp: string, now: number): string {
  const minutes = (now - Date.parse(timestamp)) / minuteMs;
  const [size, name] = units.find(([unit]) => minutes >= unit) ?? [0, ''];
  if (size === 0) return 'just now';
  const count = Math.floor(minutes / size);
  return `${count === 1 ? (name === 'hour' ? 'an' : 'a') : count} ${name}${count === 1 ? '' : 's'} ago`;
}

/** Turns dates into distances, and removes pictures that fail: a tile or their text is behind them. */
export function improve(root: Element | Document, now = Date.now()): void {
  for (const time of root.querySelectorAll('time'))
    if (time.dateTime && !time.dataset.told) {
      time.dataset.told = 'yes';
      time.textContent = relativeTime(time.dateTime, now);
    }
  for (const picture of root.querySelectorAll('img')) {
    const leave = () => picture.replaceWith(picture.alt);
    if (picture.complete && picture.naturalWidth === 0) leave();
    else picture.onerror = leave;
  }
}
