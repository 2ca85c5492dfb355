import { useState } from 'preact/hooks';
import { call, control } from './api.ts';
import { Remedy } from './code-words.tsx';
import { type Head, type ReportRow, type WaitingFor, waitingOf } from './dispatch-model.ts';
import { counters } from './live.ts';
import type { Overview, TemplateRow } from './model.ts';
import { Action, Problem, useAnswer } from './parts.tsx';
import { addressOfPage } from './router.ts';
import { useStore } from './store.ts';
import { momentOf } from './texts.ts';

/** What the simulated platform holds, and the call that opens it. */
interface Opening {
  readonly words: string;
  readonly open: () => Promise<unknown>;
  readonly since: string | undefined;
}

interface HoldsProps {
  readonly report: Head;
  readonly waiting: readonly ReportRow[];
  readonly onLifted: () => void;
}

/** Why recipients wait, though their time has come: each code with what helps, and how it is opened here. */
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
  /** Everybody who waits waits for it, as far as was looked at. */
  readonly isAll: boolean;
  readonly onLifted: () => void;
  readonly onProblem: (text: string) => void;
}

function Hold({ report, hold: { code, count }, isAll, onLifted, onProblem }: HoldProps) {
  const told = useStore(counters);
  const when = `${code} ${told?.world} ${told?.settings} ${told?.templates}`;
  const { value: openings = [] } = useAnswer(() => openingsOf(report, code), when);
  const since = openings[0]?.since;
  return (
    <>
      <h3>
        {isAll ? 'Everything that is pending' : count.toLocaleString('en')} waits: <code>{code}</code>
        {since === undefined ? '' : `, since ${momentOf(Date.parse(since))}`}
      </h3>
      <Remedy code={code} />
      <p class="action-line">
        {openings.map(({ words, open }) => (
          <Action
            key={words}
            tone="main"
            onProblem={onProblem}
            run={async () => {
              await open();
              onLifted();
            }}
          >
            {words}
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

/** Where the simulated platform holds what the code says: the template, the number or its WABA. */
async function openingsOf({ did, template }: Head, code: string): Promise<readonly Opening[]> {
  const { numbers, wabas, faults } = await control<Overview>('overview');
  const number = numbers.find(({ fields }) => String(fields['display_phone_number']).replace(/\D/g, '') === did);
  const waba = wabas.find(({ id }) => id === number?.waba_id);
  if (code === 'template_paused') {
    const { data } = await control<{ readonly data: readonly TemplateRow[] }>('templates');
    const isIt = (row: TemplateRow) =>
      row.name === template.name && row.language === template.language && row.waba_id === waba?.id;
    return data
      .filter((row) => isIt(row) && row.status !== 'APPROVED')
      .map(({ id }) => ({
        words: 'Resume the template',
        open: () => control(`templates/${id}`, { status: 'APPROVED' }),
        since: undefined,
      }));
  }
  const places = [
    { node: number, path: `numbers/${number?.id}`, words: 'Open the number again' },
    { node: waba, path: `wabas/${waba?.id}`, words: 'Open the account again' },
  ];
  const held = places.flatMap(({ node, path, words }) =>
    (node?.holds ?? [])
      .filter((hold) => String(hold.code) === code)
      .map(({ since }) => ({ words, open: () => call('DELETE', `/_control/${path}/holds?code=${code}`), since })),
  );
  const causes = faults.filter(({ action }) => String(action['code']) === code);
  if (held.length > 0 || causes.length === 0) return held;
  const remove = async () => {
    for (const { id } of causes) await call('DELETE', `/_control/faults/${id}`);
  };
  return [{ words: 'Remove the faults', open: remove, since: undefined }];
}
