import type { parseArgs } from 'node:util';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import type { MessageKey } from '../../../lib/messages/dispatch/head.ts';
import { dispatchIdPattern } from '../../../lib/messages/dispatch/head.ts';
import type { DescribedDispatch } from '../../../lib/messages/report/described-dispatch.ts';
import type { ReportedOutcome } from '../../../lib/messages/report/outcome.ts';
import { type Outcomes, outcomesStore } from '../../../lib/messages/report/outcomes-store.ts';
import { countDispatches } from '../../../lib/messages/spend/count-dispatches.ts';
import { spendStore } from '../../../lib/messages/spend/spend-store.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';
import { ratesStore } from '../../../lib/pricing/rates-store.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  sinceOption,
  stageOption,
  untilOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { type Progress, progressOn } from '../progress.ts';
import { targetOf } from '../target.ts';
import { periodOf } from '../time-span.ts';
import type { ListedNumber } from './holds-output.ts';
import {
  asJson,
  asTables,
  type DispatchOutcomes,
  isAsWished,
  rowOf,
  settlingLines,
  totalLine,
} from './outcomes-output.ts';

const options = {
  dispatch: { type: 'string', value: 'ID', about: 'a dispatch, or one message of it as <dispatch>-<number>' },
  since: sinceOption,
  until: untilOption,
  did: { type: 'string', value: 'DID', about: 'with --since: only of this DID; else of all' },
  all: { type: 'boolean', default: false, about: 'everybody; else held, failed, expired and unknown ones' },
  resolve: { type: 'string', value: 'ID', about: 'settles one unknown message by hand; nothing is sent' },
  yes: { ...yesOption, about: 'with --resolve: really; else it shows the message, and ends with 3' },
  json: jsonOption,
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['outcomes --dispatch ID', 'outcomes --since TIME [--did DID]', 'outcomes --resolve ID sent|failed [--yes]'],
  about: `What became of messages: of one dispatch, or of every one that was accepted in a time, by the clients that may
send from its DID now.

The states are those of the report. An unknown message is never sent again by this command: to send it again, resolve it
as failed and retry its dispatch (POST .../retry) with codes ["resolved_by_operator"].`,
  options,
};

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;

export interface Terminal {
  readonly print: (line: string) => void;
  /** Tells what belongs to no table, on stderr. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
}

export interface OutcomesStage {
  readonly outcomes: Outcomes;
  readonly listNumbers: () => Promise<readonly (ListedNumber & { readonly wabaId: string })[]>;
  /** Counts the costs of a dispatch again (D58); it is idempotent. */
  readonly countCost: (dispatchId: string) => Promise<void>;
  /** Returns the clients that may send from a DID; empty for an unknown one. */
  readonly clientsOf: (did: string) => Promise<readonly number[]>;
  readonly audit: OperatorAudit;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for an unknown dispatch or message, or one
 * that cannot be resolved.
 */
export async function outcomesCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => OutcomesStage | Promise<OutcomesStage>,
  terminal: Terminal,
): Promise<void> {
  const wanted = commandLine({ args: [...typed], options, allowPositionals: true });
  const { values } = wanted;
  const [stray] = wanted.positionals;
  if (values.resolve !== undefined) return await resolve(wanted, await open(values.stage), terminal);
  if (stray !== undefined)
    throw new CommandError(`${stray} belongs to no option; name a dispatch with --dispatch ${stray}`);
  if (values.dispatch === undefined && values.since === undefined) throw new CommandError(helpOf(words));
  await list(wanted, await open(values.stage), terminal);
}

/**
 * No receipt may follow that would count the cost, so this does. A repetition completes a command that died in between.
 */
async function resolve(
  wanted: Wanted,
  { outcomes, countCost, audit }: OutcomesStage,
  { print }: Terminal,
): Promise<void> {
  const key = messageKey(wanted.values.resolve ?? '');
  const state = wanted.positionals[0];
  if (key === undefined) throw new CommandError('--resolve takes the id of one message, <dispatch id>-<index>');
  if (state !== 'sent' && state !== 'failed') throw new CommandError('--resolve ID must be followed by sent or failed');
  if (wanted.values.yes !== true) {
    const outcome = await outcomes.ofMessage(key);
    if (outcome.state !== 'unknown') throw notUnknown(outcome);
    print(`${rowOf(outcome)}: would be ${state}`);
    throw new WouldChange('nothing was written: repeat with --yes');
  }
  const isSettled = await audit(
    'command.outcome_resolve',
    { dispatchId: key.dispatchId, how: state, count: 1 },
    async () => {
      const settled = await outcomes.resolve(key, state);
      await countCost(key.dispatchId);
      return settled;
    },
  );
  if (!isSettled) throw notUnknown(await outcomes.ofMessage(key));
  print(`${wanted.values.resolve} is now ${state}`);
}

function notUnknown(outcome: ReportedOutcome): CommandError {
  return new CommandError(`Not changed, the outcome is not unknown: ${rowOf(outcome)}`, 1);
}

async function list({ values }: Wanted, stage: OutcomesStage, { print, tell, progress }: Terminal): Promise<void> {
  const key = messageKey(values.dispatch ?? '');
  const isShown = ({ messageId, state }: DispatchOutcomes['outcomes'][number]) =>
    key === undefined ? values.all || !isAsWished(state) : messageId === values.dispatch;
  const found: DispatchOutcomes[] = [];
  await progress(
    () => `${found.length} dispatches are read`,
    async () => {
      for (const dispatch of await dispatchesOf(values, key, stage)) {
        const outcomes = await stage.outcomes.ofDispatch(dispatch);
        found.push({ dispatch, outcomes, shown: outcomes.filter(isShown) });
      }
    },
  );
  const [first] = found;
  if (first === undefined && values.dispatch !== undefined) throw notFound();
  if (key !== undefined && first?.shown.length === 0) throw noSuchMessage(key, first);
  if (values.json) return print(JSON.stringify(found.map(asJson), null, 2));
  for (const line of asTables(found, { only: key !== undefined })) print(line);
  for (const line of settlingLines(found, values.stage)) tell(line);
  if (key === undefined) tell(totalLine(found));
}

async function dispatchesOf(
  { dispatch: named, did, since, until }: Wanted['values'],
  key: MessageKey | undefined,
  { outcomes, clientsOf, listNumbers, nowMs }: OutcomesStage,
): Promise<DescribedDispatch[]> {
  if (named !== undefined) {
    const dispatch = await outcomes.findStored(key?.dispatchId ?? named);
    return dispatch === undefined ? [] : [dispatch];
  }
  const { sinceMs, untilMs } = periodOf({ since, until }, nowMs());
  const dispatches: DescribedDispatch[] = [];
  for (const each of did === undefined ? await didsOf(listNumbers) : [did]) {
    const from = { did: each, clientIds: await clientsOf(each) };
    dispatches.push(...(await outcomes.listAll(from, { fromMs: sinceMs, toMs: untilMs + 1 })));
  }
  return dispatches;
}

export async function didsOf(listNumbers: OutcomesStage['listNumbers']): Promise<string[]> {
  return [...new Set((await listNumbers()).map(({ did }) => did))].sort();
}

function notFound(): CommandError {
  return new CommandError('Nothing found: no such dispatch, or it is older than 30 days.', 1);
}

/** Dropped duplicates leave gaps in the numbers of messages. */
function noSuchMessage({ dispatchId, index }: MessageKey, { outcomes }: DispatchOutcomes): CommandError {
  const all = `infra/ops outcomes --dispatch ${dispatchId} --all`;
  return new CommandError(`The dispatch ${dispatchId} has no message ${index}; it has ${outcomes.length}: ${all}`, 1);
}

function messageKey(id: string): MessageKey | undefined {
  const match = /^(.+)-(\d{1,5})$/.exec(id);
  const dispatchId = match?.[1] ?? '';
  return dispatchIdPattern.test(dispatchId) ? { dispatchId, index: Number(match?.[2]) } : undefined;
}

export const command: Command = {
  words,
  run: (typed) =>
    outcomesCommand(typed, openStage, {
      print: console.log,
      tell: console.error,
      progress: progressOn(process.stderr),
    }),
};

async function openStage(stage: string | undefined): Promise<OutcomesStage> {
  const target = await targetOf(stage);
  const { documentClient: client, tableName } = target;
  const directory = directoryStore(client, tableName('directory'));
  const messages = tableOf(client, tableName('messages'));
  const ledger = spendStore(messages);
  const stored = ratesStore(client, tableName('rates'));
  const rates = async () => [shippedRates, ...(await stored.find())] as const;
  return {
    outcomes: outcomesStore(messages),
    audit: auditOf(target, stage),
    listNumbers: async () => (await Promise.all((await directory.listClientIds()).map(directory.listChannels))).flat(),
    countCost: (dispatchId) => countDispatches([dispatchId], { ledger, rates, nowMs: Date.now, readsSlices: true }),
    clientsOf: async (did) => (await directory.findDid(did))?.waba.clientIds ?? [],
    nowMs: Date.now,
  };
}
