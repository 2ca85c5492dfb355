import { CommandError } from '../../infra/operate/command.ts';
import type { Step } from '../steps.ts';

const proofs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  generators: ['node', 'test/proof/generators.ts'],
  strangers: ['node', 'test/proof/strangers.ts'],
  ministack: ['node', 'test/proof/ministack.ts'],
  roles: ['node', 'test/proof/roles.ts'],
  bench: ['node', 'test/bench/run.ts'],
  faults: ['node', 'test/faults/run.ts'],
  'game-days': ['node', 'test/game-days/run.ts'],
  mutation: ['node', 'test/mutation/run.ts'],
};
const withoutOptions = ['generators', 'strangers'];

/**
 * The proofs that the words name, in the order of the table; all of them without a word. Options, and what follows
 * `game-days`, are for the last named one. Throws `CommandError`.
 */
export function proofsAsked(words: readonly string[]): Step[] {
  const isForOne = (word: string, at: number) => word.startsWith('-') || words[at - 1] === 'game-days';
  const end = words.findIndex(isForOne);
  const names = end < 0 ? words : words.slice(0, end);
  const rest = words.slice(names.length);
  const unknown = names.filter((name) => !Object.hasOwn(proofs, name));
  if (unknown.length > 0) throw new CommandError(`no proof is called ${unknown.join(', ')}: ${listed}`);
  const last = names.at(-1);
  if (last === undefined && rest.length > 0) throw new CommandError(`${rest[0]} stands behind no proof: ${listed}`);
  if (rest.length > 0 && withoutOptions.includes(last ?? '')) throw new CommandError(`${last} takes no options`);
  return Object.entries(proofs)
    .filter(([name]) => names.length === 0 || names.includes(name))
    .map(([name, command]) => (name === last ? [...command, ...rest] : command));
}

const listed = `there are ${Object.keys(proofs).join(', ')}`;
