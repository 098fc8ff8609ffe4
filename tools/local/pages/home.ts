import { at, element } from '../../../packages/site/pages/elements.ts';
import { showArmed, startSwitches } from './break-it.ts';
import { startCallForm } from './call-form.ts';
import { readOperations } from './operations.ts';
import { showRequests } from './requests.ts';
import { onChange, refresh, type Stack, stack } from './stack.ts';
import { startStory } from './story.ts';
import { showTasks } from './tasks.ts';
import { showCallers } from './usage.ts';

const everyMs = 1000;

/** Where a part has something to read, if that is not its own address. */
const readable: Record<string, (url: string) => string> = {
  'HTTP API': () => '/reference/',
  S3: () => '/index/v1/config.json',
  'Token issuer': (url) => `${url}/.well-known/jwks.json`,
  'Provider simulators': (url) => `${url}/control`,
};

function showParts({ state }: Stack): void {
  const parts = state.parts.map(({ name, url, isUp }) => {
    const href = readable[name]?.(url);
    const address = `${name} ${url.replace('http://', '')}`;
    const shown = href === undefined ? address : element('a', { href }, address);
    return element('span', { className: isUp ? 'up' : 'bad' }, shown, isUp ? '' : ' is down');
  });
  at('running').replaceChildren(...parts.flatMap((part, place) => (place > 0 ? [' · ', part] : [part])));
}

/** The users of the page's tokens, in every list of users. */
function offerUsers(): void {
  for (const list of document.querySelectorAll<HTMLSelectElement>('select.users')) {
    const users = Object.keys(stack?.state.tokens ?? {});
    list.prepend(...users.map((user) => element('option', { value: user }, user)));
    list.selectedIndex = 0;
  }
}

/** Tabs as keyboards expect them: one is in the order of Tab, and arrows lead to the others. */
function startTabs(): void {
  const tabs = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  const choose = (chosen: HTMLButtonElement) => {
    for (const tab of tabs) {
      tab.ariaSelected = String(tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      at(tab.getAttribute('aria-controls') ?? '').hidden = tab !== chosen;
    }
  };
  tabs.forEach((tab, place) => {
    tab.onclick = () => choose(tab);
    tab.onkeydown = ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      const next = tabs[(place + (step ?? 0) + tabs.length) % tabs.length];
      if (step === undefined || !next) return;
      choose(next);
      next.focus();
    };
  });
  if (tabs[0]) choose(tabs[0]);
}

async function watch(): Promise<void> {
  if (document.visibilityState === 'visible') await refresh();
  setTimeout(watch, everyMs);
}

startTabs();
startSwitches();
for (const listener of [showParts, showTasks, showCallers, showArmed, showRequests]) onChange(listener);
const [operations] = await Promise.all([readOperations(), refresh()]);
offerUsers();
startStory(operations);
startCallForm(operations);
document.querySelector('main')?.removeAttribute('aria-busy');
setTimeout(watch, everyMs);
