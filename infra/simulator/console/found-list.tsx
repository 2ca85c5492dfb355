import type { ComponentChildren } from 'preact';
import { type Answer, Empty, Failed, Problem, Waiting } from './parts.tsx';
import { choose } from './router.ts';
import { counted, leftOutWords } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

interface FoundListProps<T> {
  readonly page: string;
  /** What one of them is called. */
  readonly noun: string;
  /** What several are called, unless it is that with an s. */
  readonly nouns?: string;
  readonly label: string;
  /** Undefined while they are being read. */
  readonly rows: readonly T[] | undefined;
  /** Those of them that the filters leave. */
  readonly found: readonly T[];
  /** How many there are, with those that are not listed. */
  readonly total?: number | undefined;
  /** When a row happened: where older ones are left out, it is said since when there are rows. */
  readonly atMsOf?: (row: T) => number;
  /** What older ones are, where there are more than rows. */
  readonly cut?: 'dropped' | 'not listed';
  /** What stands below the count. */
  readonly below?: ComponentChildren;
  /** Where the rows come from: what went wrong, and how to ask again. */
  readonly answer: Pick<Answer<unknown>, 'problem' | 'again'>;
  readonly keyOf: (row: T) => string;
  readonly rowHeight: number;
  readonly chosen: string;
  readonly row: (row: T) => ComponentChildren;
  /** What an empty list says, and below it where its rows come from. */
  readonly nothing: string;
  readonly children?: ComponentChildren;
}

/** How many were found, and each of them to be chosen; or why there is none. */
export function FoundList<T>(props: FoundListProps<T>) {
  const { page, noun, label, rows, found, answer, keyOf, rowHeight, chosen, row, below } = props;
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

/** How many older ones are not among the rows, and from when on they are. */
function leftOutOf<T>({ rows = [], total = 0, atMsOf, cut = 'dropped' }: FoundListProps<T>): string {
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
}: Pick<FoundListProps<unknown>, 'noun' | 'nouns' | 'rows' | 'answer' | 'nothing' | 'children'>) {
  if (rows !== undefined) {
    return rows.length === 0 ? <Empty title={nothing}>{children}</Empty> : <Empty title={`No ${noun} is like that`} />;
  }
  return problem === '' ? (
    <Waiting />
  ) : (
    <Failed title={`The ${nouns} could not be read`} problem={problem} onAgain={again} />
  );
}
