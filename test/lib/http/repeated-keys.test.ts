import { expect, test } from 'vitest';
import { repeatedKeys } from '../../../lib/http/repeated-keys.ts';

test.each([
  ['{}', []],
  ['[{"a":1},{"a":2}]', []],
  ['{"a":{"a":[{"a":"a"}]}}', []],
  ['{"a":"{\\"b\\":1,\\"b\\":2}","c":"b\\\\","d":[]}', []],
  ['{"users":[],"wabas":[],"users":[1]}', ['users']],
  ['{"users":[{"name":"x"},{"name":"x", "a":[1,2] ,"name" : "y"}]}', ['users[1].name']],
  ['{"a":{"b":[[],[{"c":1,"\\u0063":2}]]}}', ['a.b[1][0].c']],
  ['{"a":1,"a":2,"a":3}', ['a', 'a']],
])('%s', (json, paths) => {
  expect(() => JSON.parse(json)).not.toThrow();
  expect(repeatedKeys(json).map(({ path }) => path)).toEqual(paths);
});
