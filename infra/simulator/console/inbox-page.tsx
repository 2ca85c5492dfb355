import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { Choice, Filters } from './filters.tsx';
import { clearedTo, type Inbox, inbox, type Listed, mostListed, readInboxAgain } from './inbox-store.ts';
import { counters, now } from './live.ts';
import { MessagePane } from './message-pane.tsx';
import { statusAt } from './message-status.ts';
import type { Overview } from './model.ts';
import { Empty, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { isRefused, RefusedPane } from './refused-pane.tsx';
import { addressOfPage, choose, place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { codeWordOf, counted, leftOutWords, momentOf, numberOf, timeOf, wordOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const keyOf = (row: Listed) => row.id;
const rowHeight = 76;
const statuses = ['accepted', 'held', 'sent', 'delivered', 'read', 'failed', 'refused'];

export function InboxPage() {
  const told = useStore(counters);
  const { value: overview, problem } = useAnswer(
    () => control<Overview>('overview'),
    `${told?.world} ${told?.settings}`,
  );
  const stopped = useMemo(
    () => new Set(overview?.stopped.map((each) => personKey(each.phone_number_id, each.to))),
    [overview],
  );
  const { rows, total, dropped, state, problem: unread } = useStore(inbox);
  const { id } = useStore(place);
  const cleared = useStore(clearedTo);
  const found = useFound(cleared);
  const kept = rows.length - found.cleared;
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Messages">
        <Filters
          label="Search recipient, dispatch, template, text, status or code"
          hint="Recipient, dispatch, status, code or text"
        >
          <NumberChoice rows={rows} numbers={overview?.numbers} />
          <Choice
            name="status"
            label="Status"
            all="Every status"
            options={statuses.map((each) => [each, wordOf(each)] as const)}
          />
        </Filters>
        <div class="count">
          <p role="status">
            {state !== 'ready'
              ? ''
              : found.rows.length === kept
                ? counted(total - found.cleared, 'message')
                : `${counted(found.rows.length, 'message')} of ${kept.toLocaleString('en')}`}
            {found.refused > 0 && state === 'ready' ? `, ${found.refused.toLocaleString('en')} refused` : ''}
          </p>
          {found.cleared > 0 ? (
            <button type="button" onClick={() => clearedTo.set(0)}>
              Show {found.cleared.toLocaleString('en')} cleared
            </button>
          ) : null}
          {problem === '' ? null : <span>Who has stopped could not be read</span>}
          {stopped.size > 0 ? (
            <a href={addressOfPage('faults')}>{stopped.size.toLocaleString('en')} stopped marketing</a>
          ) : null}
          {kept > 0 ? (
            <button type="button" onClick={() => clearedTo.set(rows[0]?.place ?? 0)}>
              Clear the list
            </button>
          ) : null}
        </div>
        <Missing rows={rows} total={total} dropped={dropped} />
        {rows.length > 0 ? <Problem text={unread} /> : null}
        {found.rows.length > 0 ? (
          <VirtualList
            label="Messages, newest first"
            items={found.rows}
            keyOf={keyOf}
            rowHeight={rowHeight}
            chosen={id}
            onChoose={(row) => choose('inbox', row.id)}
            onLeave={() => choose('inbox')}
            row={(row) => <Row row={row} isStopped={stopped.has(personKey(row.number, row.to))} />}
          />
        ) : (
          <NothingListed isFiltered={kept > 0} />
        )}
      </section>
      <section class="pane-main" aria-label="Message">
        {id === '' ? (
          <Empty title="Choose a message">
            <p>It is shown as the phone of its recipient shows it, or with the reason why nothing arrived.</p>
          </Empty>
        ) : isRefused(id) ? (
          <RefusedPane key={id} id={id} />
        ) : (
          <MessagePane key={id} id={id} />
        )}
      </section>
    </div>
  );
}

function useFound(cleared: number) {
  const { rows } = useStore(inbox);
  const { q = '', number = '', status = '' } = useStore(place).filter;
  const nowMs = useStore(now);
  // The status depends on time: only a search by text or status runs again as time passes.
  const asOfMs = `${q}${status}` === '' ? 0 : nowMs;
  return useMemo(() => {
    const kept = cleared === 0 ? rows : rows.filter((row) => row.place > cleared);
    const hasWords = searched(q);
    const isAsked = (row: Listed) => {
      if (number !== '' && row.number !== number) return false;
      const now = statusAt(row, asOfMs);
      return (status === '' || now.status === status) && hasWords(`${row.text} ${now.status} ${now.code ?? ''}`);
    };
    const isNarrowed = `${q}${number}${status}` !== '';
    const found = isNarrowed ? kept.filter(isAsked) : kept;
    const refused = found.reduce((count, row) => (row.refusal === undefined ? count : count + 1), 0);
    return { rows: found, cleared: rows.length - kept.length, refused };
  }, [rows, cleared, q, number, status, asOfMs]);
}

function Missing({ rows, total, dropped }: Pick<Inbox, 'rows' | 'total' | 'dropped'>) {
  const oldest = rows.at(-1);
  const unlisted = rows.length >= mostListed && total > rows.length ? total - rows.length : 0;
  if (dropped.length === 0 && unlisted === 0) return null;
  return (
    <div class="missing" role="note">
      {unlisted === 0 || oldest === undefined ? null : (
        <p>
          {counted(unlisted, 'older message')} not listed: the list goes since {momentOf(oldest.received_ms)}.
        </p>
      )}
      {dropped.map(({ kind, count, since_ms: sinceMs }) => (
        <p key={kind}>
          {leftOutWords(count, {
            sinceMs,
            what: kind === 'throttled' ? 'older throttled sends' : 'older refused sends',
          })}
          .
        </p>
      ))}
    </div>
  );
}

function personKey(numberId: string, to: string): string {
  return `${numberId} ${to}`;
}

interface NumberChoiceProps {
  readonly rows: readonly Listed[];
  /** The numbers are undefined until they are read. */
  readonly numbers: Overview['numbers'] | undefined;
}

function NumberChoice({ rows, numbers }: NumberChoiceProps) {
  const options = useMemo(() => {
    const known = new Map(numbers?.map(({ id, fields }) => [id, fields]));
    const wordsFor = (id: string) => {
      const fields = known.get(id);
      return fields === undefined ? id : `${fields['display_phone_number']} · ${fields['verified_name']}`;
    };
    return [...new Set(rows.map((row) => row.number))].sort().map((id) => [id, wordsFor(id)] as const);
  }, [rows, numbers]);
  return <Choice name="number" label="Sending number" all="All numbers" options={options} />;
}

function NothingListed({ isFiltered }: { readonly isFiltered: boolean }) {
  const { state, problem } = useStore(inbox);
  const known = useStore(counters);
  if (isFiltered) return <Empty title="No message is like that" />;
  if (state === 'failed') {
    return <Failed title="The messages could not be read" problem={problem} onAgain={readInboxAgain} />;
  }
  if (state === 'loading' || known === undefined) return <Waiting />;
  return (
    <Empty title="No messages yet">
      <p>
        What the service sends arrives here while you watch. With the local stack running, <code>npm run demo</code>{' '}
        sends to 1,000.
      </p>
    </Empty>
  );
}

interface RowProps {
  readonly row: Listed;
  readonly isStopped: boolean;
}

function Row({ row, isStopped }: RowProps) {
  const nowMs = useStore(now);
  const { status, code } = statusAt(row, nowMs);
  return (
    <>
      <span class="row-line">
        <strong>{row.to === '' ? 'No recipient' : numberOf(row.to)}</strong>
        {isStopped ? <span class="row-stopped">stopped</span> : null}
        <time dateTime={new Date(row.received_ms).toISOString()}>{timeOf(row.received_ms)}</time>
      </span>
      <span class="row-preview" dir="auto">
        {row.preview}
      </span>
      <span class="row-line small">
        <span class="row-template">{row.template || (row.refusal === undefined ? 'text' : 'no template')}</span>
        {row.replies > 0 ? <span class="row-replies">{counted(row.replies, 'reply', 'replies')}</span> : null}
        {row.refusal === undefined ? (
          <span class={`ticks ${status}`}>{code === undefined ? status : `${status} ${code}`}</span>
        ) : (
          <span class="badge bad">refused {codeWordOf(row.refusal)}</span>
        )}
      </span>
    </>
  );
}
