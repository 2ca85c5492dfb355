import { useState } from 'preact/hooks';
import { call, control } from './api.ts';
import { Remedy } from './code-words.tsx';
import { type Head, type ReportRow, type WaitingFor, waitingOf } from './dispatch-model.ts';
import { type HoldInForce, holdsInForce } from './holds-in-force.ts';
import { counters } from './live.ts';
import type { Overview } from './model.ts';
import { Action, Problem, useAnswer } from './parts.tsx';
import { addressOfPage } from './router.ts';
import { useStore } from './store.ts';
import { momentOf } from './texts.ts';

type Opening = Pick<HoldInForce, 'key' | 'button' | 'sinceMs' | 'end'>;

interface HoldsProps {
  readonly report: Head;
  readonly waiting: readonly ReportRow[];
  readonly onLifted: () => void;
}

/** Lists codes that recipients wait for, with the remedy and the button that ends the hold here. */
export function DispatchHolds({ report, waiting, onLifted }: HoldsProps) {
  const { holds } = waitingOf(waiting);
  const [problem, setProblem] = useState('');
  return holds.length === 0 ? null : (
    <section class="hold" aria-label="What holds it">
      <Problem text={problem} />
      {holds.map((hold) => (
        <Hold
          key={hold.code}
          {...{ report, hold, onLifted }}
          onProblem={setProblem}
          isAll={waiting.length === hold.count}
        />
      ))}
    </section>
  );
}

interface HoldProps {
  readonly report: Head;
  readonly hold: WaitingFor;
  /** All rows that were read wait for this code. */
  readonly isAll: boolean;
  readonly onLifted: () => void;
  readonly onProblem: (text: string) => void;
}

function Hold({ report, hold: { code, count }, isAll, onLifted, onProblem }: HoldProps) {
  const told = useStore(counters);
  const when = `${code} ${told?.world} ${told?.settings} ${told?.templates}`;
  const { value: openings = [] } = useAnswer(() => openingsOf(report, code), when);
  const sinceMs = openings[0]?.sinceMs ?? Number.NaN;
  return (
    <>
      <h3>
        {isAll ? 'Everything that is pending' : count.toLocaleString('en')} waits: <code>{code}</code>
        {Number.isNaN(sinceMs) ? '' : `, since ${momentOf(sinceMs)}`}
      </h3>
      <Remedy code={code} />
      <p class="action-line">
        {openings.map(({ key, button, end }) => (
          <Action
            key={key}
            tone="main"
            onProblem={onProblem}
            run={async () => {
              await end();
              onLifted();
            }}
          >
            {button}
          </Action>
        ))}
        <a href={addressOfPage('faults')}>Faults and clock</a>
      </p>
      <p class="note">
        The service asks with one message from time to time, and the rest follows as soon as that one is taken.
      </p>
    </>
  );
}

/**
 * Finds holds of the dispatch's template, number, account or business with the code; without one, the faults with it.
 */
async function openingsOf({ did, template }: Head, code: string): Promise<readonly Opening[]> {
  const overview = await control<Overview>('overview');
  const { numbers, wabas, paused, faults } = overview;
  const number = numbers.find(({ fields }) => String(fields['display_phone_number']).replace(/\D/g, '') === did);
  const waba = wabas.find(({ id }) => id === number?.waba_id);
  const owner = waba?.fields['owner_business_info'] as { readonly id?: string } | undefined;
  const pausedOne = paused.find(
    ({ name, language, waba_id }) => name === template.name && language === template.language && waba_id === waba?.id,
  );
  const theirs = [
    `templates/${pausedOne?.id}`,
    `numbers/${number?.id}`,
    `wabas/${waba?.id}`,
    `businesses/${owner?.id ?? waba?.id}`,
  ];
  const held = holdsInForce(overview).filter((hold) => hold.code === code && theirs.includes(hold.node));
  const causes = faults.filter(({ action }) => String(action['code']) === code);
  if (held.length > 0 || causes.length === 0) return held;
  const end = async () => {
    for (const { id } of causes) await call('DELETE', `/_control/faults/${id}`);
  };
  return [{ key: 'faults', button: 'Remove the faults', sinceMs: Number.NaN, end }];
}
