import { useEffect, useId, useState } from 'preact/hooks';
import type { Schema } from '../studio-files.ts';
import { type Fields, nameOf } from './operations.ts';

interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  isRequired?: boolean | undefined;
  hasHint?: boolean;
  onChange: (value: unknown) => void;
}

/** One field of a request, with the limits that the contract gives it. */
export function Field(props: FieldProps) {
  const { name, schema, isRequired = false, hasHint } = props;
  const id = useId();
  if (schema.properties) return <Group {...props} />;
  if (schema.items?.properties) return <Frames {...props} />;
  const isPicture = /image|lightmap|wm_url/.test(name);
  const label = labelOf(isPicture && schema.items ? (schema.items.description?.split(',')[0] ?? name) : name);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired && ' (required)'}
      </label>
      {isPicture ? <Picture {...props} id={id} /> : <Control {...props} id={id} />}
      {hasHint && schema.description && <small>{schema.description}</small>}
    </div>
  );
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\burl$/, 'URL');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function Control({ schema, name, value, isRequired, onChange, id }: FieldProps & { id: string }) {
  const types = [schema.type].flat();
  const shown = value === undefined ? '' : String(value);
  const common = { id, name, value: shown, required: isRequired === true };
  const hear = (event: { currentTarget: { value: string } }) => {
    const text = event.currentTarget.value;
    if (text === '') onChange(undefined);
    else if (types.includes('boolean')) onChange(text === 'true');
    else if (types.includes('integer') || types.includes('number')) onChange(Number(text));
    else onChange(text);
  };
  const choices = types.includes('boolean')
    ? ['true', 'false']
    : schema.enum?.filter((each) => each !== null);
  if (choices)
    return (
      <select {...common} onChange={hear}>
        {!isRequired && (
          <option value="">Default{schema.default !== undefined && `: ${schema.default}`}</option>
        )}
        {choices.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    );
  if (name === 'prompt') return <textarea {...common} rows={3} maxLength={schema.maxLength} onInput={hear} />;
  const isNumber = types.includes('integer') || types.includes('number');
  const limits = {
    min: schema.minimum,
    max: schema.maximum,
    minLength: schema.minLength,
    maxLength: schema.maxLength,
  };
  const placeholder = schema.default === undefined ? undefined : String(schema.default);
  return (
    <input
      {...common}
      {...limits}
      placeholder={placeholder}
      {...(isNumber ? { type: 'number' as const } : { type: 'text' as const })}
      step={types.includes('number') ? 'any' : undefined}
      onInput={hear}
    />
  );
}

/** A picture that is dropped, chosen, or named by its URL. */
function Picture({ schema, value, isRequired, onChange, id }: FieldProps & { id: string }) {
  const [isOver, setIsOver] = useState(false);
  const list = schema.items !== undefined;
  const picture = (list ? (value as unknown[])?.[0] : value) as File | string | undefined;
  const choose = (given: File | string | undefined) => onChange(given && list ? [given] : given);
  return (
    <fieldset
      class={`drop ${isOver ? 'over' : ''}`}
      aria-label="Drop a picture"
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        choose(event.dataTransfer?.files[0] ?? picture);
      }}
    >
      {picture && <Preview picture={picture} />}
      <div>
        <input
          id={id}
          type="file"
          accept="image/*"
          required={isRequired === true && !picture}
          onChange={({ currentTarget }) => choose(currentTarget.files?.[0] ?? picture)}
        />
        <p class="quiet">
          {picture ? nameOf(picture) : 'Drop a picture here, or choose one.'}{' '}
          {picture && !isRequired && (
            <button type="button" onClick={() => choose(undefined)}>
              Remove
            </button>
          )}
        </p>
      </div>
    </fieldset>
  );
}

function Preview({ picture }: { picture: File | string }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    if (typeof picture === 'string') return setUrl(picture);
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return url === '' ? null : <img src={url} alt="" />;
}

function Group({ name, schema, value, onChange }: FieldProps) {
  const fields = Object(value) as Fields;
  return (
    <fieldset>
      <legend>{labelOf(name)}</legend>
      <div class="fields">
        {Object.entries(schema.properties ?? {}).map(([key, each]) => (
          <Field
            key={key}
            name={key}
            schema={each}
            value={fields[key]}
            isRequired={schema.required?.includes(key)}
            onChange={(next) => onChange(without({ ...fields, [key]: next }))}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** The fields that are set; undefined if none is. */
export function without(fields: Fields): Fields | undefined {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

function Frames({ schema, value, onChange }: FieldProps) {
  const frames = (value ?? []) as Fields[];
  const { items = {}, minItems = 1, maxItems = 1 } = schema;
  return (
    <>
      {frames.map((frame, place) => (
        <Group
          key={place}
          name={`Frame ${place + 1}`}
          schema={items}
          value={frame}
          onChange={(next) => onChange(frames.with(place, Object(next)))}
        />
      ))}
      <div class="pair">
        <button type="button" disabled={frames.length >= maxItems} onClick={() => onChange([...frames, {}])}>
          Add a frame
        </button>
        <button
          type="button"
          disabled={frames.length <= minItems}
          onClick={() => onChange(frames.slice(0, -1))}
        >
          Remove the last
        </button>
      </div>
    </>
  );
}
