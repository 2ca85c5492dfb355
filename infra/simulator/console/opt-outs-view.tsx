import { useEffect, useMemo, useState } from 'preact/hooks';
import { DemoUserChoice, NoDemoUser, useDemoUser } from './demo-user.tsx';
import { FilteredList } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import { OptOutPane, StateInShort, StopPerson } from './opt-out-pane.tsx';
import { changed, isOfClient, type OptOut, readOptOuts, sources, withChanges } from './opt-outs.ts';
import { Empty, useAnswer } from './parts.tsx';
import { isActRow, isEventRow, ShowChoice } from './people-tabs.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { counted, momentOf, numberOf } from './texts.ts';

const keyOf = (row: OptOut) => row.recipient;
const pagesAtOnce = 5;
/** The service learns an act by webhook, so the list is read again after this delay. */
const learntAfterMs = 3_000;

export function OptOutsView() {
  const who = useDemoUser();
  const client = `${who?.username} ${who?.clientId}`;
  useEffect(() => changed.set([]), [client]);
  const { id: named } = useStore(place);
  const id = isActRow(named) || isEventRow(named) ? '' : named;
  const [pages, setPages] = useState(pagesAtOnce);
  const people = useStore(counters)?.people;
  const list = useAnswer(
    who === undefined ? undefined : async () => ({ of: client, ...(await readOptOuts(pages)) }),
    `${client} ${pages} ${people}`,
  );
  useEffect(() => {
    const timer = setTimeout(list.again, learntAfterMs);
    return () => clearTimeout(timer);
  }, [people]);
  // Rows of another client are not shown.
  const value = list.value?.of === client ? list.value : undefined;
  const own = useStore(changed);
  const rows = useMemo(() => (value === undefined ? undefined : withChanges(value.rows, own)), [value, own]);
  const found = useFound(rows);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="People">
        <Filters label="Search number, user id or who said it" hint="Number, or who said it">
          <ShowChoice />
          <DemoUserChoice />
          <StateChoice />
          <Choice name="by" label="Who said it" all="Said by anyone" options={Object.entries(sources)} />
        </Filters>
        {who === undefined ? (
          <NoDemoUser />
        ) : (
          <FilteredList
            page="people"
            noun="person"
            nouns="people"
            label="People, what was said last first"
            rows={rows}
            found={found}
            answer={list}
            keyOf={keyOf}
            chosen={id}
            row={(row) => <Row row={row} />}
            nothing="Everybody may get marketing"
            below={
              <>
                {value?.hasMore ? (
                  <p class="count">
                    <span>Of the first {counted(value.rows.length, 'person', 'people')}; there are more.</span>
                    <button type="button" onClick={() => setPages(pages + pagesAtOnce)}>
                      Read more
                    </button>
                  </p>
                ) : null}
                <StopPerson onSaid={list.again} />
              </>
            }
          >
            <p>
              Stop a person above, or answer <em>STOP</em> to a message on the phone.
            </p>
          </FilteredList>
        )}
      </section>
      <section class="pane-main" aria-label="Person">
        {id === '' || rows === undefined ? (
          <Empty title="Choose a person">
            <p>It is shown who wants no marketing, since when and by whose word, and what the client may take back.</p>
          </Empty>
        ) : (
          <OptOutPane
            key={id}
            id={id}
            entry={rows.find((row) => row.recipient === id || row.also?.includes(id))}
            onSaid={list.again}
          />
        )}
      </section>
    </div>
  );
}

function StateChoice() {
  const options = [
    ['stopped', 'Wants no marketing'],
    ['client', 'Stopped by the client'],
    ['started', 'Started again'],
    ['platform', 'Refused by the platform'],
  ] as const;
  return <Choice name="state" label="State" all="Every state" options={options} />;
}

function useFound(rows: readonly OptOut[] | undefined): readonly OptOut[] {
  const { q = '', state = '', by = '' } = useStore(place).filter;
  return useMemo(() => {
    const hasWords = searched(q);
    return (rows ?? []).filter(
      (row) =>
        isIn(row, state) &&
        (by === '' || row.source === by) &&
        hasWords(`+${[row.recipient, ...(row.also ?? [])].join(' ')} ${sources[row.source]}`),
    );
  }, [rows, q, state, by]);
}

function isIn(row: OptOut, state: string): boolean {
  if (state === 'platform') return row.platform_stopped;
  if (state === 'client') return isOfClient(row);
  return state === '' || row.state === state;
}

function Row({ row }: { readonly row: OptOut }) {
  return (
    <>
      <span class="row-line">
        <strong>{numberOf(row.recipient)}</strong>
        <StateInShort row={row} />
      </span>
      <span class="row-line small">
        <span class="row-template">{sources[row.source] ?? row.source}</span>
        <time dateTime={row.at}>{momentOf(Date.parse(row.at))}</time>
      </span>
    </>
  );
}
