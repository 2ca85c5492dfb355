import { useState } from 'preact/hooks';
import { call, control } from './api.ts';
import { actionIn, courseIn, leftIn, messagesIn, requestsIn } from './fault-words.ts';
import type { Overview } from './model.ts';
import { Action, Problem } from './parts.tsx';

interface PanelProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

interface FaultInForce {
  readonly key: string;
  readonly sentence: string;
  readonly lasts: string;
  readonly remove: () => Promise<unknown>;
}

/** Shows faults, receipt rules and slowed numbers as sentences, each with a button that removes it. */
export function ActiveFaultsPanel({ overview, onChange }: PanelProps) {
  const [problem, setProblem] = useState('');
  const inForce = inForceOf(overview);
  const run = (removing: () => Promise<unknown>) => async () => {
    await removing();
    onChange();
  };
  const removeAll = async () => {
    for (const { remove } of inForce) await remove();
  };
  return (
    <section class="panel" aria-labelledby="faults">
      <h2 id="faults">Faults in force</h2>
      <Problem text={problem} />
      {inForce.length === 0 ? (
        <p class="quiet">No faults: the platform works as usual.</p>
      ) : (
        <>
          <ul class="rules">
            {inForce.map(({ key, sentence, lasts, remove }) => (
              <li key={key} class="rule-line">
                <span>
                  {sentence}
                  <span class="note">{lasts}</span>
                </span>
                <Action run={run(remove)} onProblem={setProblem}>
                  Remove<span class="hidden">: {sentence}</span>
                </Action>
              </li>
            ))}
          </ul>
          <Action run={run(removeAll)} onProblem={setProblem}>
            Remove all faults
          </Action>
        </>
      )}
    </section>
  );
}

function inForceOf({ faults, receipts, numbers }: Overview): readonly FaultInForce[] {
  return [
    ...faults.map(({ id, match, action, left }) => ({
      key: `fault ${id}`,
      sentence: `${requestsIn(match)} ${actionIn(action)}.`,
      lasts: leftIn(left, 'request'),
      remove: () => call('DELETE', `/_control/faults/${id}`),
    })),
    ...receipts.map(({ id, match, course, left }) => ({
      key: `receipts ${id}`,
      sentence: `${messagesIn(match)} ${courseIn(course)}.`,
      lasts: leftIn(left, 'message'),
      remove: () => call('DELETE', `/_control/receipts/${id}`),
    })),
    ...numbers
      .filter(({ fields }) => fields['is_on_biz_app'] === true)
      .map(({ id, fields }) => ({
        key: `number ${id}`,
        sentence: `${fields['display_phone_number']} may send 20 messages a second.`,
        lasts: leftIn(null, 'message'),
        remove: () => control(`numbers/${id}`, { is_on_biz_app: false }),
      })),
  ];
}
