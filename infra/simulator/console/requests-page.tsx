import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { Icon } from './icons.tsx';
import { counters } from './live.ts';
import type { ExchangeDetail, ExchangeRow } from './model.ts';
import { CopyButton, Empty, Json, Problem, useAnswer } from './parts.tsx';
import { choose, place } from './router.ts';
import { useStore } from './store.ts';
import { counted, curlOf, timeOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const keyOf = (row: ExchangeRow) => String(row.id);
const none: readonly ExchangeRow[] = [];
const outcomes: Readonly<Record<string, (status: number | null) => boolean>> = {
  '': () => true,
  '2xx': (status) => status !== null && status < 300,
  '4xx': (status) => status !== null && status >= 400 && status < 500,
  '5xx': (status) => status !== null && status >= 500,
  'no answer': (status) => status === null,
};

/** What the service asked the platform, and what it got. */
export function RequestsPage() {
  const told = useStore(counters);
  const { id } = useStore(place);
  const [query, setQuery] = useState('');
  const [outcome, setOutcome] = useState('');
  const { value, problem } = useAnswer(
    () => control<{ readonly total: number; readonly data: readonly ExchangeRow[] }>('exchanges'),
    `${told?.resets} ${told?.requests} ${told?.answered}`,
  );
  const rows = value?.data ?? none;
  const found = useMemo(() => {
    const words = query.trim().toLowerCase().split(/\s+/);
    return rows.filter((row) => {
      const text = `${row.method} ${row.path} ${row.status ?? ''}`.toLowerCase();
      return outcomes[outcome]?.(row.status) === true && words.every((word) => text.includes(word));
    });
  }, [rows, query, outcome]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Requests">
        <div class="filters">
          <label class="search">
            <Icon name="search" />
            <span class="hidden">Search method, path or status</span>
            <input
              type="search"
              placeholder="Method, path or status"
              value={query}
              onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </label>
          <label class="choice">
            <span class="hidden">Answer</span>
            <select value={outcome} onChange={({ currentTarget }) => setOutcome(currentTarget.value)}>
              {Object.keys(outcomes).map((each) => (
                <option key={each} value={each}>
                  {each === '' ? 'Every answer' : each}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p class="count" role="status">
          {counted(found.length, 'request')}
          {value !== undefined && value.total > rows.length
            ? `, the newest of ${value.total.toLocaleString('en')}`
            : ''}
        </p>
        <Problem text={problem} />
        {found.length > 0 ? (
          <VirtualList
            label="Requests, newest first"
            items={found}
            keyOf={keyOf}
            rowHeight={58}
            chosen={id}
            onChoose={(row) => choose('requests', String(row.id))}
            row={(row) => <Row row={row} />}
          />
        ) : (
          <Empty
            title={
              value === undefined ? 'Reading …' : rows.length === 0 ? 'No requests yet' : 'No request is like that'
            }
          >
            {rows.length === 0 && value !== undefined ? (
              <p>What the service asks the platform is listed here.</p>
            ) : null}
          </Empty>
        )}
      </section>
      <section class="pane-main" aria-label="Request">
        {id === '' ? (
          <Empty title="Choose a request">
            <p>It is shown with its answer, and can be copied for a shell.</p>
          </Empty>
        ) : (
          <ExchangePane id={id} when={`${id} ${told?.resets}`} answered={told?.answered ?? 0} />
        )}
      </section>
    </div>
  );
}

function Status({ status }: { readonly status: number | null }) {
  const tone = status === null ? 'plain' : status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
  return <span class={`badge ${tone}`}>{status ?? 'no answer'}</span>;
}

function Row({ row }: { readonly row: ExchangeRow }) {
  return (
    <>
      <span class="row-line">
        <span class="row-path">
          <b class="method">{row.method}</b> {row.path}
        </span>
        <Status status={row.status} />
      </span>
      <span class="row-line small">
        <time dateTime={row.received_at}>{timeOf(Date.parse(row.received_at))}</time>
      </span>
    </>
  );
}

function ExchangePane({
  id,
  when,
  answered,
}: {
  readonly id: string;
  readonly when: string;
  readonly answered: number;
}) {
  const [settled, setSettled] = useState(false);
  const ask = async () => {
    const exchange = await control<ExchangeDetail>(`exchanges/${encodeURIComponent(id)}`);
    setSettled(exchange.reply !== null);
    return exchange;
  };
  // What has its answer does not change any more.
  const { value, problem } = useAnswer(ask, settled ? when : `${when} ${answered}`);
  const back = (
    <button type="button" class="button back" onClick={() => choose('requests')}>
      <Icon name="back" /> All requests
    </button>
  );
  if (problem !== '') {
    return (
      <Empty title="This request is not kept">
        <p>{problem}</p>
        {back}
      </Empty>
    );
  }
  if (value === undefined) return <Empty title="Reading …" />;
  const { method, path, request, reply } = value;
  const { query, body } = request;
  const origin = window.location.origin;
  return (
    <div class="exchange">
      {back}
      <h2>
        <b class="method">{method}</b> {path} <Status status={value.status} />
      </h2>
      <p class="exchange-tools">
        <span class="note">{value.received_at}</span>
        <CopyButton text={curlOf({ origin, method, path, query, body })} label="Copy as curl" />
      </p>
      {Object.keys(query).length === 0 ? null : (
        <>
          <h3>Query</h3>
          <Json value={query} label="Query" />
        </>
      )}
      <h3>Asked</h3>
      {body === null ? <p class="note">No body.</p> : <Json value={body} label="Body of the request" />}
      <h3>Got</h3>
      <Reply reply={reply} />
    </div>
  );
}

function Reply({ reply }: Pick<ExchangeDetail, 'reply'>) {
  if (reply === null) return <p class="note">No answer yet.</p>;
  if (reply.kind === 'closed') return <p class="note">The connection was closed without an answer.</p>;
  if (reply.kind === 'bytes') return <p class="note">A file.</p>;
  return (
    <>
      {reply.cut ? <p class="note">The answer is long: this is how it begins.</p> : null}
      <Json value={reply.body} label="Body of the answer" />
    </>
  );
}
