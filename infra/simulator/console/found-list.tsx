import type { ComponentChildren } from 'preact';
import { type Answer, Empty, Failed, Problem, Waiting } from './parts.tsx';
import { choose } from './router.ts';
import { counted, droppedWords } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

interface FoundListProps<T> {
  readonly page: string;
  /** What one of them is called. */
  readonly noun: string;
  readonly label: string;
  /** Undefined while they are being read. */
  readonly rows: readonly T[] | undefined;
  /** Those of them that the filters leave. */
  readonly found: readonly T[];
  /** How many there are, with those that are not listed. */
  readonly total?: number | undefined;
  /** When a row came in: said of the oldest, where older ones are not listed. */
  readonly atMsOf?: (row: T) => number;
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
  const { page, noun, label, rows, found, total = 0, answer, keyOf, rowHeight, chosen, row, atMsOf } = props;
  const oldest = rows?.at(-1);
  const missing = total - (rows?.length ?? total);
  return (
    <>
      <p class="count" role="status">
        {rows === undefined ? '' : counted(found.length, noun)}
        {missing <= 0
          ? ''
          : oldest === undefined || atMsOf === undefined
            ? `; ${missing.toLocaleString('en')} older dropped`
            : `; ${droppedWords(missing, atMsOf(oldest))}`}
      </p>
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

function NoneFound({
  noun,
  rows,
  answer: { problem, again },
  nothing,
  children,
}: Pick<FoundListProps<unknown>, 'noun' | 'rows' | 'answer' | 'nothing' | 'children'>) {
  if (rows !== undefined) {
    return rows.length === 0 ? <Empty title={nothing}>{children}</Empty> : <Empty title={`No ${noun} is like that`} />;
  }
  return problem === '' ? (
    <Waiting />
  ) : (
    <Failed title={`The ${noun}s could not be read`} problem={problem} onAgain={again} />
  );
}
