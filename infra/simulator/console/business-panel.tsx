import { useState } from 'preact/hooks';
import { control, sentenceOf } from './api.ts';
import { holdWords } from './holds-in-force.ts';
import type { HoldView, Overview } from './model.ts';
import { Badge, Problem } from './parts.tsx';
import { wordOf } from './texts.ts';

interface PanelProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

type Fields = Readonly<Record<string, unknown>>;

interface Changeable {
  readonly label: string;
  readonly values: readonly string[];
  readonly now: (fields: Fields) => string;
  readonly changes: (value: string) => object;
}

const named = (name: string, label: string, values: readonly string[]): Changeable => ({
  ...{ label, values },
  now: (fields) => String(fields[name] ?? ''),
  changes: (value) => ({ [name]: value }),
});

const ofNumber: readonly Changeable[] = [
  named('status', 'Status', ['CONNECTED', 'FLAGGED', 'RATE_LIMITED', 'RESTRICTED', 'BANNED', 'DISCONNECTED']),
  named('quality_rating', 'Quality', ['GREEN', 'YELLOW', 'RED', 'UNKNOWN']),
  {
    label: 'Throughput',
    values: ['STANDARD', 'HIGH', 'NOT_APPLICABLE'],
    now: ({ throughput }) => String((throughput as { readonly level?: unknown } | undefined)?.level ?? ''),
    changes: (level) => ({ throughput: { level } }),
  },
];
const ofWaba: readonly Changeable[] = [
  {
    label: 'Marketing messages API',
    values: ['ONBOARDED', 'NOT_ONBOARDED'],
    now: ({ marketing_messages_onboarding_status: status }) => String(status ?? 'NOT_ONBOARDED'),
    changes: (value) => ({ marketing_messages_onboarding_status: value === 'ONBOARDED' ? value : null }),
  },
  {
    label: 'Marketing by the ordinary API',
    values: ['ALLOWED', 'DISABLED'],
    now: ({ disable_marketing_messages_on_cloud_api: isDisabled }) => (isDisabled === true ? 'DISABLED' : 'ALLOWED'),
    changes: (value) => ({ disable_marketing_messages_on_cloud_api: value === 'DISABLED' }),
  },
];

export function BusinessPanel({ overview, onChange }: PanelProps) {
  const [problem, setProblem] = useState('');
  const change = (path: string) => async (changes: object) => {
    setProblem('');
    try {
      await control(path, changes);
      onChange();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
  };
  return (
    <section class="panel wide" aria-labelledby="businesses">
      <h2 id="businesses">Business accounts and numbers</h2>
      <p class="note">What the platform says of them. The service hears by webhook when a number may send faster.</p>
      <Problem text={problem} />
      {overview.wabas.map(({ id, fields, holds }) => (
        <section key={id} class="waba" aria-label={String(fields['name'])}>
          <h3>
            {String(fields['name'])} <span class="note">{id}</span> <HeldBadges holds={holds} />
          </h3>
          <Choices fields={fields} of={ofWaba} change={change(`wabas/${id}`)} />
          <ul class="numbers">
            {overview.numbers
              .filter(({ waba_id: owner }) => owner === id)
              .map((number) => (
                <li key={number.id}>
                  <p>
                    <strong>{String(number.fields['display_phone_number'])}</strong>{' '}
                    <Badge value={String(number.fields['status'])} /> <HeldBadges holds={number.holds} />
                    <span class="note">
                      {String(number.fields['verified_name'])} · {number.id}
                    </span>
                  </p>
                  <Choices fields={number.fields} of={ofNumber} change={change(`numbers/${number.id}`)} />
                </li>
              ))}
          </ul>
        </section>
      ))}
    </section>
  );
}

function HeldBadges({ holds }: { readonly holds: readonly HoldView[] }) {
  return holds.map(({ code }) => <Badge key={code} value={`held, ${holdWords[code]?.reason ?? code}`} />);
}

interface ChoicesProps {
  readonly fields: Fields;
  readonly of: readonly Changeable[];
  readonly change: (changes: object) => Promise<void>;
}

function Choices({ fields, of, change }: ChoicesProps) {
  return (
    <div class="action-line">
      {of.map(({ label, values, now, changes }) => {
        const value = now(fields);
        return (
          <label key={label} class="grow">
            <span>{label}</span>
            <select value={value} onChange={({ currentTarget }) => void change(changes(currentTarget.value))}>
              {(values.includes(value) ? values : [value, ...values]).map((each) => (
                <option key={each} value={each}>
                  {wordOf(each)}
                </option>
              ))}
            </select>
          </label>
        );
      })}
    </div>
  );
}
