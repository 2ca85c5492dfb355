import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Ended, ended, expectJudged, expectTour, type Program } from '../support/example-course.ts';
import { templateProbes } from '../support/template-probes.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/examples/typescript');
const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  scripts: Record<'types' | 'check', string>;
};

/** Runs a line of a shell in the folder of the example, with the tools first that npm would find there. */
function script(line: string): Promise<Ended> {
  const tools = [join(folder, 'node_modules/.bin'), join(root, 'node_modules/.bin')];
  const PATH = [...tools, process.env['PATH']].join(delimiter);
  return ended([line], { cwd: folder, shell: true, env: { ...process.env, PATH } });
}

const probes = templateProbes();
const program: Program = (name, given, input) =>
  ended([process.execPath, `${name}.ts`, ...given], { cwd: folder }, input);

beforeAll(async () => {
  expect(await script(scripts.types)).toMatchObject({ code: 0 });
});

test.each([
  ['of the example', scripts.check],
  ['of the project', `"${join(root, 'node_modules/.bin/tsc')}"`],
])('the compiler %s takes the right calls and none of the wrong ones', async (_, compiler) => {
  expect(await script(compiler)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('the tour in TypeScript comes to its end, and every template that can be sent is sent as it says', () =>
  expectTour(program, 'typescript'));

test('a delivery is judged in TypeScript as it is here', () => expectJudged(program, probes.draft()));
