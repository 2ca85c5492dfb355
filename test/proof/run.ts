import { runSteps } from '../steps.ts';

// `npm run proof -- NAME ...`: long proofs, one after the other; all of them without a name, for hours. Names behind
// `game-days` are names of game days. Exit status 1 when one failed.
const proofs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  generators: ['node', 'test/proof/generators.ts'],
  strangers: ['node', 'test/proof/strangers.ts'],
  ministack: ['node', 'test/proof/ministack.ts'],
  bench: ['node', 'test/bench/run.ts'],
  faults: ['node', 'test/faults/run.ts'],
  'game-days': ['node', 'test/game-days/run.ts'],
  mutation: ['node', 'test/mutation/run.ts'],
};

const words = process.argv.slice(2);
const end = words.includes('game-days') ? words.indexOf('game-days') + 1 : words.length;
const [asked, days] = [words.slice(0, end), words.slice(end)];
const unknown = asked.filter((name) => proofs[name] === undefined);
if (unknown.length > 0) {
  console.error(`no proof is called ${unknown.join(', ')}: there are ${Object.keys(proofs).join(', ')}`);
  process.exitCode = 2;
} else {
  const chosen = Object.entries(proofs).filter(([name]) => asked.length === 0 || asked.includes(name));
  process.exitCode = await runSteps(
    chosen.map(([name, command]) => (name === 'game-days' ? ([...command, ...days] as const) : command)),
  );
}
