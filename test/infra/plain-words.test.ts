import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commentsOf } from '../support/comments.ts';

const root = join(import.meta.dirname, '../..');
const mostWords = 40;
const mostLines = 400;

const sources = globSync('{functions,infra,lib,test}/**/*.{ts,tsx,mjs}', {
  cwd: root,
  exclude: (name) => name.includes('node_modules'),
}).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const all = sources.flatMap(({ path, text }) =>
  commentsOf(text).map((comment) => ({ place: `${path}:${comment.line}`, text: comment.text })),
);

test('a comment is read with its lines joined, whichever kind it is', () => {
  const source = ['/**', ' * One', ' * two.', ' */', 'a(); // not alone', '// Three', '// four.', '/* Five. */'].join(
    '\n',
  );
  const read = commentsOf(source).map(({ line, text }) => [line, text.trim().replaceAll(/\s+/g, ' ')]);
  expect(read).toEqual([
    [1, 'One two.'],
    [6, 'Three four.'],
    [8, 'Five.'],
  ]);
});

test(`no comment has more than ${mostWords} words: split it, or move what it says to a book`, () => {
  expect(all.length).toBeGreaterThan(1_000);
  const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
  expect(all.filter(({ text }) => wordsOf(text) > mostWords).map(({ place }) => place)).toEqual([]);
});

test('comments name who acts: the worker, the client, the operator', () => {
  const unnamed = /\b(?:whoever|nobody|anew|of whom)\b/i;
  expect(all.filter(({ text }) => unnamed.test(text)).map(({ place }) => place)).toEqual([]);
});

test(`no test file has more than ${mostLines} lines: split it by story`, () => {
  const long = sources.filter(({ path, text }) => path.endsWith('.test.ts') && text.split('\n').length - 1 > mostLines);
  expect(long.map(({ path }) => path)).toEqual([]);
});
