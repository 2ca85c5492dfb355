import { useState } from 'preact/hooks';
import { Remedy, useCodeWords } from './code-words.tsx';
import {
  type Head,
  isCalledOff,
  keyOf,
  type MessageState,
  offered,
  type Report,
  type ReportRow,
  reportPath,
  wasCalled,
} from './dispatch-model.ts';
import { Empty, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { addressOf } from './router.ts';
import { asUser, forClient } from './session.ts';
import { momentOf, numberOf, wordOf } from './texts.ts';

const pageSize = 100;

interface RecipientsProps {
  readonly report: Head;
  readonly isCancelled: boolean;
  /** The page reloads when this changes. */
  readonly when: string;
}

export function DispatchRecipients({ report, isCancelled, when }: RecipientsProps) {
  const [state, setState] = useState<MessageState | ''>('');
  /** The first page has no cursor. */
  const [cursors, setCursors] = useState<readonly string[]>(['']);
  const show = (next: MessageState | '') => {
    setState(next);
    setCursors(['']);
  };
  const present = offered.filter((each) => report.counts[each] > 0 || each === state);
  const count = state === '' ? report.total : report.counts[state];
  return (
    <section aria-label="Recipients">
      <h3>Recipients</h3>
      <fieldset class={`action-line chips ${isCancelled ? 'of-cancelled' : ''}`}>
        <legend class="hidden">Only those who are</legend>
        {(['', ...present] as const).map((each) => (
          <button key={each} type="button" class="button" aria-pressed={each === state} onClick={() => show(each)}>
            {each === '' ? null : <span class={`swatch state-${each}`} aria-hidden="true" />}
            {each === '' ? 'All' : wordOf(each)}{' '}
            <span class="note">{(each === '' ? report.total : report.counts[each]).toLocaleString('en')}</span>
          </button>
        ))}
      </fieldset>
      <RecipientPage {...{ report, when, state, cursors, count }} onCursors={setCursors} />
    </section>
  );
}

interface PageProps extends Omit<RecipientsProps, 'isCancelled'> {
  readonly state: MessageState | '';
  readonly cursors: readonly string[];
  readonly count: number;
  readonly onCursors: (cursors: readonly string[]) => void;
}

function RecipientPage({ report, when, state, cursors, count, onCursors }: PageProps) {
  const cursor = cursors.at(-1) ?? '';
  const asked = Object.entries({ limit: String(pageSize), state, cursor }).filter(([, value]) => value !== '');
  const query = String(new URLSearchParams(asked));
  const { value, problem, again } = useAnswer(
    async () => ({ query, page: await asUser<Report>('GET', forClient(`${reportPath(keyOf(report))}?${query}`)) }),
    `${query} ${when}`,
  );
  // The answer of another filter is not shown.
  if (value === undefined || value.query !== query) {
    return problem === '' ? (
      <Waiting />
    ) : (
      <Failed title="The recipients could not be read" problem={problem} onAgain={again} />
    );
  }
  const { data, paging } = value.page;
  const { after } = paging.cursors;
  const first = (cursors.length - 1) * pageSize;
  return (
    <>
      <Problem text={problem} />
      {data.length === 0 ? (
        <Empty title="No recipient is like that" />
      ) : (
        <table class="recipients">
          <thead>
            <tr>
              <th scope="col">Recipient</th>
              <th scope="col">State</th>
              <th scope="col">Why</th>
              <th scope="col" class="when">
                When
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <Recipient key={row.index} row={row} dispatchId={report.dispatch_id} />
            ))}
          </tbody>
        </table>
      )}
      {cursors.length === 1 && after === undefined ? null : (
        <p class="action-line">
          <button
            type="button"
            class="button"
            disabled={cursors.length === 1}
            onClick={() => onCursors(cursors.slice(0, -1))}
          >
            Previous
          </button>
          <button
            type="button"
            class="button"
            disabled={after === undefined}
            onClick={() => onCursors([...cursors, after ?? ''])}
          >
            Next
          </button>
          <span class="note" role="status">
            {(first + 1).toLocaleString('en')} to {(first + data.length).toLocaleString('en')} of{' '}
            {count.toLocaleString('en')}
          </span>
        </p>
      )}
    </>
  );
}

interface RecipientProps {
  readonly row: ReportRow;
  readonly dispatchId: string;
}

function Recipient({ row, dispatchId }: RecipientProps) {
  const at = row.updated_at ?? row.scheduled_for;
  return (
    <tr>
      <th scope="row">
        <Phone row={row} dispatchId={dispatchId} />
      </th>
      <td>
        <span class={`swatch state-${row.state} ${isCalledOff(row) ? 'of-cancelled' : ''}`} aria-hidden="true" />
        {wordOf(row.state)}
      </td>
      <td>
        <Why row={row} />
      </td>
      <td class="when">
        {at === undefined ? (
          ''
        ) : (
          <time dateTime={at}>{`${row.updated_at === undefined ? 'from ' : ''}${momentOf(Date.parse(at))}`}</time>
        )}
      </td>
    </tr>
  );
}

function Phone({ row, dispatchId }: RecipientProps) {
  const { to, platform_message_id: messageId } = row;
  if (to === undefined) return <span class="note">erased</span>;
  if (messageId !== undefined) return <a href={addressOf('inbox', messageId)}>{numberOf(to)}</a>;
  if (!wasCalled(row)) return <>{numberOf(to)}</>;
  return <a href={addressOf('inbox', '', { q: `${dispatchId} ${to}` })}>{numberOf(to)}</a>;
}

function Why({ row: { to, code = '', reason, duplicate_of: repeated } }: { readonly row: ReportRow }) {
  const words = useCodeWords(code);
  return (
    <>
      {repeated === undefined ? null : <p class="note">Repeats recipient {repeated + 1}: sent once.</p>}
      {code === '' ? null : (
        <details class="why">
          <summary>
            <code>{code}</code> {words?.title ?? reason}
          </summary>
          <Remedy code={code} />
          {code === 'opted_out' && to !== undefined ? (
            <p>
              <a href={addressOf('people', '', { q: numberOf(to) })}>Who said so, and since when</a>
            </p>
          ) : null}
          {reason === undefined ? null : <p class="note">Told: {reason}</p>}
        </details>
      )}
    </>
  );
}
