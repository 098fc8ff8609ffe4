import { type RegistryClient, RegistryError, userMessageOf } from '@node-registry/registry-client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useId, useRef, useState } from 'preact/hooks';

export type Ask = RegistryClient['account'];

/** What is read for a view, again after each change. An answer that a later question has overtaken isn't shown. */
export function useRead<Data>(read: () => Promise<Data>, about: string) {
  const [data, setData] = useState<Data>();
  const [problem, setProblem] = useState('');
  const newest = useRef<Promise<Data>>(undefined);
  const again = useCallback(async () => {
    const reading = read();
    newest.current = reading;
    const [found] = await Promise.allSettled([reading]);
    if (newest.current !== reading) return;
    if (found.status === 'fulfilled') setData(found.value);
    setProblem(found.status === 'fulfilled' ? '' : sentenceOf(found.reason));
  }, [about]);
  useEffect(() => {
    setData(undefined);
    setProblem('');
    void again();
  }, [again]);
  /** An act that changes what was read. */
  const after = (work: () => Promise<unknown>) => async () => {
    await work();
    await again();
  };
  return { data, problem, again, after };
}

const ours = ['unreachable', 'timed_out', 'unauthorized'];

export function sentenceOf(error: unknown): string {
  if (!(error instanceof RegistryError)) return 'This did not work. Try again.';
  // Nothing here is paid.
  if (ours.includes(error.code)) return userMessageOf({ code: error.code, mayBeDone: false });
  const details = error.details.map(({ path, message }) => `${path.replace('body.', '')} ${message}`);
  return [error.sentence, ...details].join(' ');
}

type Act = () => Promise<unknown>;

/** A button that says when it works, and why it did not. What cannot be undone asks first. */
export function Action({ act, children, asks }: { act: Act; children: ComponentChildren; asks?: string }) {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const run = async () => {
    if (isBusy || (asks !== undefined && !confirm(asks))) return;
    setIsBusy(true);
    setProblem('');
    await act().catch((error: unknown) => setProblem(sentenceOf(error)));
    setIsBusy(false);
  };
  return (
    <>
      {/* One that is disabled would lose the focus. */}
      <button type="button" aria-disabled={isBusy} onClick={run}>
        {children}
      </button>
      {problem && (
        <span class="bad" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

interface Question {
  name: string;
  label: string;
  value?: string | undefined;
  hint?: string;
  required?: boolean;
  type?: 'number';
  options?: readonly string[];
}

/** A form of a few fields. It keeps what was typed if the registry says no. */
export function Form(props: {
  questions: readonly Question[];
  send: (fields: Record<string, string>) => Promise<unknown>;
  button: string;
}) {
  const { questions, send, button } = props;
  const [problem, setProblem] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const id = useId();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const form = event.currentTarget as HTMLFormElement;
    const fields = Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]),
    );
    setIsBusy(true);
    try {
      await send(fields);
      setProblem('');
      form.reset();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setIsBusy(false);
  };
  return (
    <form class="ask" onSubmit={submit}>
      {questions.map(({ name, label, value = '', hint, required = false, type, options }) => (
        <div class="field" key={name}>
          <label for={`${id}${name}`}>{label}</label>
          {options ? (
            <select id={`${id}${name}`} name={name}>
              {options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              name={name}
              required={required}
              autocomplete="off"
              {...(type === 'number' && { inputMode: 'numeric', pattern: '[0-9]+' })}
              defaultValue={value}
              {...(hint && { 'aria-describedby': `${id}${name}-hint` })}
            />
          )}
          {hint && <small id={`${id}${name}-hint`}>{hint}</small>}
        </div>
      ))}
      <button type="submit" class="button main" aria-disabled={isBusy}>
        {button}
      </button>
      {problem && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

const copiedMs = 2000;

/** A text with a button that copies it. */
export function Copyable({ text, label = 'The text' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    setSaid(
      await navigator.clipboard.writeText(text).then(
        () => 'Copied',
        () => 'Not copied',
      ),
    );
    setTimeout(() => setSaid(''), copiedMs);
  };
  return (
    <div class="copyable">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable. */}
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy: ${label}`}>
        {said || 'Copy'}
      </button>
    </div>
  );
}

/** A secret that is shown once, until it is put away. */
export function Secret({ text, about, onDone }: { text: string; about: string; onDone: () => void }) {
  return (
    <div class="notice warn" role="status">
      <p>{about} It is not shown again.</p>
      <Copyable text={text} />
      <button type="button" onClick={onDone}>
        Done
      </button>
    </div>
  );
}

/** What the address has behind its path: the view that it names. */
export function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const hear = () => setHash(location.hash);
    addEventListener('hashchange', hear);
    return () => removeEventListener('hashchange', hear);
  }, []);
  return hash;
}

export function Time({ at }: { at: string | undefined }) {
  return at === undefined ? <>never</> : <time dateTime={at}>{at.slice(0, 16).replace('T', ' ')} UTC</time>;
}

/** A view before it has its data, or without them. */
export function Unread({ title, ...failed }: { title: string } & Failed) {
  return (
    <>
      <h1>{title}</h1>
      {failed.problem ? <Problem {...failed} /> : <p class="quiet">Reading…</p>}
    </>
  );
}

interface Failed {
  problem: string;
  again: Act;
}

/** Why something could not be read: said again after each time. */
export function Problem({ problem, again }: Failed) {
  const [isReading, setIsReading] = useState(false);
  const read = async () => {
    setIsReading(true);
    await again();
    setIsReading(false);
  };
  return (
    <p class="notice bad">
      {isReading ? 'Reading…' : <span role="alert">{problem}</span>} <Action act={read}>Try again</Action>
    </p>
  );
}

interface Titled {
  title: string;
  isNarrow?: boolean;
  read?: Failed;
  children: ComponentChildren;
}

export function Box({ title, isNarrow = false, read, children }: Titled) {
  return (
    <section class={isNarrow ? 'box narrow' : 'box'} aria-label={title}>
      <h2>{title}</h2>
      {read?.problem && <Problem {...read} />}
      {children}
    </section>
  );
}
