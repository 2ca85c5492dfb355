import type { ComponentChildren } from 'preact';
import { type Answer, Empty, Failed, Problem, Waiting } from './parts.tsx';
import { choose } from './router.ts';
import { counted, leftOutWords } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

interface FilteredListProps<T> {
  readonly page: string;
  readonly noun: string;
  /** The default is `noun` with an s. */
  readonly nouns?: string;
  readonly label: string;
  /** The rows are undefined until they are read. */
  readonly rows: readonly T[] | undefined;
  readonly found: readonly T[];
  /** The total includes rows that are not listed. */
  readonly total?: number | undefined;
  /** The list shows by this time since when rows are listed. */
  readonly atMsOf?: (row: T) => number;
  readonly cut?: 'dropped' | 'not listed';
  readonly below?: ComponentChildren;
  readonly answer: Pick<Answer<unknown>, 'problem' | 'again'>;
  readonly keyOf: (row: T) => string;
  /** The default of 58 fits two lines. */
  readonly rowHeight?: number;
  readonly chosen: string;
  readonly row: (row: T) => ComponentChildren;
  /** The `children` tell where rows come from. */
  readonly nothing: string;
  readonly children?: ComponentChildren;
}

/** Turns a control route's list into properties of `FilteredList`. */
export function listed<T>(answer: Answer<{ readonly total: number; readonly data: readonly T[] }>) {
  return { answer, rows: answer.value?.data, total: answer.value?.total };
}

export function FilteredList<T>(props: FilteredListProps<T>) {
  const { page, noun, label, rows, found, answer, keyOf, rowHeight = 58, chosen, row, below } = props;
  return (
    <>
      <p class="count" role="status">
        {rows === undefined ? '' : `${counted(found.length, noun, props.nouns)}${leftOutOf(props)}`}
      </p>
      {below}
      {rows === undefined ? null : <Problem text={answer.problem} />}
      {found.length > 0 ? (
        <VirtualList
          label={label}
          items={found}
          keyOf={keyOf}
          rowHeight={rowHeight}
          chosen={chosen}
          onChoose={(each) => choose(page, keyOf(each))}
          onLeave={() => choose(page)}
          row={row}
        />
      ) : (
        <NoneFound {...props} />
      )}
    </>
  );
}

function leftOutOf<T>({ rows = [], total = 0, atMsOf, cut = 'dropped' }: FilteredListProps<T>): string {
  const count = total - rows.length;
  const oldest = rows.at(-1);
  if (count <= 0 || oldest === undefined) return '';
  return `; ${leftOutWords(count, { cut, ...(atMsOf === undefined ? {} : { sinceMs: atMsOf(oldest) }) })}`;
}

function NoneFound({
  noun,
  nouns = `${noun}s`,
  rows,
  answer: { problem, again },
  nothing,
  children,
}: Pick<FilteredListProps<unknown>, 'noun' | 'nouns' | 'rows' | 'answer' | 'nothing' | 'children'>) {
  if (rows !== undefined) {
    return rows.length === 0 ? <Empty title={nothing}>{children}</Empty> : <Empty title={`No ${noun} is like that`} />;
  }
  return problem === '' ? (
    <Waiting />
  ) : (
    <Failed title={`The ${nouns} could not be read`} problem={problem} onAgain={again} />
  );
}
