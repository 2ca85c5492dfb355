import { useState } from 'preact/hooks';
import type { Document, Schema } from './openapi.ts';
import { choicesOf, type Field, fieldsOf, limitsOf, typeOf } from './reference-types.ts';

interface FieldsProps {
  readonly document: Document;
  readonly schema: Schema;
  /** This many levels are open at first. */
  readonly open?: number;
}

/** Shows the nested fields of a body. Closed levels are not drawn, so that a recursive schema ends. */
export function Fields({ document, schema, open = 1 }: FieldsProps) {
  const fields = fieldsOf(document, schema);
  const choices = choicesOf(document, schema);
  if (fields.length === 0 && choices.length === 0) return <p class="note">{typeOf(document, schema)}</p>;
  return (
    <>
      <ul class="schema">
        {fields.map((field) => (
          <FieldOf key={field.name} document={document} field={field} open={open} />
        ))}
      </ul>
      {choices.map((choice, place) => (
        <div key={place} class="choice">
          <p class="note">{place === 0 ? 'One of these' : 'Or'}</p>
          <Fields document={document} schema={choice} open={open} />
        </div>
      ))}
    </>
  );
}

function FieldOf({
  document,
  field,
  open,
}: {
  readonly document: Document;
  readonly field: Field;
  readonly open: number;
}) {
  const { name, schema, isRequired } = field;
  const hasMore = fieldsOf(document, schema).length > 0 || choicesOf(document, schema).length > 0;
  return (
    <li>
      <p class="schema-name">
        <code>{name}</code> <span class="schema-type">{typeOf(document, schema)}</span>
        {isRequired ? <b class="schema-required">required</b> : null}
      </p>
      <Limits document={document} schema={schema} />
      {schema.description === undefined ? null : <p>{schema.description}</p>}
      {hasMore ? <Inside document={document} name={name} schema={schema} open={open} /> : null}
    </li>
  );
}

export function Limits({ document, schema }: { readonly document: Document; readonly schema: Schema }) {
  const limits = limitsOf(document, schema);
  return limits.length === 0 ? null : <p class="schema-limits">{limits.join(' · ')}</p>;
}

function Inside({ document, name, schema, open }: FieldsProps & { readonly name: string; readonly open: number }) {
  const [isOpen, setOpen] = useState(open > 0);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Fields of {name}</summary>
      {isOpen ? <Fields document={document} schema={schema} open={open - 1} /> : null}
    </details>
  );
}
