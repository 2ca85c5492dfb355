import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { AttemptPane, Outcome, Sent } from './attempt-pane.tsx';
import { Choice, Filters } from './filters.tsx';
import { FoundList } from './found-list.tsx';
import { counters } from './live.ts';
import type { AttemptRow } from './model.ts';
import { Empty, useAnswer } from './parts.tsx';
import { isPost, PlatformPosts, ToldBy } from './platform-posts.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { wordOf } from './texts.ts';

const keyOf = (row: AttemptRow) => String(row.id);
const atMsOf = (row: AttemptRow) => Date.parse(row.at);
const none: readonly AttemptRow[] = [];
const outcomes = ['delivered', 'failed', 'abandoned', 'gone', 'switched_off'];

/** What was told by webhook: by the service to its clients, or by the platform to the service. */
export function WebhooksPage() {
  const { by = '' } = useStore(place).filter;
  return by === 'platform' ? <PlatformPosts /> : <Attempts />;
}

/** Every attempt of the service to tell its clients. */
function Attempts() {
  const told = useStore(counters);
  const { id: named, filter } = useStore(place);
  const { q = '', outcome = '' } = filter;
  const id = isPost(named) ? '' : named;
  const list = useAnswer(
    () => control<{ readonly total: number; readonly data: readonly AttemptRow[] }>('events'),
    `${told?.world} ${told?.events}`,
  );
  const { value } = list;
  const rows = value?.data ?? none;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) =>
        (outcome === '' || row.outcome === outcome) &&
        hasWords(`${row.kind} ${row.event_id} client ${row.client_id} ${row.outcome} ${row.code ?? ''}`),
    );
  }, [rows, q, outcome]);
  const chosen = rows.find((row) => keyOf(row) === id);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Attempts">
        <Filters label="Search kind, event, client or outcome" hint="Kind, event or client">
          <ToldBy />
          <Choice
            name="outcome"
            label="Outcome"
            all="Every outcome"
            options={outcomes.map((each) => [each, wordOf(each)] as const)}
          />
        </Filters>
        <FoundList
          page="webhooks"
          noun="attempt"
          label="Attempts, newest first"
          rows={value?.data}
          found={found}
          total={value?.total}
          answer={list}
          atMsOf={atMsOf}
          keyOf={keyOf}
          rowHeight={58}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="Nothing was told yet"
        >
          <p>
            <code>npm run webhooks:listen</code> takes a client's events on this machine.
          </p>
        </FoundList>
      </section>
      <section class="pane-main" aria-label="Attempt">
        {id === '' || value === undefined ? (
          <Empty title="Choose an attempt">
            <p>It is shown with the other attempts to tell the same event, and with what sends it again.</p>
          </Empty>
        ) : (
          <AttemptPane key={id} chosen={chosen} rows={rows} />
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
        <Outcome row={row} />
      </span>
      <span class="row-line small">
        <Sent row={row} />
        <span>{row.duration_ms === null ? '' : `${row.duration_ms} ms`}</span>
      </span>
    </>
  );
}
