import type { Markup } from '../templates/markup.ts';

interface Policy {
  createHTML: (text: string) => string;
  createScriptURL: (text: string) => string;
}

/** The page's policy names this one: markup comes only from templates, and the only worker is the site's. */
const rules: Policy = { createHTML: (text) => text, createScriptURL: () => '/site/search-worker.js' };
const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
};
const policy = trustedTypes?.createPolicy('registry', rules) ?? rules;

export function append(element: Element, items: readonly Markup[]): void {
  element.insertAdjacentHTML('beforeend', policy.createHTML(items.map(({ text }) => text).join('')));
}

export function searchWorker(): Worker {
  return new Worker(policy.createScriptURL(''), { type: 'module' });
}

/** An element of the page's own HTML. */
export function at<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found as Kind;
}
