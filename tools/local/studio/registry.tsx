import type { CatalogEntry, RegistryClient } from '@node-registry/registry-client';
import { useEffect, useState } from 'preact/hooks';
import type { StudioConfig } from '../studio-files.ts';

/** The nodes, searched by the client as an application would. */
export function Registry({ registry, config }: { registry: RegistryClient; config: StudioConfig }) {
  const [words, setWords] = useState('');
  const [found, setFound] = useState<CatalogEntry[]>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const reading = words === '' ? registry.nodes.list({ signal }) : registry.nodes.search(words, { signal });
    reading.then(setFound, (error: Error) => signal.aborted || setProblem(error.message));
    return () => stop.abort();
  }, [words, registry]);
  return (
    <>
      <div class="row">
        <label>
          Search
          <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
      </div>
      <p class="quiet" role="status">
        {problem ||
          (found
            ? `${found.length} nodes, by registry.nodes.${words ? `search('${words}')` : 'list()'}`
            : 'Reading the index…')}
      </p>
      <h2 class="unseen">Nodes</h2>
      <ul class="plain results">
        {found?.map(({ id, name, description, latest_version, publisher }) => (
          <li key={id} class="card">
            <h3>
              <a href={`${config.siteUrl}/nodes/${id}`} dir="auto">
                {name || id}
              </a>
            </h3>
            <p class="by">
              {publisher.name || publisher.id} · {latest_version}
            </p>
            <p class="description" dir="auto">
              {description}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
