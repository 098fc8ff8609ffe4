import { Copyable } from '@node-registry/site/parts';
import { countOf } from '@node-registry/site/text';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { StudioConfig } from '../studio-files.ts';
import { Field, without } from './field.tsx';
import {
  asCode,
  asCurl,
  type Fields,
  type Operation,
  operations,
  readable,
  withFailure,
} from './operations.ts';

interface FormProps {
  config: StudioConfig;
  operation: Operation;
  body: Fields;
  onChoose: (operation: Operation) => void;
  onChange: (body: Fields) => void;
  onSend: (body: Fields) => void;
}

/** A form made of the contract: what it may cost stands below it before anything is sent. */
export function TaskForm({ config, operation, body, onChoose, onChange, onSend }: FormProps) {
  const [failure, setFailure] = useState('');
  const request = withFailure(body, failure);
  const text = readable(request);
  const ceiling = useCeiling(operation, text);
  // Another request needs another key.
  const key = useMemo(() => crypto.randomUUID(), [operation, text]);
  const { properties = {}, required = [] } = config.requests[operation.name] ?? {};
  const fieldOf = (name: string, hasHint: boolean) => {
    const schema = properties[name];
    const set = (value: unknown) => onChange(without({ ...body, [name]: value }) ?? {});
    return (
      schema && (
        <Field
          key={operation.name + name}
          name={name}
          schema={schema}
          hasHint={hasHint}
          value={body[name]}
          onChange={set}
          isRequired={required.includes(name)}
        />
      )
    );
  };
  const others = Object.keys(properties).filter((name) => !operation.shown.includes(name));
  return (
    <form
      class="box form"
      aria-label="New task"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(request);
      }}
    >
      <div class="choices">
        {operations.map((each) => (
          <button
            key={each.name}
            type="button"
            aria-pressed={each === operation}
            onClick={() => onChoose(each)}
          >
            {each.title}
          </button>
        ))}
      </div>
      {operation.name === 'extendVideo' && !body.video_url && <p>First choose Extend below a film.</p>}
      <div class="fields">{operation.shown.map((name) => fieldOf(name, false))}</div>
      <details>
        <summary>{others.length} more settings</summary>
        <div class="fields">{others.map((name) => fieldOf(name, true))}</div>
      </details>
      <div class="field">
        <label for="failure">Simulated failure</label>
        <select
          id="failure"
          value={failure}
          onChange={({ currentTarget }) => setFailure(currentTarget.value)}
        >
          <option value="">None: the provider does its work</option>
          {config.failures.map(([word, meaning]) => (
            <option key={word} value={word}>
              {word} {meaning}
            </option>
          ))}
        </select>
      </div>
      <p class="price" role="status">
        <span>At most</span> <b>{ceiling === undefined ? '…' : countOf(ceiling, 'credit')}</b>
      </p>
      <button type="submit" class="button main">
        {operation.action}
      </button>
      <details>
        <summary>Show as curl</summary>
        <Copyable text={asCurl(operation, request, key, config)} />
      </details>
      <details>
        <summary>Show as client code</summary>
        <Copyable text={asCode(operation, request, config)} />
      </details>
    </form>
  );
}

/** The most credits that the request may cost, by the rule that reserves them. */
function useCeiling(operation: Operation, body: string): number | undefined {
  const [ceiling, setCeiling] = useState<number>();
  useEffect(() => {
    const stop = new AbortController();
    fetch(`/ceiling?operation=${operation.name}`, { method: 'POST', body, signal: stop.signal })
      .then((answer) => answer.json())
      .then(({ credits }) => setCeiling(credits))
      .catch(() => {});
    return () => stop.abort();
  }, [operation, body]);
  return ceiling;
}
