import { directoryStore } from '../../../lib/access/directory-store.ts';
import { auditReader, type ReadEntries } from '../../../lib/audit/audit-reading-store.ts';
import { type AuditEntry, auditActs, auditKeptDays } from '../../../lib/audit/entry.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  clientIdOf,
  commandLine,
  helpOption,
  jsonOption,
  sinceOption,
  stageOption,
  untilOption,
} from '../command.ts';
import { type Progress, progressOn } from '../progress.ts';
import { inSnakeCase, snakeCase } from '../snake-case.ts';
import { type Cell, tableOf } from '../table.ts';
import { targetOf } from '../target.ts';
import { periodOf } from '../time-span.ts';

const mostLines = 10_000;
const dayMs = 86_400_000;
/** The clock of another writer may be ahead. */
const aheadMs = 60_000;

const options = {
  client: { type: 'string', value: 'ID', about: 'what was done for this client alone; else for all, and by operators' },
  user: { type: 'string', value: 'NAME', about: 'what this user did, or this operator, by the name that AWS gives' },
  what: { type: 'string', value: 'WORD', about: 'one act, or the part before its dot, such as template or command' },
  since: { ...sinceOption, default: '7d', about: `${sinceOption.about} (7d by default)` },
  until: untilOption,
  json: jsonOption,
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['audit [--client ID] [--user NAME] [--what WORD] [--since TIME]'],
  about: `Who did what, the earliest first: users of clients by their requests, operators by their commands. Kept for
${auditKeptDays} days.

Acts: ${auditActs.join(', ')}.`,
  options,
};

export interface AuditAt {
  readonly entries: ReadEntries;
  readonly listClientIds: () => Promise<readonly number[]>;
}

interface Surroundings {
  readonly print: (line: string) => void;
  /** Tells what belongs to no table, on stderr. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for more than a terminal shows.
 */
export async function auditCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => AuditAt | Promise<AuditAt>,
  { print, tell, progress, nowMs }: Surroundings,
): Promise<void> {
  const { values } = commandLine({ args: [...typed], options });
  const clientId = values.client === undefined ? undefined : clientIdOf(values.client);
  const isAsked = filterOf(values);
  const period = keptPeriod(values, nowMs());
  const { entries, listClientIds } = await open(values.stage);
  const found: AuditEntry[] = [];
  const all = clientId === undefined ? [...(await listClientIds()), 'OPERATOR' as const] : [clientId];
  let read = 0;
  await progress(
    () => `${read} of ${all.length} lists are read, ${found.length} lines found`,
    async () => {
      for (const whose of all) {
        for await (const page of entries(whose, period)) found.push(...page.filter(isAsked));
        refuseTooMany(found.length);
        read += 1;
      }
    },
  );
  if (found.length === 0) tell('Nothing was done in this time, or nothing of that kind.');
  found.sort((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1));
  if (values.json) print(JSON.stringify(found.map(shown), null, 2));
  else for (const line of tableOf(headings, found.map(cellsOf))) print(line);
}

function refuseTooMany(count: number): void {
  if (count <= mostLines) return;
  throw new CommandError(`More than ${mostLines} lines: ask with --client, --user, --what, or a shorter --since.`, 1);
}

function filterOf({ user, what }: { readonly user?: string | undefined; readonly what?: string | undefined }) {
  const acts = auditActs.filter((act) => what === undefined || act === what || act.startsWith(`${what}.`));
  if (acts.length === 0) throw new CommandError(`--what takes one of ${auditActs.join(', ')}; not ${what}`);
  const asked = new Set<string>(acts);
  return (entry: AuditEntry) => asked.has(entry.what) && (user === undefined || entry.who === user);
}

/** Throws `CommandError` for a time from which nothing is kept. */
function keptPeriod(given: { readonly since: string; readonly until?: string | undefined }, nowMs: number) {
  const { sinceMs, untilMs } = periodOf(given, nowMs);
  if (sinceMs < nowMs - auditKeptDays * dayMs) {
    throw new CommandError(`--since takes ${auditKeptDays}d at most, not ${given.since}`);
  }
  return { fromMs: sinceMs, toMs: given.until === undefined ? untilMs + aheadMs : untilMs + 1 };
}

/** Programs read this. */
function shown({ atMs, whose, on, ...entry }: AuditEntry) {
  const clientId = whose === 'OPERATOR' ? undefined : whose;
  return inSnakeCase<unknown>({ at: new Date(atMs).toISOString(), clientId, ...entry, on: inSnakeCase({ ...on }) });
}

const headings = ['AT', 'CLIENT', 'WHO', 'OF_CLIENT', 'WHAT', 'OUTCOME', 'ON'];

function cellsOf({ atMs, whose, who, ofClientId, what, on, outcome }: AuditEntry): Cell[] {
  const facts = Object.entries(on).map(([name, value]) => `${snakeCase(name)} ${[value].flat().join(',')}`);
  const client = whose === 'OPERATOR' ? undefined : String(whose);
  const of = ofClientId === undefined ? undefined : String(ofClientId);
  return [new Date(atMs).toISOString(), client, who, of, what, outcome, facts.join('  ')];
}

export const command: Command = {
  words,
  run: (typed) =>
    auditCommand(typed, openStage, {
      print: console.log,
      tell: console.error,
      progress: progressOn(process.stderr),
      nowMs: Date.now,
    }),
};

async function openStage(stage: string | undefined): Promise<AuditAt> {
  const { documentClient, tableName } = await targetOf(stage);
  return {
    entries: auditReader({ client: documentClient, name: tableName('audit') }),
    listClientIds: directoryStore(documentClient, tableName('directory')).listClientIds,
  };
}
