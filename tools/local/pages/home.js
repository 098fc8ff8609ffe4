import { readOperations, renderOperations, renderUsers } from './calls.js';
import { showDeliveries } from './deliveries.js';
import { at, element, show } from './elements.js';
import { showCallers, startLimits } from './limits.js';
import { showNotifications } from './notifications.js';
import { showPublished } from './published.js';
import { showRequests } from './requests.js';
import { renderSwitches, showSimulators } from './simulators.js';
import { onChange, refresh } from './stack.js';

const everyMs = 2000;

function showParts({ state }) {
  show('running', state.parts, ({ name }) => name, renderPart);
}

function renderPart({ name, url, isUp }) {
  const mark = element('span', { className: isUp ? 'good' : 'bad' }, isUp ? '● up' : '○ down');
  return element('li', {}, mark, ` ${name} `, element('a', { href: url }, url.replace('http://', '')));
}

async function watch() {
  if (document.visibilityState === 'visible') await refresh();
  setTimeout(watch, everyMs);
}

for (const listener of [
  showParts,
  showPublished,
  showCallers,
  showSimulators,
  showNotifications,
  showDeliveries,
  showRequests,
])
  onChange(listener);
renderSwitches();
await refresh();
renderUsers();
const operations = await readOperations();
renderOperations(operations);
startLimits(operations.find(({ id }) => id === 'relightImage'));
at('operations').removeAttribute('aria-busy');
setTimeout(watch, everyMs);
