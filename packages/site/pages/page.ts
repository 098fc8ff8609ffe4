/** Improves a node's HTML page: copies lines, removes pictures that fail, and filters host nodes. */
const copiedMs = 2000;
const minToFilter = 12;

for (const block of document.querySelectorAll('.copyable')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.onclick = async () => {
    const line = block.querySelector('pre')?.textContent ?? '';
    const isCopied = await navigator.clipboard.writeText(line).then(
      () => true,
      () => false,
    );
    button.textContent = isCopied ? 'Copied' : 'Not copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, copiedMs);
  };
  block.append(button);
}

for (const picture of [...document.images]) {
  const leave = () => picture.replaceWith(picture.alt);
  if (picture.complete && picture.naturalWidth === 0) leave();
  else picture.onerror = leave;
}

const section = document.getElementById('host-nodes');
const cards = [...(section?.querySelectorAll<HTMLElement>('li') ?? [])].filter((item) =>
  item.matches('.host-node, details li'),
);
if (section && cards.length >= minToFilter) addFilter(section);

function addFilter(section: HTMLElement): void {
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
    for (const each of section.querySelectorAll('details')) each.open = words.length > 0;
    found.textContent = ` ${count.toLocaleString('en-US')} of ${cards.length.toLocaleString('en-US')} host nodes`;
  };
  const row = document.createElement('p');
  row.append(label, found);
  section.querySelector('h2')?.after(row);
}
