import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { Action, Problem } from './parts.tsx';
import { numberOf } from './texts.ts';

export function BlockedPanel({ blocked }: { readonly blocked: readonly string[] }) {
  const [problem, setProblem] = useState('');
  if (blocked.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="blocked">
      <h2 id="blocked">People who have blocked the business</h2>
      <Problem text={problem} />
      <ul class="rules">
        {blocked.map((to) => (
          <li key={to} class="rule-line">
            <code>{numberOf(to)}</code>
            <Action
              run={() => control(`recipients/${encodeURIComponent(to)}`, { blocked: false })}
              onProblem={setProblem}
            >
              Unblock<span class="hidden"> {to}</span>
            </Action>
          </li>
        ))}
      </ul>
    </section>
  );
}
