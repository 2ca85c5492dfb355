import { useState } from 'preact/hooks';
import { call, control } from './api.ts';
import { Field, type FieldOf, Form } from './form.tsx';
import type { Overview } from './model.ts';
import { Action, Problem } from './parts.tsx';
import { counted } from './texts.ts';

const faultFields: readonly FieldOf[] = [
  { path: 'match.path', label: 'Path has', example: '/messages' },
  { path: 'match.method', label: 'Method', choices: ['GET', 'POST', 'DELETE'] },
  { path: 'match.to', label: 'Recipient', example: '5491150000001' },
  { path: 'times', label: 'Times', usual: 'until deleted', kind: 'number' },
  { path: 'action.status', label: 'HTTP status', example: '503', kind: 'number' },
  { path: 'action.code', label: 'Code', example: '130429', kind: 'number' },
  { path: 'action.subcode', label: 'Subcode', example: '2388023', kind: 'number' },
  { path: 'action.delay_ms', label: 'Delay, ms', example: '2000', kind: 'number' },
  { path: 'action.drop', label: 'Close the connection', choices: ['before', 'after'], none: 'no' },
  { path: 'action.message_status', label: 'Message status', example: 'held_for_quality_assessment' },
  { path: 'action.html', label: 'A page in place of JSON', choices: ['true'], kind: 'truth' },
];

const courseFields: readonly FieldOf[] = [
  { path: 'match.to', label: 'Recipient', example: '5491150000001' },
  { path: 'match.template', label: 'Template', example: 'order_update' },
  { path: 'times', label: 'Times', usual: 'until deleted', kind: 'number' },
  { path: 'course.fail', label: 'Fail with', example: '131026', kind: 'number' },
  { path: 'course.failed_after_ms', label: 'Failed after, ms', example: '1000', kind: 'number' },
  { path: 'course.sent_after_ms', label: 'Sent after, ms', example: '0', kind: 'number' },
  { path: 'course.delivered_after_ms', label: 'Delivered after, ms', example: '1000', kind: 'number' },
  { path: 'course.read_after_ms', label: 'Read after, ms', example: '3000', kind: 'number' },
  { path: 'course.held_ms', label: 'Held for, ms', example: '6000', kind: 'number' },
  { path: 'course.late_ms', label: 'Told late by, ms', example: '8000', kind: 'number' },
  { path: 'course.copies', label: 'Copies', example: '2', kind: 'number' },
  { path: 'course.order', label: 'Order', choices: ['right', 'reversed', 'shuffled'], none: 'as usual' },
  { path: 'course.lost', label: 'Never told', choices: ['true'], kind: 'truth' },
];

/** The faults in force, and a new one. */
export function FaultsPanel({
  faults,
  onChange,
}: {
  readonly faults: Overview['faults'];
  readonly onChange: () => void;
}) {
  return (
    <Rules
      id="faults"
      title="Faults"
      note="The oldest that matches befalls a request. What is left empty matches everything."
      none="The platform behaves."
      rules={faults.map(({ match, action, left }) => ({ match, does: action, left }))}
      add="Misbehave"
      clear="Behave again"
      fields={faultFields}
      onChange={onChange}
    />
  );
}

/** How statuses come. */
export function ReceiptsPanel({
  rules,
  onChange,
}: {
  readonly rules: Overview['receipts'];
  readonly onChange: () => void;
}) {
  return (
    <Rules
      id="receipts"
      title="Statuses"
      note="Usually sent at once, delivered after 1 s, read after 3 s. Each rule that matches changes that, the newest last."
      none="Statuses come as usual."
      rules={rules.map(({ match, course, left }) => ({ match, does: course, left }))}
      add="Add the rule"
      clear="As usual again"
      fields={courseFields}
      onChange={onChange}
    />
  );
}

interface RulesProps {
  readonly id: 'faults' | 'receipts';
  readonly title: string;
  readonly note: string;
  readonly none: string;
  readonly rules: readonly { readonly match: object; readonly does: object; readonly left: number | null }[];
  readonly add: string;
  readonly clear: string;
  readonly fields: readonly FieldOf[];
  readonly onChange: () => void;
}

function Rules({ id, title, note, none, rules, add, clear, fields, onChange }: RulesProps) {
  const [problem, setProblem] = useState('');
  const clearAll = async () => {
    await call('DELETE', `/_control/${id}`);
    onChange();
  };
  const submit = async (body: object) => {
    await control(id, body);
    onChange();
  };
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="note">{note}</p>
      {rules.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <>
          <ul class="rules">
            {rules.map((rule, at) => (
              <li key={String(at)}>
                <code>{wordsOf(rule.match) || 'every one'}</code> → <code>{wordsOf(rule.does)}</code>
                <span class="note">{rule.left === null ? 'until deleted' : `${counted(rule.left, 'time')} more`}</span>
              </li>
            ))}
          </ul>
          <Action run={clearAll} onProblem={setProblem}>
            {clear}
          </Action>
        </>
      )}
      <Problem text={problem} />
      <Form label={add} submit={submit}>
        {(bind) => fields.map((field) => <Field key={field.path} field={field} bind={bind} />)}
      </Form>
    </section>
  );
}

function wordsOf(facts: object): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
