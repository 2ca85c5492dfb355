import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { changedSince } from './changed-files.ts';
import { lintOf } from './check-steps.ts';
import { runSteps } from './steps.ts';

// `npm run fix -- PATH ...` formats, sorts imports, and applies the linter's safe fixes; without a path it does so for
// the files that git reports as changed.
const asked = process.argv.slice(2);
// npm runs scripts in the folder of package.json; INIT_CWD is the folder in which it was called.
const paths =
  asked.length > 0
    ? asked.map((path) => relative('.', resolve(process.env['INIT_CWD'] ?? '.', path)) || '.')
    : changedSince('HEAD');
const missing = paths?.find((path) => !existsSync(path));

if (paths === undefined) {
  refuse('git cannot say what has changed. Name what to fix: npm run fix -- PATH');
} else if (missing !== undefined) {
  refuse(`expected the path of a file or folder: there is no ${missing}`);
} else if (paths.length === 0) {
  console.log('git says that nothing has changed. To fix more: npm run fix -- PATH');
} else {
  process.exitCode = await runSteps([lintOf(paths, '--write')]);
}

function refuse(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}
