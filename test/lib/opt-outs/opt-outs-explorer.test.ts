import { expect, test } from 'vitest';
import { clockSkewMs, type OptOutChange, type Source } from '../../../lib/opt-outs/entry.ts';
import type { Scope } from '../../../lib/opt-outs/scope.ts';
import { explore } from '../../support/exploration.ts';
import { thorough } from '../../support/thorough.ts';
import { checkPromises, keyOf, successorsOf, type Told, type World } from './opt-outs-world.ts';

/**
 * Explores every order in which webhooks, the API and an import record words of one person, known by number and user
 * id, while workers claim, look and call, with faults. Writers are real; each write is one compare-and-set.
 */
const client: Scope = { kind: 'client', clientId: 7 };
const number: Scope = { kind: 'number', phoneNumberId: '31', wabaId: '11' };
const words: Scope = { ...number, kind: 'words' };
const sender = { clientId: 7, phoneNumberId: '31', wabaId: '11' };
const atMs = 1_800_000_000_000;

const said = (
  source: Source,
  says: OptOutChange['says'],
  laterMs: number,
  recipients: string[],
  scope: Scope = client,
): Told => {
  return { scope, recipients, word: { source, says, atMs: atMs + laterMs } };
};
const changed = (old: string[], recipients: string[], laterMs: number): Told => ({
  old,
  recipients,
  atMs: atMs + laterMs,
});

interface Scenario {
  readonly name: string;
  readonly told: readonly Told[];
  /** The workers have these recipients. */
  readonly to: readonly string[];
  readonly left?: Partial<World['left']>;
  readonly sees: readonly string[];
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a stop by the number alone, while another word tells of the user id',
    told: [said('reply', 'stopped', 5_000, ['N']), said('reply', 'started', 0, ['N', 'U'])],
    to: thorough ? ['U', 'N'] : ['U'],
    left: { faults: 1 },
    sees: ['called', 'stopped', 'unmarked'],
  },
  {
    name: 'stop and start of one second, each by another name, and both come twice',
    told: [said('platform', 'stopped', 0, ['N', 'U'], number), said('platform', 'started', 0, ['U'], number)],
    to: ['N'],
    left: { doubles: thorough ? 2 : 1 },
    sees: ['called', 'stopped'],
  },
  {
    name: 'a resume that is later, and comes first or in between',
    told: [said('platform', 'stopped', 0, ['N', 'U'], number), said('platform', 'started', 1_000, ['N'], number)],
    to: ['U'],
    left: { doubles: 1, faults: thorough ? 1 : 0 },
    sees: ['called', 'stopped', 'free'],
  },
  {
    name: 'a start word to a number ends a stop word to it, and no stop of the platform',
    told: [
      said('reply', 'stopped', 0, ['N', 'U'], words),
      said('platform', 'stopped', 1_000, ['N'], number),
      { ...said('reply', 'started', 9_000, ['U'], words), onlyAfter: 0 },
    ],
    to: ['N'],
    left: { faults: thorough ? 1 : 0 },
    sees: ['called', 'stopped', 'free'],
  },
  {
    name: 'import, start by the API and a stop of the person, in any order',
    told: [
      said('import', 'stopped', 0, ['N']),
      said('api', 'started', 9_000, ['N']),
      said('reply', 'stopped', 4_000, ['N']),
    ],
    to: ['N'],
    left: { faults: thorough ? 1 : 0 },
    sees: ['called', 'stopped', 'free', 'refused'],
  },
  {
    name: "the person's start ends what the client had stopped",
    told: [said('api', 'stopped', 0, ['N', 'U']), said('reply', 'started', clockSkewMs + 1, ['U'])],
    to: ['N'],
    left: { faults: 1 },
    sees: ['called', 'stopped', 'free'],
  },
  {
    name: 'other ids, and a stop that was said before and comes late',
    told: [said('reply', 'stopped', 0, ['N']), changed(['N', 'U'], ['M', 'V'], 5_000)],
    to: ['V'],
    left: { doubles: thorough ? 1 : 0, faults: 1 },
    sees: ['called', 'stopped', 'free', 'unmarked'],
  },
  {
    name: 'the next person of a number that was given up starts, and lifts nothing of the first',
    told: [
      said('reply', 'stopped', 0, ['N']),
      changed(['N'], ['V'], 5_000),
      { ...said('reply', 'started', 9_000, ['N']), onlyAfter: 1 },
    ],
    to: ['V'],
    left: { doubles: thorough ? 1 : 0, faults: thorough ? 1 : 0 },
    sees: ['called', 'stopped'],
  },
];

function first({ told, to, left }: Scenario): World {
  return {
    ...{ told, people: {}, marks: [], rows: [] },
    writers: told.map((_, at) => ({ told: at, replies: [], progress: 'to come' })),
    workers: to.map((recipient) => ({ sender, recipient, progress: 'to claim', storedBefore: [] })),
    left: { faults: 0, doubles: 0, ...left },
  };
}

test.each(scenarios)(
  '$name: no call of what is claimed after a stop was stored, and no word is lost (D55)',
  async (scenario) => {
    const met = new Set<string>();
    const states = await explore<World>(first(scenario), {
      successorsOf,
      keyOf,
      check: (world) => {
        checkPromises(world);
        for (const { progress } of [...world.workers, ...world.writers]) met.add(progress);
      },
    });
    expect(scenario.sees.filter((event) => !met.has(event))).toEqual([]);
    expect(states).toBeGreaterThan(100);
  },
  300_000,
);
