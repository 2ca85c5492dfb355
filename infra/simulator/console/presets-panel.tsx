import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { type Preset, type PresetWorld, presets } from './fault-presets.ts';
import { Action, Problem } from './parts.tsx';

const durations: readonly (readonly [string, string])[] = [
  ['', 'until removed'],
  ['1', 'for the next one'],
  ['10', 'for the next 10'],
  ['100', 'for the next 100'],
];

interface PresetsProps {
  readonly world: PresetWorld;
  readonly onChange: () => void;
}

export function PresetsPanel({ world, onChange }: PresetsProps) {
  const [problem, setProblem] = useState('');
  const [times, setTimes] = useState('');
  const add = (preset: Preset) => async (choice: string) => {
    const { path, body } = preset.call(choice, times === '' ? {} : { times: Number(times) });
    await control(path, body);
    onChange();
  };
  return (
    <section class="panel wide" aria-labelledby="presets">
      <div class="rule-line presets-head">
        <h2 id="presets">Add a usual fault</h2>
        <label>
          <span>How long: requests or messages</span>
          <select value={times} onChange={({ currentTarget }) => setTimes(currentTarget.value)}>
            {durations.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem text={problem} />
      <ul class="presets">
        {presets.map((preset) => (
          <Card key={preset.id} preset={preset} world={world} add={add(preset)} onProblem={setProblem} />
        ))}
      </ul>
    </section>
  );
}

interface CardProps {
  readonly preset: Preset;
  readonly world: PresetWorld;
  readonly add: (choice: string) => Promise<void>;
  readonly onProblem: (text: string) => void;
}

function Card({ preset: { title, happens, service, choice, lasts }, world, add, onProblem }: CardProps) {
  const [chosen, setChosen] = useState('');
  const options = choice?.options(world) ?? [];
  const [first] = options;
  const value = options.some(([each]) => each === chosen) ? chosen : (first?.[0] ?? '');
  return (
    <li>
      <h3>{title}</h3>
      <p>{happens}</p>
      <p class="note">{service}</p>
      {lasts === 'removed' ? <p class="note">It stays until it ends or is removed above.</p> : null}
      <div class="action-line end">
        {choice === undefined ? null : (
          <label class="grow">
            <span>{choice.label}</span>
            <select value={value} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {options.map(([each, words]) => (
                <option key={each} value={each}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        )}
        <Action run={() => add(value)} disabled={choice !== undefined && value === ''} onProblem={onProblem}>
          Add fault<span class="hidden">: {title}</span>
        </Action>
      </div>
    </li>
  );
}
