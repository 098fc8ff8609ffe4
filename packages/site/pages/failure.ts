import { RegistryError } from 'registry-client';
import { element } from './elements.ts';

/** Says what went wrong, with a button that tries again. A fault of the page itself goes to the browser's console. */
export function failure(error: unknown, again: () => unknown): HTMLElement {
  const isPublic = error instanceof RegistryError;
  if (!isPublic) reportError(error);
  const sentence = isPublic ? error.message : 'This part of the page did not work.';
  const button = element('button', { type: 'button' }, isPublic ? 'Try again' : 'Load the page again');
  button.onclick = () => {
    button.disabled = true;
    // A browser keeps the failure of a script that did not load.
    if (isPublic) void again();
    else location.reload();
  };
  return element('div', { className: 'notice bad' }, element('p', {}, sentence), button);
}
