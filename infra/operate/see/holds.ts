import type { parseArgs } from 'node:util';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import type { DescribedDispatch } from '../../../lib/messages/report/described-dispatch.ts';
import { type Outcomes, outcomesStore } from '../../../lib/messages/report/outcomes-store.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  sinceOption,
  stageOption,
} from '../command.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { progressOn } from '../progress.ts';
import { targetOf } from '../target.ts';
import { periodOf } from '../time-span.ts';
import { heldAsJson, heldAsTables, heldBy, heldNotes, holdInWords, type ListedNumber } from './holds-output.ts';
import { type OpenHolds, openHolds } from './open-holds.ts';
import { didsOf, type Terminal } from './outcomes.ts';
import { type DispatchOutcomes, isAsWished } from './outcomes-output.ts';

const options = {
  did: { type: 'string', value: 'DID', about: 'only of its WABA and of the platform' },
  since: { ...sinceOption, about: 'only dispatches accepted since then; else all that wait' },
  end: { type: 'string', value: 'HOLD', about: "ends a hold; its name as it is listed, as one word: 'waba 2000'" },
  json: jsonOption,
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['holds [--did DID]', "holds --end 'waba ID'"],
  about: `What nothing leaves for (a template, a number, an account, the platform), why, what to do, and the dispatches that
wait. Each hold is asked again by itself; end one only once its cause is removed.`,
  options,
};

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

export interface HoldsStage {
  readonly outcomes: Pick<Outcomes, 'listParked' | 'ofDispatch'>;
  readonly holds: OpenHolds;
  readonly listWabaIds: () => Promise<readonly string[]>;
  readonly listNumbers: () => Promise<readonly (ListedNumber & { readonly wabaId: string })[]>;
  /** Returns the clients that may send from a DID; empty for an unknown one. */
  readonly clientsOf: (did: string) => Promise<readonly number[]>;
  readonly audit: OperatorAudit;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for dispatches that cannot be read, or a
 * hold that is none.
 */
export async function holdsCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => HoldsStage | Promise<HoldsStage>,
  terminal: Terminal,
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [stray] = positionals;
  if (stray !== undefined) {
    throw new CommandError(`${stray} belongs to no option; --end takes what is listed as one word: --end 'waba 2000'`);
  }
  const stage = await open(values.stage);
  if (values.end === undefined) await list(values, stage, terminal);
  else await end(values.end, stage, terminal);
}

async function list(wanted: Wanted, stage: HoldsStage, { print, tell, progress }: Terminal): Promise<void> {
  const { did, json, stage: stageName } = wanted;
  const unreadable: string[] = [];
  const parked: DispatchOutcomes[] = [];
  await progress(
    () => `${parked.length} dispatches that wait are read`,
    async () => {
      for (const dispatch of await parkedDispatches(wanted, unreadable, stage)) {
        const outcomes = await stage.outcomes.ofDispatch(dispatch);
        parked.push({ dispatch, outcomes, shown: outcomes.filter(({ state }) => !isAsWished(state)) });
      }
    },
  );
  const numbers = await stage.listNumbers();
  const provisioned =
    did === undefined
      ? await stage.listWabaIds()
      : numbers.filter((number) => number.did === did).map(({ wabaId }) => wabaId);
  // A dispatch outlives its number and its WABA in the directory.
  const wabaIds = new Set([...provisioned, ...parked.map(({ dispatch }) => dispatch.head.wabaId)]);
  const held = heldBy(await stage.holds.list([...wabaIds]), parked);
  if (json) print(JSON.stringify(heldAsJson(held), null, 2));
  else {
    for (const line of heldAsTables(held, numbers)) print(line);
    for (const line of heldNotes(held, stageName)) tell(line);
  }
  if (unreadable.length === 0) return;
  const ids = unreadable.join(', ');
  throw new CommandError(`${unreadable.length} dispatches cannot be read, and may wait as well: ${ids}`, 1);
}

/** A scheduled send may wait weeks after its acceptance (D56), so without `--since` all are looked at. */
async function parkedDispatches(
  { did, since }: Wanted,
  unreadable: string[],
  { outcomes, clientsOf, listNumbers, nowMs }: HoldsStage,
): Promise<DescribedDispatch[]> {
  const fromMs = since === undefined ? 0 : periodOf({ since }, nowMs()).sinceMs;
  const dispatches: DescribedDispatch[] = [];
  for (const each of did === undefined ? await didsOf(listNumbers) : [did]) {
    const from = { did: each, clientIds: await clientsOf(each) };
    dispatches.push(...(await outcomes.listParked(from, { fromMs, toMs: nowMs() + 1 }, (id) => unreadable.push(id))));
  }
  return dispatches;
}

async function end(scope: string, stage: HoldsStage, { print }: Terminal): Promise<void> {
  const open = await stage.holds.list(await stage.listWabaIds());
  const hold = open.find((each) => holdInWords(each) === scope);
  if (hold === undefined) {
    const others = open.map((each) => `'${holdInWords(each)}'`).join(', ');
    throw new CommandError(`Not held: ${scope}${others === '' ? '; nothing is' : `; held: ${others}`}`, 1);
  }
  const isEnded = await stage.audit('command.hold_end', { scope: holdInWords(hold) }, () => stage.holds.end(hold));
  if (!isEnded) throw new CommandError(`Not ended, others write at the same time: try again`, 1);
  print(`Held no more: ${scope}. What waits for it goes on by itself within minutes.`);
}

export const command: Command = {
  words,
  run: (typed) =>
    holdsCommand(typed, openStage, { print: console.log, tell: console.error, progress: progressOn(process.stderr) }),
};

async function openStage(stage: string | undefined): Promise<HoldsStage> {
  const target = await targetOf(stage);
  const { documentClient: client, tableName } = target;
  const directory = directoryStore(client, tableName('directory'));
  const messages = tableOf(client, tableName('messages'));
  const ofClients = async <T>(list: (clientId: number) => Promise<T[]>) =>
    (await Promise.all((await directory.listClientIds()).map(list))).flat();
  return {
    outcomes: outcomesStore(messages),
    holds: openHolds(messages),
    audit: auditOf(target, stage),
    listWabaIds: async () => [...new Set((await ofClients(directory.listWabas)).map(({ wabaId }) => wabaId))].sort(),
    listNumbers: () => ofClients(directory.listChannels),
    clientsOf: async (did) => (await directory.findDid(did))?.waba.clientIds ?? [],
    nowMs: Date.now,
  };
}
