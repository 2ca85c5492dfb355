import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { type FieldGroup, FieldGroups, Form } from './form.tsx';
import type { Overview, StopView } from './model.ts';
import { Action, Problem } from './parts.tsx';
import { counted, numberOf } from './texts.ts';

/** Thousands may stop after a campaign, so each number has a limit. */
const mostShown = 100;

interface StoppedProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

/** Lists people who stopped marketing, by number, and has a form for one more. */
export function StoppedMarketingPanel({ overview, onChange }: StoppedProps) {
  const [problem, setProblem] = useState('');
  const ofNumbers = overview.numbers
    .map((number) => ({ number, stops: overview.stopped.filter(({ phone_number_id: id }) => id === number.id) }))
    .filter(({ stops }) => stops.length > 0);
  const stop = async (body: object) => {
    const { to, ...rest } = body as { readonly to?: string };
    if (to === undefined) throw new Error('Recipient: say who stops');
    await control(`recipients/${encodeURIComponent(to)}/preference`, { ...rest, value: 'stop' });
    onChange();
  };
  return (
    <section class="panel" aria-labelledby="stopped">
      <h2 id="stopped">Stopped marketing</h2>
      <p class="note">By the chat setting Offers and announcements, for one number. Other messages still arrive.</p>
      <Problem text={problem} />
      {ofNumbers.length === 0 ? <p class="quiet">No one has stopped marketing.</p> : null}
      {ofNumbers.map(({ number: { id, fields }, stops }) => (
        <StoppedOf key={id} name={nameOf(fields)} stops={stops} onProblem={setProblem} />
      ))}
      <Form label="Stop marketing" submit={stop}>
        {(bind) => <FieldGroups groups={[groupOf(overview)]} bind={bind} />}
      </Form>
    </section>
  );
}

function groupOf({ numbers }: Overview): FieldGroup {
  const names = new Map(numbers.map(({ id, fields }) => [id, nameOf(fields)]));
  const fields = [
    { path: 'to', label: 'Recipient', example: '5491150000001' },
    {
      path: 'phone_number_id',
      label: 'Number',
      choices: [...names.keys()],
      none: 'choose one',
      called: (id: string) => names.get(id) ?? id,
    },
    { path: 'answer', label: 'Marketing sent anyway', choices: ['refused'], none: 'fails later' },
  ];
  return { title: 'One more person who stops', fields };
}

function nameOf(fields: Overview['numbers'][number]['fields']): string {
  return `${fields['display_phone_number']} · ${fields['verified_name']}`;
}

interface StoppedOfProps {
  readonly name: string;
  readonly stops: readonly StopView[];
  readonly onProblem: (text: string) => void;
}

function StoppedOf({ name, stops, onProblem }: StoppedOfProps) {
  return (
    <>
      <h3>{name}</h3>
      <p class="note">
        {counted(stops.length, 'person', 'people')}
        {stops.length > mostShown ? `, the first ${mostShown} shown` : ''}
      </p>
      <ul class="rules">
        {stops.slice(0, mostShown).map(({ to, phone_number_id, answer }) => (
          <li key={to} class="rule-line">
            <code>{numberOf(to)}</code>
            {answer === 'refused' ? <span class="note">refused at once</span> : null}
            <Action
              run={() =>
                control(`recipients/${encodeURIComponent(to)}/preference`, { phone_number_id, value: 'resume' })
              }
              onProblem={onProblem}
            >
              Resume<span class="hidden"> {to}</span>
            </Action>
          </li>
        ))}
      </ul>
    </>
  );
}
