import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { AttemptPane, Outcome, outcomeWords, Sent } from './attempt-pane.tsx';
import { FilteredList, listed } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { AttemptRow, Attempts } from './model.ts';
import { Empty, useAnswer } from './parts.tsx';
import { isPost, PlatformPosts, SentBy } from './platform-posts.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { wordOf } from './texts.ts';

const keyOf = (row: AttemptRow) => String(row.id);
const atMsOf = (row: AttemptRow) => Date.parse(row.at);
const none: readonly AttemptRow[] = [];

/** Shows webhooks of the service to its clients, or of the platform to its receivers. */
export function WebhooksPage() {
  const { by = '' } = useStore(place).filter;
  return by === 'platform' ? <PlatformPosts /> : <AttemptsView />;
}

function AttemptsView() {
  const told = useStore(counters);
  const { id: named, filter } = useStore(place);
  const { q = '', outcome = '' } = filter;
  const id = isPost(named) ? '' : named;
  const list = useAnswer(() => control<Attempts>('events'), `${told?.world} ${told?.events}`);
  const { value } = list;
  const rows = value?.data ?? none;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) =>
        (outcome === '' || row.outcome === outcome) &&
        hasWords(
          `${row.kind} ${row.event_id} ${row.dispatch_id} ${row.message_id} client ${row.client_id} ${outcomeWords[row.outcome]} ${row.code}`,
        ),
    );
  }, [rows, q, outcome]);
  const chosen = rows.find((row) => keyOf(row) === id);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Attempts">
        <Filters label="Search kind, event, dispatch, client or outcome" hint="Kind, dispatch or client">
          <SentBy />
          <Choice
            name="outcome"
            label="Outcome"
            all="Every outcome"
            options={Object.entries(outcomeWords).map(([each, words]) => [each, wordOf(words)] as const)}
          />
        </Filters>
        <FilteredList
          page="webhooks"
          noun="attempt"
          label="Attempts, newest first"
          {...listed(list)}
          found={found}
          atMsOf={atMsOf}
          keyOf={keyOf}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="No events were sent yet"
        >
          <p>
            A client gets events once it has a webhook: <code>infra/ops events listen</code> receives them on this
            machine.
          </p>
        </FilteredList>
      </section>
      <section class="pane-main" aria-label="Attempt">
        {id === '' || value === undefined ? (
          <Empty title="Choose an attempt">
            <p>It is shown with the other attempts to deliver the same event, and with its dispatch and message.</p>
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
