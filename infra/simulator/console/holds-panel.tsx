import { useState } from 'preact/hooks';
import { type HoldInForce, holdsInForce } from './holds-in-force.ts';
import type { Overview } from './model.ts';
import { Action, Problem } from './parts.tsx';
import { addressOf } from './router.ts';
import { counted, momentOf } from './texts.ts';

/** Paused templates may be many, so the panel limits them. */
const mostShown = 2;

interface PanelProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

export function HoldsPanel({ overview, onChange }: PanelProps) {
  const [problem, setProblem] = useState('');
  const holds = holdsInForce(overview);
  // A hold of an account stops more than a paused template, so it is always shown.
  const wide = holds.filter(({ key }) => !key.startsWith('template '));
  const paused = holds.filter(({ key }) => key.startsWith('template '));
  const shown = [...wide, ...paused.slice(0, mostShown)];
  const more = holds.length - shown.length;
  return (
    <section class="panel" aria-labelledby="holds">
      <h2 id="holds">Holds in force</h2>
      <Problem text={problem} />
      {holds.length === 0 ? <p class="quiet">Nothing is held.</p> : null}
      <ul class="rules">
        {shown.map((hold) => (
          <Hold key={hold.key} hold={hold} onChange={onChange} onProblem={setProblem} />
        ))}
      </ul>
      {more > 0 ? (
        <a href={addressOf('templates', '', { status: 'PAUSED' })}>{counted(more, 'more paused template')}</a>
      ) : null}
    </section>
  );
}

interface HoldProps {
  readonly hold: HoldInForce;
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
}

function Hold({ hold: { title, stops, sinceMs, untilMs, button, end }, onChange, onProblem }: HoldProps) {
  const run = async () => {
    await end();
    onChange();
  };
  const since = Number.isNaN(sinceMs)
    ? ''
    : ` Since ${momentOf(sinceMs)}${untilMs === undefined ? '' : `, until ${momentOf(untilMs)}`}.`;
  return (
    <li class="rule-line">
      <span>
        <strong>{title}</strong>
        <span class="note">
          {stops}
          {since}
        </span>
      </span>
      <Action run={run} onProblem={onProblem}>
        {button}
        <span class="hidden">: {title}</span>
      </Action>
    </li>
  );
}
