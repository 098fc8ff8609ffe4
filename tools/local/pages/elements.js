export const at = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  // Some addresses are anyone's texts, and a page would run some schemes.
  if (made.href && !/^https?:$/.test(made.protocol)) made.removeAttribute('href');
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/**
 * Renders a list and keeps the elements of items that did not change, so that a link with the focus keeps it and an
 * open item stays open.
 */
export function show(id, items, keyOf, render) {
  const list = at(id);
  const known = new Map([...list.children].map((child) => [child.dataset.item, child]));
  const named = items.map((item) => ({ item, name: `${keyOf(item)}\n${JSON.stringify(item)}` }));
  const names = new Set(named.map(({ name }) => name));
  // First, because an element that is moved around an old one loses its focus.
  for (const [name, child] of known) if (!names.has(name)) child.remove();
  let place = list.firstElementChild;
  for (const { item, name } of named) {
    const child = known.get(name) ?? render(item);
    child.dataset.item = name;
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
}

/** A path that breaks after its slashes if it is too long for a line. */
export function pathElements(path) {
  const [first, ...others] = path.split('/');
  return [first, ...others.flatMap((part) => ['/', element('wbr'), part])];
}

/** A line of facts, each with its name. */
export function facts(named) {
  const shown = Object.entries(named).filter(([, value]) => value !== undefined && value !== '');
  const pairs = shown.map(([name, value]) =>
    element('div', {}, element('dt', {}, `${name}: `), element('dd', {}, value)),
  );
  return element('dl', {}, ...pairs);
}

export function toneOf(status) {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

export function pill(text, tone) {
  return element('span', { className: `pill ${tone}` }, text);
}

/** The time of day, and the day if it is another one. */
export function timeElement(iso) {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? '' : `${time.toLocaleDateString('en-CA')} `;
  return element('time', { dateTime: iso }, day + time.toLocaleTimeString('en-GB'));
}

/** A button that cannot be pressed again while its work runs, and that shows a failure. */
export function button(label, work) {
  const made = element('button', { type: 'button' }, label);
  made.addEventListener('click', () => guard(made, work));
  return made;
}

export async function guard(control, work) {
  control.disabled = true;
  await work().catch(({ message }) => {
    at('trouble').hidden = false;
    at('trouble').textContent = `That did not work: ${message}`;
  });
  control.disabled = false;
  // A disabled button loses the focus; one that was left meanwhile does not take it back.
  if (document.activeElement === document.body) control.focus();
}
