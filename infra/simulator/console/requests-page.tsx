import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { ExchangePane, Status } from './exchange-pane.tsx';
import { FilteredList, listed } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { ExchangeRow } from './model.ts';
import { Empty, useAnswer } from './parts.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { timeOf } from './texts.ts';

const keyOf = (row: ExchangeRow) => String(row.id);
const atMsOf = (row: ExchangeRow) => Date.parse(row.received_at);
const none: readonly ExchangeRow[] = [];
const outcomes: Readonly<Record<string, (status: number | null) => boolean>> = {
  '2xx': (status) => status !== null && status < 300,
  '4xx': (status) => status !== null && status >= 400 && status < 500,
  '5xx': (status) => status !== null && status >= 500,
  'no answer': (status) => status === null,
};

/** Lists requests of the service to the platform, with their answers. */
export function RequestsPage() {
  const told = useStore(counters);
  const { id, filter } = useStore(place);
  const { q = '', answer = '' } = filter;
  const list = useAnswer(
    () => control<{ readonly total: number; readonly data: readonly ExchangeRow[] }>('exchanges'),
    `${told?.world} ${told?.requests} ${told?.answered}`,
  );
  const { value } = list;
  const rows = value?.data ?? none;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) =>
        (outcomes[answer]?.(row.status) ?? true) &&
        hasWords(`${row.method} ${row.path} ${row.status ?? 'no answer'} ${aboutOf(row)}`),
    );
  }, [rows, q, answer]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Requests">
        <Filters label="Search method, path, status, recipient, template or code" hint="Path or recipient">
          <Choice
            name="answer"
            label="Answer"
            all="Every answer"
            options={Object.keys(outcomes).map((each) => [each, each] as const)}
          />
        </Filters>
        <FilteredList
          page="requests"
          noun="request"
          label="Requests, newest first"
          {...listed(list)}
          found={found}
          atMsOf={atMsOf}
          keyOf={keyOf}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="No requests yet"
        >
          <p>What the service asks the platform is listed here.</p>
        </FilteredList>
      </section>
      <section class="pane-main" aria-label="Request">
        {id === '' ? (
          <Empty title="Choose a request">
            <p>It is shown with its answer, and can be copied for a shell.</p>
          </Empty>
        ) : (
          <ExchangePane key={id} id={id} when={`${id} ${told?.world}`} answered={told?.answered ?? 0} />
        )}
      </section>
    </div>
  );
}

/** Distinguishes requests with the same path. */
function aboutOf({ to, template, code }: ExchangeRow): string {
  return [to, template, code === null ? null : `code ${code}`].filter((each) => each !== null).join(' · ');
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
        <span class="row-template">{aboutOf(row)}</span>
        <time dateTime={row.received_at}>{timeOf(Date.parse(row.received_at))}</time>
      </span>
    </>
  );
}
