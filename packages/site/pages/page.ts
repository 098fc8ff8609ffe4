/** Improves an HTML page: copies lines, chooses the reader's system and language, and filters host nodes. */
import { improve, parsed } from './improve.ts';

const copiedMs = 2000;
const minToFilter = 12;

await parsed();
improve(document);
chooseSystem();
addCopyButtons();
chooseLanguage();
addFilter();

function chooseSystem(): void {
  const system = /windows/i.test(navigator.userAgent) ? 'windows' : 'posix';
  const own = document.querySelector<HTMLInputElement>('.install input');
  // The stage's own command is for every system.
  if (own && own.dataset.system !== undefined)
    document.querySelector<HTMLInputElement>(`.install [data-system=${system}]`)?.click();
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.copyable')) {
    const button = document.createElement('button');
    const said = document.createElement('span');
    said.className = 'unseen';
    said.setAttribute('role', 'status');
    button.type = 'button';
    button.textContent = 'Copy';
    button.onclick = async () => {
      const line = block.querySelector('pre')?.textContent ?? '';
      const isCopied = await navigator.clipboard.writeText(line).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Not copied';
      said.textContent = isCopied ? 'The command is copied.' : 'The command could not be copied.';
      setTimeout(() => {
        button.textContent = 'Copy';
        said.textContent = '';
      }, copiedMs);
    };
    block.append(button, said);
  }
}

/** Puts a node's texts in the visitor's language in their places, with a way back. */
function chooseLanguage(): void {
  const wanted = navigator.languages.map((each) => each.toLowerCase());
  const offered = [...document.querySelectorAll<HTMLElement>('.translation[data-language]')];
  const known = (tag: string) =>
    offered.find(({ dataset }) => dataset.language?.toLowerCase() === tag) ??
    offered.find(({ dataset }) => dataset.language?.toLowerCase().split('-')[0] === tag.split('-')[0]);
  // A page is in English: a visitor who prefers it keeps the original.
  const [first = 'en'] = wanted;
  const found = first.startsWith('en') ? undefined : known(first);
  if (!found) return;
  const places: Record<string, HTMLElement | null> = {
    name: document.querySelector('h1 bdi'),
    description: document.querySelector('.lead bdi'),
  };
  const texts = Object.entries(places).flatMap(([field, place]) => {
    const text = found.querySelector(`[data-field=${field}]`)?.textContent;
    return place && text ? [{ place, own: place.textContent, text }] : [];
  });
  if (texts.length === 0) return;
  let isOriginal = true;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'translated';
  const turn = () => {
    isOriginal = !isOriginal;
    for (const { place, own, text } of texts) {
      place.textContent = isOriginal ? own : text;
      if (isOriginal) place.removeAttribute('lang');
      else place.lang = found.dataset.language ?? '';
    }
    button.textContent = isOriginal
      ? `Show in ${found.querySelector('summary')?.textContent}`
      : 'Show the original';
  };
  button.onclick = turn;
  turn();
  (document.querySelector('.lead') ?? document.querySelector('.title'))?.after(button);
}

function addFilter(): void {
  const section = document.getElementById('host-nodes');
  const cards = [...(section?.querySelectorAll<HTMLElement>('li') ?? [])].filter((item) =>
    item.matches('.host-node, details.rest li'),
  );
  if (!section || cards.length < minToFilter) return;
  const label = document.createElement('label');
  const input = document.createElement('input');
  const found = document.createElement('span');
  input.type = 'search';
  found.setAttribute('role', 'status');
  label.append('Filter ', input);
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const card of cards) {
      const said = card.textContent?.toLowerCase() ?? '';
      card.hidden = !words.every((word) => said.includes(word));
      if (!card.hidden) count += 1;
    }
    for (const each of section.querySelectorAll<HTMLDetailsElement>('details.rest'))
      each.open = words.length > 0;
    found.textContent = ` ${count.toLocaleString('en-US')} of ${cards.length.toLocaleString('en-US')} host nodes`;
  };
  const row = document.createElement('p');
  row.className = 'filter';
  row.append(label, found);
  section.querySelector('h2')?.after(row);
}
