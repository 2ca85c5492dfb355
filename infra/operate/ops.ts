import { closestName } from '../../lib/http/closest-name.ts';
import { CommandError, type Listed, runCommand } from './command.ts';
import { completionOf } from './completion.ts';
import { defined, helpOf } from './help.ts';

/** Every command of operators, by purpose. Most modules load clients of AWS, so each is loaded when it is called. */
export const purposes: Readonly<Record<string, readonly Listed[]>> = {
  'To see': [
    {
      name: 'outcomes',
      summary: 'what became of messages; settles an unknown one',
      load: () => import('./see/outcomes.ts'),
    },
    {
      name: 'holds',
      summary: 'what nothing leaves for, why, and who waits; ends a hold',
      load: () => import('./see/holds.ts'),
    },
    {
      name: 'number',
      summary: 'the pace, sender, backlog and holds of a number; slows it down',
      load: () => import('./see/number.ts'),
    },
    {
      name: 'explain',
      summary: 'what a code means, what to do, whether a retry sends again',
      load: () => import('./see/explain.ts'),
    },
    { name: 'audit', summary: 'who did what', load: () => import('./see/audit.ts') },
    {
      name: 'template-types',
      summary: "TypeScript types of a client's templates",
      load: () => import('./see/template-types.ts'),
    },
  ],
  'To send again': [
    { name: 'redrive', summary: 'sends dead letters again, or drops them', load: () => import('./send/redrive.ts') },
    {
      name: 'events list',
      summary: 'what a client was told',
      load: async () => ({ command: (await import('./send/events.ts')).list }),
    },
    {
      name: 'events replay',
      summary: 'tells a client again',
      load: async () => ({ command: (await import('./send/events.ts')).replay }),
    },
    {
      name: 'events listen',
      summary: 'receives the events of a demo client on this machine',
      load: () => import('../local/webhooks-listen.ts'),
    },
    {
      name: 'events trigger',
      summary: 'has the local stack send one event',
      load: () => import('../local/webhooks-trigger.ts'),
    },
  ],
  People: [
    {
      name: 'opt-outs import',
      summary: "stops a client's marketing to people in a CSV file",
      load: () => import('./people/opt-outs-import.ts'),
    },
    { name: 'erase', summary: 'forgets a person', load: () => import('./people/erase.ts') },
  ],
  Keys: [
    { name: 'credential', summary: "replaces a WABA's access token", load: () => import('./keys/credential.ts') },
    {
      name: 'rotate-keys',
      summary: 'the next step of a rotation of keys',
      load: () => import('./keys/rotate-keys.ts'),
    },
  ],
  Tables: [
    {
      name: 'provision',
      summary: 'makes clients, numbers and users what a file says',
      load: () => import('./tables/provision.ts'),
    },
    {
      name: 'put-back',
      summary: 'puts back what a table lost, from its copy',
      load: () => import('./tables/put-back.ts'),
    },
  ],
  'A stage': [
    {
      name: 'check',
      summary: 'what a stage or an account lacks; smoke and acceptance tests',
      load: () => import('./stage/check.ts'),
    },
    {
      name: 'completion',
      summary: 'completion of these words for bash or zsh',
      load: async () => ({ command: completionOf(commands) }),
    },
  ],
};

export const commands: readonly Listed[] = Object.values(purposes).flat();
const names = commands.map(({ name }) => name);

function overview(shown: readonly Listed[]): string {
  const sections = Object.entries(purposes).flatMap(([purpose, all]) => {
    const some = all.filter((each) => shown.includes(each));
    if (some.length === 0) return [];
    const width = Math.max(...names.map((name) => name.length));
    const padded = some.map(({ name }) => name.padEnd(width));
    return [
      '',
      purpose,
      ...defined(
        padded,
        some.map(({ summary }) => summary),
      ),
    ];
  });
  return [
    'usage: infra/ops COMMAND [ARGUMENT ...]',
    ...sections,
    '',
    'infra/ops COMMAND --help tells all of one. Without --stage NAME a command works',
    'on the running local stack. It names its target first, on stderr.',
    '',
    'Exit status: 0 well, 1 refused or not all is well, 2 wrong usage,',
    '3 a preview or dry run found that a run would change something.',
  ].join('\n');
}

/** Runs one command line. Throws `CommandError`: status 2 for a command that is none. */
export async function ops(typed: readonly string[], print: (text: string) => void): Promise<void> {
  const [first = '', second = '', ...rest] = typed;
  if (['', 'help', '-h', '--help'].includes(first)) {
    if (first === '') throw new CommandError(overview(commands));
    return print(overview(commands));
  }
  const pair = commands.find(({ name }) => name === `${first} ${second}`);
  const found = pair ?? commands.find(({ name }) => name === first);
  if (found === undefined) return print(overviewOf(first, second));
  const { command } = await found.load();
  const given = pair === undefined ? typed.slice(1) : rest;
  if (asksForHelp(given)) return print(helpOf(command.words));
  await command.run(given);
}

/** Behind `--` every word is an operand. */
function asksForHelp(given: readonly string[]): boolean {
  const end = given.indexOf('--');
  return given.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
}

/** Returns the help of commands that begin alike. Throws `CommandError` for all else. */
function overviewOf(first: string, second: string): string {
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (family.length > 0 && ['-h', '--help'].includes(second)) return overview(family);
  if (family.length > 0 && second === '') throw new CommandError(overview(family));
  const typed = family.length > 0 ? `${first} ${second}` : first;
  const known =
    family.length > 0 ? family.map(({ name }) => name) : [...names, ...names.map((name) => name.split(' ')[0] ?? '')];
  const near = closestName(typed, known);
  const hint = near === undefined ? 'infra/ops --help lists all' : `did you mean ${near}?`;
  throw new CommandError(`There is no command ${typed}; ${hint}`);
}

if (import.meta.main) {
  // A reader such as `head` may be done before the command is.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
  await runCommand(() => ops(process.argv.slice(2), console.log));
}
