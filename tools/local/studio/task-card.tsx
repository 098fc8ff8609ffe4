import { countOf } from '@node-registry/site/text';
import { operations } from './operations.ts';
import type { Task } from './tasks.ts';

interface CardProps {
  task: Task;
  onExtend: () => void;
  onResume: () => void;
}

const tones: Record<string, string> = { success: 'good', failed: 'bad' };

/** A task with its film or picture, played in place. */
export function TaskCard({ task, onExtend, onResume }: CardProps) {
  const { title, state, credits, operation, error, mayBeDone, creations = [] } = task;
  const kind = operations.find(({ name }) => name === operation)?.title.toLowerCase();
  return (
    <li class="task">
      <Media task={task} />
      <div class="text">
        <h3 dir="auto">{title}</h3>
        {error && <p class="bad">{error}</p>}
        <p class="meta">
          <span class={`badge ${tones[state] ?? 'accent'}`}>{state}</span>
          <span>
            {kind}
            {credits !== undefined && ` · ${countOf(credits, 'credit')}`}
          </span>
          {creations.length > 0 && state === 'success' && (
            <button type="button" onClick={onExtend}>
              Extend
            </button>
          )}
          {state === 'failed' && mayBeDone && (
            <button type="button" onClick={onResume}>
              Ask again
            </button>
          )}
        </p>
      </div>
    </li>
  );
}

function Media({ task: { title, state, media = [], uploaded = 0 } }: { task: Task }) {
  const [url = ''] = media;
  if (state === 'success' && /\.png(?:$|\?)/.test(url)) return <img class="media" src={url} alt={title} />;
  if (state === 'success')
    return <video class="media" src={url} aria-label={title} controls muted loop playsInline autoplay />;
  if (state === 'failed') return <div class="media empty">Nothing was made</div>;
  return (
    <div class="media waiting" role="status">
      <span>{state}…</span>
      {state === 'uploading' ? (
        <progress value={uploaded} max={1} aria-label="Uploaded" />
      ) : (
        <progress aria-label="Under way" />
      )}
    </div>
  );
}
