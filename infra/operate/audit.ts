import { directoryStore } from '../../lib/access/directory-store.ts';
import { auditReader, type ReadEntries } from '../../lib/audit/audit-reading-store.ts';
import { type AuditEntry, auditActs, auditKeptDays } from '../../lib/audit/entry.ts';
import { CommandError, clientIdOf, commandLine, runCommand } from './command.ts';
import { targetOf } from './target.ts';
import { timeSpanMs } from './time-span.ts';

const mostLines = 10_000;
const dayMs = 86_400_000;
/** The clock of another writer may be ahead. */
const aheadMs = 60_000;

const usage = `npm run audit -- [--client ID] [--user NAME] [--what WORD] [--since TIME] [--json] [--stage NAME]

Who did what, the earliest first: users of clients by their requests, operators by their commands. Kept for ${auditKeptDays} days.

  --client ID    what was done for this client alone; without it, for every client that there is, and by operators
  --user NAME    what this user did, or this operator, by the name that AWS gives
  --what WORD    one of ${auditActs.join(', ')};
                 or the part before the dot, such as template or command
  --since TIME   such as 30m, 12h or 90d (7d by default)
  --json         the same as JSON
  --stage NAME   a deployment on AWS; without it, the running local stack`;

const options = {
  client: { type: 'string' },
  user: { type: 'string' },
  what: { type: 'string' },
  since: { type: 'string', default: '7d' },
  json: { type: 'boolean', default: false },
  stage: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface AuditAt {
  readonly entries: ReadEntries;
  readonly listClientIds: () => Promise<readonly number[]>;
}

interface Surroundings {
  readonly print: (line: string) => void;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 when nothing is found, or more than a
 * terminal shows.
 */
export async function auditCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => AuditAt | Promise<AuditAt>,
  { print, nowMs }: Surroundings,
): Promise<void> {
  const { values } = commandLine({ args: [...typed], options });
  if (values.help) return print(usage);
  const clientId = values.client === undefined ? undefined : clientIdOf(values.client);
  const isAsked = filterOf(values);
  const now = nowMs();
  const period = { fromMs: now - durationMs(values.since), toMs: now + aheadMs };
  const { entries, listClientIds } = await open(values.stage);
  const found: AuditEntry[] = [];
  const all = clientId === undefined ? [...(await listClientIds()), 'OPERATOR' as const] : [clientId];
  for (const whose of all) {
    for await (const page of entries(whose, period)) found.push(...page.filter(isAsked));
    if (found.length > mostLines) {
      throw new CommandError(
        `More than ${mostLines} lines: ask with --client, --user, --what, or a shorter --since.`,
        1,
      );
    }
  }
  if (found.length === 0) throw new CommandError(`Nothing was done in ${values.since}, or nothing of that kind.`, 1);
  found.sort((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1));
  if (values.json) print(JSON.stringify(found.map(shown), null, 2));
  else for (const entry of found) print(lineOf(entry));
}

function filterOf({ user, what }: { readonly user?: string | undefined; readonly what?: string | undefined }) {
  const acts = auditActs.filter((act) => what === undefined || act === what || act.startsWith(`${what}.`));
  if (acts.length === 0) throw new CommandError(`--what takes one of ${auditActs.join(', ')}; not ${what}`);
  const asked = new Set<string>(acts);
  return (entry: AuditEntry) => asked.has(entry.what) && (user === undefined || entry.who === user);
}

function durationMs(text: string): number {
  const ms = timeSpanMs(text);
  if (ms !== undefined && ms <= auditKeptDays * dayMs) return ms;
  throw new CommandError(`--since takes a time such as 30m, 12h or 90d, ${auditKeptDays}d at most, not ${text}`);
}

function shown({ atMs, whose, ...entry }: AuditEntry) {
  return { at: new Date(atMs).toISOString(), ...(whose === 'OPERATOR' ? {} : { clientId: whose }), ...entry };
}

/** The text goes to a terminal, so control characters are dropped. */
function lineOf({ atMs, whose, who, ofClientId, what, on, outcome }: AuditEntry): string {
  const by = ofClientId === undefined ? who : `${who} of client ${ofClientId}`;
  const facts = Object.entries(on).map(([name, value]) => `${name} ${[value].flat().join(',')}`);
  const cells = [
    new Date(atMs).toISOString(),
    whose === 'OPERATOR' ? 'operator' : `client ${whose}`,
    by,
    what,
    outcome,
  ];
  return [...cells, ...facts].join('  ').replaceAll(/\p{Cc}/gu, '');
}

if (import.meta.main) {
  await runCommand(() => auditCommand(process.argv.slice(2), openStage, { print: console.log, nowMs: Date.now }));
}

async function openStage(stage: string | undefined): Promise<AuditAt> {
  const { documentClient, tableName } = await targetOf(stage);
  return {
    entries: auditReader({ documentClient, tableName: tableName('audit') }),
    listClientIds: directoryStore(documentClient, tableName('directory')).listClientIds,
  };
}
