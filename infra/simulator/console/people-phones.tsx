import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { FilteredList, listed } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { PersonActRow } from './model.ts';
import { BackButton, Empty, Facts, useAnswer } from './parts.tsx';
import { isActRow, ShowChoice } from './people-tabs.tsx';
import { addressOf, place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { momentOf, numberOf, timeOf } from './texts.ts';

const keyOf = (row: PersonActRow) => `d${row.id}`;
const none: readonly PersonActRow[] = [];
const marketing = ['stop', 'resume', 'signup'];

export function PhonesView() {
  const told = useStore(counters);
  const { id: named, filter } = useStore(place);
  const { q = '', kind = '' } = filter;
  const id = isActRow(named) ? named : '';
  const list = useAnswer(
    () => control<{ readonly total: number; readonly data: readonly PersonActRow[] }>('people'),
    `${told?.world} ${told?.people}`,
  );
  const rows = list.value?.data ?? none;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) => isOfKind(row, kind) && hasWords(`+${row.person} ${wordsOf(row)} ${row.template} ${row.mark ?? ''}`),
    );
  }, [rows, q, kind]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="What people did">
        <Filters label="Search number, words, template or dispatch" hint="Number, words or dispatch">
          <ShowChoice />
          <Choice
            name="kind"
            label="Kind"
            all="Everything"
            options={[
              ['text', 'Written'],
              ['tap', 'Tapped and chosen'],
              ['marketing', 'About marketing'],
            ]}
          />
        </Filters>
        <FilteredList
          page="people"
          noun="answer"
          label="Answers, newest first"
          {...listed(list)}
          found={found}
          atMsOf={(row) => row.at_ms}
          keyOf={keyOf}
          rowHeight={76}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="No answers yet"
        >
          <p>
            Choose a message in the <a href={addressOf('inbox')}>inbox</a> and answer it as its recipient would.
          </p>
        </FilteredList>
      </section>
      <section class="pane-main" aria-label="Answer">
        {id === '' || list.value === undefined ? (
          <Empty title="Choose an answer">
            <p>It is shown with the message that it answers, and with what the client was told of it.</p>
          </Empty>
        ) : (
          <DoingPane key={id} row={rows.find((row) => keyOf(row) === id)} />
        )}
      </section>
    </div>
  );
}

function isOfKind({ kind }: PersonActRow, asked: string): boolean {
  if (asked === '') return true;
  if (asked === 'marketing') return marketing.includes(kind);
  return asked === 'text' ? kind === 'text' : !marketing.includes(kind) && kind !== 'text';
}

function wordsOf({ kind, text }: PersonActRow): string {
  if (kind === 'stop') return 'Stopped marketing';
  if (kind === 'resume') return 'Resumed marketing';
  if (kind === 'signup') return 'Signed up for marketing';
  const did = { text: 'Wrote', quick_reply: 'Tapped', choice: 'Chose', form: 'Filled in the form' }[kind];
  return `${did} “${text}”`;
}

function Row({ row }: { readonly row: PersonActRow }) {
  return (
    <>
      <span class="row-line">
        <strong>{numberOf(row.person)}</strong>
        <time dateTime={new Date(row.at_ms).toISOString()}>{timeOf(row.at_ms)}</time>
      </span>
      <span class="row-preview" dir="auto">
        {wordsOf(row)}
      </span>
      <span class="row-line small">
        <span class="row-template">
          {row.message === null ? 'answers no message' : row.template === '' ? 'answers a text' : row.template}
        </span>
      </span>
    </>
  );
}

function DoingPane({ row }: { readonly row: PersonActRow | undefined }) {
  const back = <BackButton page="people">All answers</BackButton>;
  if (row === undefined) {
    return (
      <Empty title="This answer cannot be shown">
        <p>It is not kept any more.</p>
        {back}
      </Empty>
    );
  }
  const wanted = numberOf(row.person);
  const [dispatch = ''] = /^[0-9A-Z]{26}(?=-\d+$)/.exec(row.mark ?? '') ?? [];
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Person', wanted],
    ['Told to', numberOf(row.number)],
    ['At', momentOf(row.at_ms)],
    ...(row.template === '' ? [] : [['Template', row.template] as const]),
    ...(dispatch === ''
      ? []
      : [['Dispatch', <a href={addressOf('dispatches', `${row.number}/${dispatch}`)}>{dispatch}</a>] as const]),
  ];
  return (
    <div class="exchange person">
      {back}
      <h2 dir="auto">{wordsOf(row)}</h2>
      <Facts facts={facts} />
      <ul class="links">
        <li>
          {row.message === null ? (
            <a href={addressOf('inbox', '', { q: wanted })}>Messages to this person, on the phone</a>
          ) : (
            <a href={addressOf('inbox', row.message)}>The message that it answers, on the phone</a>
          )}
        </li>
        <li>
          <a href={addressOf('people', '', { show: 'told', q: row.mark ?? '' })}>What the client was told of it</a>
        </li>
        <li>
          <a href={addressOf('people', '', { q: wanted })}>Whether this person wants marketing</a>
        </li>
      </ul>
    </div>
  );
}
