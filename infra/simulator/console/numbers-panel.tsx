import { useState } from 'preact/hooks';
import { control } from './api.ts';
import type { Overview } from './model.ts';
import { Badge, Problem } from './parts.tsx';
import { wordOf } from './texts.ts';

interface NumbersProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

const choices: Readonly<Record<string, readonly string[]>> = {
  status: ['CONNECTED', 'FLAGGED', 'RATE_LIMITED', 'RESTRICTED', 'BANNED', 'DISCONNECTED'],
  quality_rating: ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'],
  throughput: ['STANDARD', 'HIGH', 'NOT_APPLICABLE'],
};
const labels: Readonly<Record<string, string>> = {
  status: 'Status',
  quality_rating: 'Quality',
  throughput: 'Throughput',
};

/** The sending numbers as the platform has them; each change is told by webhook. */
export function NumbersPanel({ overview, onChange }: NumbersProps) {
  const [problem, setProblem] = useState('');
  const change = (id: string, name: string) => async (value: string) => {
    setProblem('');
    try {
      await control(`numbers/${encodeURIComponent(id)}`, { [name]: name === 'throughput' ? { level: value } : value });
      onChange();
    } catch (error) {
      setProblem(String(error));
    }
  };
  return (
    <section class="panel" aria-labelledby="numbers">
      <h2 id="numbers">Numbers</h2>
      <Problem text={problem} />
      {overview.numbers.map(({ id, fields }) => (
        <section key={id} class="number" aria-label={String(fields['display_phone_number'])}>
          <p>
            <strong>{String(fields['display_phone_number'])}</strong> <Badge value={String(fields['status'])} />
            <span class="note">
              {String(fields['verified_name'])} · {id}
            </span>
          </p>
          <div class="action-line">
            {Object.entries(choices).map(([name, values]) => (
              <Choice key={name} name={name} values={values} now={valueOfField(fields, name)} set={change(id, name)} />
            ))}
          </div>
        </section>
      ))}
      <h3>Who is told</h3>
      <ul class="rules">
        {overview.apps.map(({ id, name, callback }) => (
          <li key={id}>
            <code>{id}</code> {name} <span class="note">{callback?.url ?? 'no callback'}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly values: readonly string[];
  readonly now: string;
  readonly set: (value: string) => Promise<void>;
}

function Choice({ name, values, now, set }: ChoiceProps) {
  const all = values.includes(now) ? values : [now, ...values];
  return (
    <label class="grow">
      <span>{labels[name]}</span>
      <select value={now} onChange={({ currentTarget }) => void set(currentTarget.value)}>
        {all.map((each) => (
          <option key={each} value={each}>
            {wordOf(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function valueOfField(fields: Readonly<Record<string, unknown>>, name: string): string {
  if (name !== 'throughput') return String(fields[name] ?? '');
  return String((fields['throughput'] as { readonly level?: unknown } | undefined)?.level ?? '');
}
