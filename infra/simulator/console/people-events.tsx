import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { AttemptPane, Outcome, Sent } from './attempt-pane.tsx';
import { DemoUserChoice, useDemoUser } from './demo-user.tsx';
import { FilteredList } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { AttemptRow, Attempts } from './model.ts';
import { Empty, useAnswer } from './parts.tsx';
import { isEventRow, ShowChoice } from './people-tabs.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';

const keyOf = (row: AttemptRow) => `e${row.id}`;
const none: readonly AttemptRow[] = [];

const kinds: Readonly<Record<string, string>> = {
  'message.replied': 'A person answered',
  'recipient.opted_out': 'A person stopped marketing',
  'recipient.opted_in': 'A person started marketing again',
};

/** Lists events about people that the demo user's client got: each event once, with its newest attempt. */
export function PeopleEventsView() {
  const told = useStore(counters);
  const who = useDemoUser();
  const { id: named, filter } = useStore(place);
  const { q = '', event = '' } = filter;
  const id = isEventRow(named) ? named : '';
  const list = useAnswer(() => control<Attempts>('events'), `${told?.world} ${told?.events}`);
  const attempts = list.value?.data ?? none;
  const rows = useMemo(() => eventsOf(attempts, who?.clientId), [attempts, who?.clientId]);
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) =>
        (event === '' || row.kind === event) &&
        hasWords(
          `${kinds[row.kind ?? '']} ${row.kind} ${row.event_id} ${row.dispatch_id} ${row.message_id} ${row.outcome}`,
        ),
    );
  }, [rows, q, event]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="What the client was told">
        <Filters label="Search kind, event, dispatch, message or outcome" hint="Kind, event or dispatch">
          <ShowChoice />
          <DemoUserChoice />
          <Choice name="event" label="Kind" all="Every kind" options={Object.entries(kinds)} />
        </Filters>
        <FilteredList
          page="people"
          noun="event"
          label="Events, newest first"
          rows={list.value === undefined ? undefined : rows}
          found={found}
          answer={list}
          keyOf={keyOf}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="The client was told nothing of people yet"
        >
          <p>
            A client is told of answers where its webhook asks for <code>message.replied</code>;{' '}
            <code>infra/ops events listen --events all</code> does on this machine.
          </p>
        </FilteredList>
      </section>
      <section class="pane-main" aria-label="Event">
        {id === '' || list.value === undefined ? (
          <Empty title="Choose an event">
            <p>It is shown with each attempt to deliver it, and with the message on the phone.</p>
          </Empty>
        ) : (
          <AttemptPane
            key={id}
            page="people"
            keyOf={keyOf}
            chosen={attempts.find((row) => keyOf(row) === id)}
            rows={attempts}
          />
        )}
      </section>
    </div>
  );
}

function eventsOf(attempts: readonly AttemptRow[], clientId: number | undefined): readonly AttemptRow[] {
  const seen = new Set<string>();
  return attempts.filter((row) => {
    if (!((row.kind ?? '') in kinds) || (clientId !== undefined && row.client_id !== clientId)) return false;
    const event = `${row.client_id} ${row.event_id}`;
    if (seen.has(event)) return false;
    seen.add(event);
    return true;
  });
}

function Row({ row }: { readonly row: AttemptRow }) {
  return (
    <>
      <span class="row-line">
        <strong>{kinds[row.kind ?? '']}</strong>
        <Outcome row={row} />
      </span>
      <span class="row-line small">
        <Sent row={row} />
      </span>
    </>
  );
}
