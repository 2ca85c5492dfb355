import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { Icon } from './icons.tsx';
import { counters } from './live.ts';
import type { AttemptRow } from './model.ts';
import { Empty, Problem, useAnswer } from './parts.tsx';
import { useStore } from './store.ts';
import { counted, timeOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const keyOf = (row: AttemptRow) => String(row.id);
const none: readonly AttemptRow[] = [];
const tones: Readonly<Record<string, string>> = { delivered: 'good', failed: 'warn' };

/** What the service told its clients by webhook: every attempt. */
export function WebhooksPage() {
  const told = useStore(counters);
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState('');
  const { value, problem } = useAnswer(
    () => control<{ readonly total: number; readonly data: readonly AttemptRow[] }>('events'),
    String(told?.events),
  );
  const rows = value?.data ?? none;
  const found = useMemo(() => {
    const words = query.trim().toLowerCase().split(/\s+/);
    return rows.filter((row) => {
      const text = `${row.kind} ${row.event_id} ${row.client_id} ${row.outcome} ${row.code ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [rows, query]);
  return (
    <div class="page split single">
      <section class="pane-list" aria-label="Attempts">
        <div class="filters">
          <label class="search">
            <Icon name="search" />
            <span class="hidden">Search kind, event, client or outcome</span>
            <input
              type="search"
              placeholder="Kind, event, client or outcome"
              value={query}
              onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </label>
        </div>
        <p class="count" role="status">
          {counted(found.length, 'attempt')}
        </p>
        <Problem text={problem} />
        {found.length > 0 ? (
          <VirtualList
            label="Attempts, newest first"
            items={found}
            keyOf={keyOf}
            rowHeight={58}
            chosen={chosen}
            onChoose={(row) => setChosen(keyOf(row))}
            row={(row) => <Row row={row} />}
          />
        ) : (
          <Empty title={rows.length === 0 ? 'Nothing was told yet' : 'No attempt is like that'}>
            {rows.length === 0 ? <p>npm run webhooks:listen takes a client's events on this machine.</p> : null}
          </Empty>
        )}
      </section>
    </div>
  );
}

function Row({ row }: { readonly row: AttemptRow }) {
  return (
    <>
      <span class="row-line">
        <span class="row-path">
          <b>{row.kind ?? 'webhook'}</b> {row.event_id}
        </span>
        <span class={`badge ${tones[row.outcome] ?? 'bad'}`}>
          {row.outcome.replace('_', ' ')}
          {row.code === null ? '' : ` · ${row.code}`}
        </span>
      </span>
      <span class="row-line small">
        <span>
          <time dateTime={row.at}>{timeOf(Date.parse(row.at))}</time> · client {row.client_id}
          {row.attempt === null ? '' : ` · attempt ${row.attempt}`}
        </span>
        <span>{row.duration_ms === null ? '' : `${row.duration_ms} ms`}</span>
      </span>
    </>
  );
}
