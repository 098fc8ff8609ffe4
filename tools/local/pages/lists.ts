import { at, element } from '../../../packages/site/pages/elements.ts';

/**
 * Renders a list and keeps the elements of items that did not change, so that a link with the focus keeps it and an
 * open item stays open.
 */
export function show<Item>(
  id: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  render: (item: Item) => HTMLElement,
): void {
  const list = at(id);
  const known = new Map([...list.children].map((child) => [(child as HTMLElement).dataset.item, child]));
  const named = new Map<string, () => HTMLElement>(
    items.map((item) => [`${keyOf(item)}\n${JSON.stringify(item)}`, () => render(item)] as const),
  );
  const { none } = list.dataset;
  if (items.length === 0 && none) named.set('none', () => element('li', { className: 'quiet' }, none));
  // First, because an element that is moved around an old one loses its focus.
  for (const [name, child] of known) if (!name || !named.has(name)) child.remove();
  let place = list.firstElementChild;
  for (const [name, make] of named) {
    const child = (known.get(name) as HTMLElement | undefined) ?? make();
    child.dataset.item = name;
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
}

/** The time of day, and the day if it is another one. */
export function timeElement(iso: string): HTMLElement {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? '' : `${time.toLocaleDateString('en-CA')} `;
  return element('time', { dateTime: iso }, day + time.toLocaleTimeString('en-GB'));
}

export function toneOf(status: number): 'good' | 'warn' | 'bad' {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

const trouble = at('trouble');

/** Runs a control's work, in which it cannot be pressed again, and shows a failure next to it until the next begins. */
export async function guard(control: HTMLButtonElement, work: () => Promise<unknown>): Promise<void> {
  control.disabled = true;
  trouble.hidden = true;
  await work().catch((error: Error) => {
    (control.closest('.row') ?? control).after(trouble);
    trouble.hidden = false;
    trouble.textContent = `That did not work: ${error.message}`;
  });
  control.disabled = false;
  // A disabled button loses the focus; one that was left meanwhile does not take it back.
  if (document.activeElement === document.body) control.focus();
}

export function button(label: string, work: () => Promise<unknown>): HTMLButtonElement {
  const made = element('button', { type: 'button' }, label);
  made.onclick = () => guard(made, work);
  return made;
}
