import type { ComponentChildren } from 'preact';
import { control } from './api.ts';
import type { AttemptRow } from './model.ts';
import { BackButton, CopyButton, Empty, Facts, useAnswer } from './parts.tsx';
import { addressOf, place } from './router.ts';
import { momentOf, timeOf } from './texts.ts';

const tones: Readonly<Record<string, string>> = { delivered: 'good', failed: 'warn' };

export const outcomeWords: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  failed: 'failed',
  abandoned: 'given up',
  gone: 'receiver gone',
  switched_off: 'webhook switched off',
};

export function Outcome({ row }: { readonly row: AttemptRow }) {
  return (
    <span class={`badge ${tones[row.outcome] ?? 'bad'}`}>
      {outcomeWords[row.outcome] ?? row.outcome}
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
  readonly page?: string;
  readonly keyOf?: (row: AttemptRow) => string;
}

/** Shows one attempt: its event, the event's other attempts, and the command that sends it again. */
export function AttemptPane({ chosen, rows, page = 'webhooks', keyOf = ({ id }) => String(id) }: PaneProps) {
  const back = <BackButton page={page}>{page === 'webhooks' ? 'All attempts' : 'All events'}</BackButton>;
  if (chosen === undefined) {
    return (
      <Empty title="This attempt cannot be shown">
        <p>It is not kept any more.</p>
        {back}
      </Empty>
    );
  }
  const isSame = (row: AttemptRow) => row.event_id === chosen.event_id && row.client_id === chosen.client_id;
  const { filter } = place.get();
  const all = chosen.event_id === null ? [chosen] : rows.filter(isSame).toReversed();
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [
      'Kind',
      chosen.kind === null ? (
        'none: it is about the webhook itself'
      ) : (
        <a href={addressOf('reference', chosen.kind)}>{chosen.kind}</a>
      ),
    ],
    ['Event', chosen.event_id ?? 'none'],
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
      <About row={chosen} />
      <h3>Its attempts</h3>
      <ol class="rules">
        {all.map((row) => (
          <li key={row.id}>
            <a href={addressOf(page, keyOf(row), filter)} aria-current={row === chosen ? 'true' : undefined}>
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

interface Marked {
  readonly total: number;
  readonly message: string | null;
  readonly number: string | null;
}

function About({ row }: { readonly row: AttemptRow }) {
  const { dispatch_id: dispatch, message_id: mark } = row;
  const { value } = useAnswer(
    dispatch === null ? undefined : () => control<Marked>(`marked?mark=${encodeURIComponent(mark ?? dispatch)}`),
    `${dispatch} ${mark}`,
  );
  if (dispatch === null) return null;
  const { message, number } = value ?? { message: null, number: null };
  return (
    <ul class="links">
      {number === null ? null : (
        <li>
          <a href={addressOf('dispatches', `${number}/${dispatch}`)}>Its dispatch, {dispatch}</a>
        </li>
      )}
      <li>
        {mark !== null && message !== null ? (
          <a href={addressOf('inbox', message)}>Its message, on the phone</a>
        ) : (
          <a href={addressOf('inbox', '', { q: dispatch })}>All messages of the dispatch, on the phone</a>
        )}
      </li>
    </ul>
  );
}

/** The event is older than its first attempt, usually by less than a second. */
const beforeMs = 60_000;

/** Only an operator's command sends events again. */
function Again({ first, kind }: { readonly first: AttemptRow; readonly kind: string }) {
  const since = new Date(Date.parse(first.at) - beforeMs).toISOString();
  const command = `infra/ops events replay --client ${first.client_id} --since ${since} --until ${first.at} --type ${kind}`;
  return (
    <>
      <h3>Send it again</h3>
      <p class="note">
        An operator's command. It sends every event of this kind of the client within the minute. Ids stay the same;{' '}
        <code>--dry-run</code> only counts.
      </p>
      <pre class="command">{command}</pre>
      <CopyButton text={command} label="Copy the command" />
    </>
  );
}
