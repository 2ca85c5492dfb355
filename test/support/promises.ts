import { allTests, testFiles } from '../suites.ts';
import { documentOf, tableRows } from './documents.ts';

/** PROMISES.md names a test, with a mark; the name fits these files (one, unless the book is wrong). */
export interface Proof {
  readonly name: string;
  readonly files: readonly string[];
  readonly mark: 'part' | 'all' | undefined;
}

export interface Promised {
  /** An example is `R13`. */
  readonly number: string;
  readonly text: string;
  readonly proofs: readonly Proof[];
}

const everyTest = testFiles(allTests);
const proofPattern = /`([^`]+)`(?: \((part|all)\))?/g;

/** Returns the test files whose path, without the ending that says their kind, ends with the name. */
function filesNamed(name: string): string[] {
  return everyTest.filter((file) => {
    const path = file.replace(/(?:\.adapter|\.queue)?\.test\.ts$/, '');
    return path === name || path.endsWith(`/${name}`);
  });
}

/** The rows are in the order of PROMISES.md. */
export const promises: readonly Promised[] = tableRows(
  documentOf('test/PROMISES.md'),
  '| Number | Promise | Proofs |',
).map(([heading = '', text = '', cell = '']) => ({
  number: heading.split(' ')[0] ?? '',
  text,
  proofs: [...cell.matchAll(proofPattern)]
    .filter(([, name = '']) => !/^(?:npm|infra\/ops) /.test(name))
    .map(([, name = '', mark]) => ({ name, files: filesNamed(name), mark: mark as Proof['mark'] })),
}));
