import { element } from './elements.ts';

/** Says what went wrong, with a button that tries again. */
export function failure(error: unknown, again: () => unknown): HTMLElement {
  const button = element('button', { type: 'button' }, 'Try again');
  button.onclick = () => {
    button.disabled = true;
    void again();
  };
  const sentence = error instanceof Error ? error.message : 'Something went wrong.';
  return element('div', { className: 'notice bad' }, element('p', {}, sentence), button);
}
