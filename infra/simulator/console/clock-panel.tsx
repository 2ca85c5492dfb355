import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { now } from './live.ts';
import type { Overview } from './model.ts';
import { Action, Problem, Twice } from './parts.tsx';
import { useStore } from './store.ts';
import { counted, momentOf } from './texts.ts';

const steps: readonly (readonly [string, number])[] = [
  ['+1 minute', 60],
  ['+10 minutes', 600],
  ['+1 hour', 3_600],
  ['+24 hours', 86_400],
];

export function ClockPanel({ overview }: { readonly overview: Overview }) {
  const [seconds, setSeconds] = useState('');
  const [problem, setProblem] = useState('');
  const nowMs = useStore(now);
  const { counts, advanced_seconds: advanced } = overview;
  const advance = (by: number) => () => control('clock', { advance_seconds: by });
  return (
    <section class="panel" aria-labelledby="clock">
      <h2 id="clock">Clock</h2>
      <p class="clock">{momentOf(nowMs)}</p>
      <p class="note">
        {advanced === 0 ? 'Real time.' : `${counted(advanced, 'second')} ahead of real time.`} A review of a template
        takes a minute. {counted(counts['planned'] ?? 0, 'webhook')} planned,{' '}
        {(counts['due'] ?? 0).toLocaleString('en')} due.
      </p>
      <div class="action-line">
        {steps.map(([label, by]) => (
          <Action key={label} run={advance(by)} onProblem={setProblem}>
            {label}
          </Action>
        ))}
      </div>
      <div class="action-line">
        <label class="grow">
          <span>By so many seconds</span>
          <input
            inputMode="numeric"
            value={seconds}
            placeholder="90"
            onInput={({ currentTarget }) => setSeconds(currentTarget.value)}
          />
        </label>
        <Action
          tone="main"
          disabled={!/^\d{1,10}$/.test(seconds)}
          run={advance(Number(seconds))}
          onProblem={setProblem}
        >
          Advance the clock
        </Action>
      </div>
      <Problem text={problem} />
      <div class="action-line end">
        <Twice
          label="Reset the simulator"
          sure="Reset: forget everything"
          keep="Cancel"
          run={() => control('reset', {})}
          onProblem={setProblem}
        />
      </div>
    </section>
  );
}
