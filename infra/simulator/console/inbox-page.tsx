import { useMemo, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { inbox, type Listed, mostListed } from './inbox-store.ts';
import { counters, now } from './live.ts';
import { MessagePane } from './message-pane.tsx';
import { statusAt } from './message-status.ts';
import { Empty } from './parts.tsx';
import { choose, place } from './router.ts';
import { useStore } from './store.ts';
import { counted, numberOf, timeOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const keyOf = (row: Listed) => row.id;
const rowHeight = 76;

/** Every message that the platform took, and the phone that shows the one that is chosen. */
export function InboxPage() {
  const { rows, total, state } = useStore(inbox);
  const { id } = useStore(place);
  const [query, setQuery] = useState('');
  const [number, setNumber] = useState('');
  const numbers = useMemo(() => [...new Set(rows.map((row) => row.number))].sort(), [rows]);
  const found = useMemo(() => {
    const wanted = query.trim().toLowerCase();
    if (wanted === '' && number === '') return rows;
    return rows.filter((row) => (number === '' || row.number === number) && row.text.includes(wanted));
  }, [rows, query, number]);

  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Messages">
        <div class="filters">
          <label class="search">
            <Icon name="search" />
            <span class="hidden">Search recipient, job, template or text</span>
            <input
              type="search"
              placeholder="Recipient, job or text"
              value={query}
              onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </label>
          <label class="choice">
            <span class="hidden">Sending number</span>
            <select value={number} onChange={({ currentTarget }) => setNumber(currentTarget.value)}>
              <option value="">All numbers</option>
              {numbers.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p class="count" role="status">
          {found.length === rows.length
            ? counted(total, 'message')
            : `${counted(found.length, 'message')} of ${rows.length.toLocaleString('en')}`}
          {total > rows.length && rows.length >= mostListed
            ? `, the newest ${mostListed.toLocaleString('en')} listed`
            : ''}
        </p>
        {found.length > 0 ? (
          <VirtualList
            label="Messages, newest first"
            items={found}
            keyOf={keyOf}
            rowHeight={rowHeight}
            chosen={id}
            onChoose={(row) => choose('inbox', row.id)}
            row={(row) => <Row row={row} />}
          />
        ) : (
          <NothingListed state={state} isFiltered={rows.length > 0} />
        )}
      </section>
      <section class="pane-main" aria-label="Message">
        {id === '' ? (
          <Empty title="Choose a message">
            <p>It is shown as the phone of its recipient shows it, with everything that was told of it.</p>
          </Empty>
        ) : (
          <MessagePane key={id} id={id} />
        )}
      </section>
    </div>
  );
}

function NothingListed({ state, isFiltered }: { readonly state: string; readonly isFiltered: boolean }) {
  const known = useStore(counters);
  if (isFiltered) return <Empty title="No message is like that" />;
  if (state === 'failed') return <Empty title="The messages could not be read" />;
  if (state === 'loading' || known === undefined) return <Empty title="Reading …" />;
  return (
    <Empty title="No messages yet">
      <p>
        What the service sends arrives here while you watch. With the local stack running, <code>npm run demo</code>{' '}
        sends to two hundred.
      </p>
    </Empty>
  );
}

function Row({ row }: { readonly row: Listed }) {
  const nowMs = useStore(now);
  const { status, code } = statusAt(row, nowMs);
  return (
    <>
      <span class="row-line">
        <strong>{numberOf(row.to)}</strong>
        <time dateTime={new Date(row.received_ms).toISOString()}>{timeOf(row.received_ms)}</time>
      </span>
      <span class="row-preview">{row.preview}</span>
      <span class="row-line small">
        <span class="row-template">{row.template}</span>
        {row.replies > 0 ? <span class="row-replies">{counted(row.replies, 'reply', 'replies')}</span> : null}
        <span class={`ticks ${status}`}>{code === undefined ? status : `${status} ${code}`}</span>
      </span>
    </>
  );
}
