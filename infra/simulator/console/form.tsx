import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { Problem } from './parts.tsx';

/** A field sets a value in a JSON body; `path` is for example `match.path`. */
export interface FieldOf {
  readonly path: string;
  readonly label: string;
  readonly example?: string;
  /** The placeholder shows the default. */
  readonly usual?: string;
  readonly choices?: readonly string[];
  /** The choice itself is the label when this is absent. */
  readonly called?: (choice: string) => string;
  readonly none?: string;
  readonly kind?: 'text' | 'number' | 'truth';
}

export interface Bind {
  readonly value: (path: string) => string;
  readonly set: (field: FieldOf, value: string) => void;
}

interface Filled {
  readonly field: FieldOf;
  readonly value: string;
}

interface FormProps {
  readonly label: string;
  readonly submit: (body: object) => Promise<void>;
  readonly children: (bind: Bind) => ComponentChildren;
}

/** Builds a JSON body from the filled fields; a success clears the form. */
export function Form({ label, submit, children }: FormProps) {
  const [filled, setFilled] = useState<ReadonlyMap<string, Filled>>(new Map());
  const [problem, setProblem] = useState('');
  const send = async () => {
    setProblem('');
    try {
      await submit(bodyOf([...filled.values()]));
      setFilled(new Map());
    } catch (error) {
      setProblem(sentenceOf(error));
    }
  };
  const bind: Bind = {
    value: (path) => filled.get(path)?.value ?? '',
    set: (field, value) => {
      const next = new Map(filled);
      if (value === '') next.delete(field.path);
      else next.set(field.path, { field, value });
      setFilled(next);
    },
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {children(bind)}
      <Problem text={problem} />
      <button type="submit" class="button main" disabled={filled.size === 0}>
        {label}
      </button>
    </form>
  );
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly FieldOf[];
}

export function FieldGroups({ groups, bind }: { readonly groups: readonly FieldGroup[]; readonly bind: Bind }) {
  return groups.map(({ title, fields }) => (
    <fieldset key={title} class="fields">
      <legend>{title}</legend>
      {fields.map((field) => (
        <Field key={field.path} field={field} bind={bind} />
      ))}
    </fieldset>
  ));
}

function Field({ field, bind }: { readonly field: FieldOf; readonly bind: Bind }) {
  const {
    path,
    label,
    example = '',
    usual = '',
    choices,
    none = 'any',
    kind,
    called = (choice: string) => choice,
  } = field;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the two controls below is always inside
    <label class="field">
      <span>{label}</span>
      {choices === undefined ? (
        <input
          value={bind.value(path)}
          placeholder={usual || (example && `e.g. ${example}`)}
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          onInput={({ currentTarget }) => bind.set(field, currentTarget.value)}
        />
      ) : (
        <select value={bind.value(path)} onChange={({ currentTarget }) => bind.set(field, currentTarget.value)}>
          <option value="">{kind === 'truth' ? 'no' : none}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {kind === 'truth' ? 'yes' : called(choice)}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** Invalid numbers stay text, so that the simulator's refusal names the field. */
export function bodyOf(filled: readonly Filled[]): object {
  const body: Record<string, unknown> = {};
  for (const { field, value } of filled) {
    const [first = '', second] = field.path.split('.');
    const typed = typedOf(field, value);
    if (second === undefined) body[first] = typed;
    else body[first] = { ...(body[first] as object | undefined), [second]: typed };
  }
  return body;
}

function typedOf({ kind }: FieldOf, value: string): unknown {
  if (kind === 'truth') return value === 'true';
  return kind === 'number' && /^\d+$/.test(value.trim()) ? Number(value) : value;
}
