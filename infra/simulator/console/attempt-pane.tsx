import type { AttemptRow } from './model.ts';
import { BackButton, CopyButton, Empty, Facts } from './parts.tsx';
import { addressOf } from './router.ts';
import { momentOf, timeOf } from './texts.ts';

const tones: Readonly<Record<string, string>> = { delivered: 'good', failed: 'warn' };

export function Outcome({ row }: { readonly row: AttemptRow }) {
  return (
    <span class={`badge ${tones[row.outcome] ?? 'bad'}`}>
      {row.outcome.replace('_', ' ')}
      {row.code === null ? '' : ` · ${row.code}`}
    </span>
  );
}

export function Sent({ row }: { readonly row: AttemptRow }) {
  return (
    <span>
      <time dateTime={row.at}>{timeOf(Date.parse(row.at))}</time> · client {row.client_id}
      {row.attempt === null ? '' : ` · attempt ${row.attempt}`}
    </span>
  );
}

interface PaneProps {
  readonly chosen: AttemptRow | undefined;
  readonly rows: readonly AttemptRow[];
}

/** One attempt: which event it told, what became of the others, and what an operator does to have it told again. */
export function AttemptPane({ chosen, rows }: PaneProps) {
  const back = <BackButton page="webhooks">All attempts</BackButton>;
  if (chosen === undefined) {
    return (
      <Empty title="This attempt cannot be shown">
        <p>It is not kept any more.</p>
        {back}
      </Empty>
    );
  }
  const isSame = (row: AttemptRow) => row.event_id === chosen.event_id && row.client_id === chosen.client_id;
  const all = chosen.event_id === null ? [chosen] : rows.filter(isSame).toReversed();
  const facts: readonly (readonly [string, string])[] = [
    ['Event', chosen.event_id ?? 'none: of the webhook itself'],
    ['Client', String(chosen.client_id)],
    ['At', momentOf(Date.parse(chosen.at))],
    ['Took', chosen.duration_ms === null ? 'unknown' : `${chosen.duration_ms} ms`],
  ];
  return (
    <div class="exchange">
      {back}
      <h2>
        {chosen.kind ?? 'webhook'} <Outcome row={chosen} />
      </h2>
      <Facts facts={facts} />
      <h3>Its attempts</h3>
      <ol class="rules">
        {all.map((row) => (
          <li key={row.id}>
            <a href={addressOf('webhooks', String(row.id))} aria-current={row === chosen ? 'true' : undefined}>
              <Sent row={row} />
            </a>{' '}
            <Outcome row={row} />
          </li>
        ))}
      </ol>
      {chosen.kind === null || all[0] === undefined ? null : <Again first={all[0]} kind={chosen.kind} />}
    </div>
  );
}

/** An event happened before its first attempt, usually within the second. */
const beforeMs = 60_000;

/** The service sends events again by a command of its operators, and by nothing else. */
function Again({ first, kind }: { readonly first: AttemptRow; readonly kind: string }) {
  const since = new Date(Date.parse(first.at) - beforeMs).toISOString();
  const command = `npm run events -- replay --client ${first.client_id} --since ${since} --until ${first.at} --type ${kind}`;
  return (
    <>
      <h3>Tell it again</h3>
      <p class="note">
        With everything else of this kind that the client was told within the minute. Ids stay the same;{' '}
        <code>--dry-run</code> only counts.
      </p>
      <pre class="command">{command}</pre>
      <CopyButton text={command} label="Copy the command" />
    </>
  );
}
