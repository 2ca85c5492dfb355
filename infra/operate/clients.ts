import { directoryStore } from '../../lib/access/directory-store.ts';
import { storePause } from '../../lib/aws/pause.ts';
import { spendKeptDays } from '../../lib/messages/items.ts';
import { type ClientDay, clientDays } from '../../lib/messages/spend/spend.ts';
import { spendSumsStore } from '../../lib/messages/spend/spend-sums-store.ts';
import { dollarsOf } from '../../lib/pricing/money.ts';
import { utcDay } from '../../lib/pricing/rates-of-day.ts';
import { CommandError, clientIdOf, commandLine, runCommand } from './command.ts';
import { type Target, targetOf } from './target.ts';

const usage = `npm run clients -- [--since 7d] [--client ID] [--stage NAME]

What each client has sent, day by day (UTC): what the platform took (sent), what reached no recipient and will not (failed), what the
platform took and withholds (held), calls to the platform, at least (calls), what was delivered, what of it was billed, and its
list price.

  --since 7d    so many days to today (400d at most)
  --client ID   of one client; otherwise of all that have sent something
  --stage NAME  a deployment on AWS; without it, the running local stack`;

const options = {
  since: { type: 'string', default: '7d' },
  client: { type: 'string' },
  stage: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface ClientsStage {
  readonly listClients: () => Promise<readonly { readonly clientId: number; readonly name: string }[]>;
  readonly spendBetween: ReturnType<typeof spendSumsStore>['between'];
  readonly nowMs: () => number;
}

/** Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for an unknown client. */
export async function clientsCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => ClientsStage | Promise<ClientsStage>,
  print: (line: string) => void,
): Promise<void> {
  const { values } = commandLine({ args: [...typed], options });
  if (values.help) return print(usage);
  const days = daysOf(values.since);
  const only = values.client === undefined ? undefined : clientIdOf(values.client);
  const { listClients, spendBetween, nowMs } = await open(values.stage);
  const all = (await listClients()).toSorted((one, other) => one.clientId - other.clientId);
  const asked = only === undefined ? all : all.filter(({ clientId }) => clientId === only);
  if (only !== undefined && asked.length === 0) throw new CommandError(`There is no client ${only}.`, 1);
  const to = utcDay(nowMs());
  const from = utcDay(nowMs() - (days - 1) * 86_400_000);
  const rows: string[][] = [];
  for (const { clientId, name } of asked) {
    const record = clientDays(await spendBetween(clientId, from, to));
    if (record.size > 0) rows.push(...rowsOf(`${clientId} ${name.replaceAll(/\p{Cc}/gu, '')}`, record));
  }
  if (rows.length === 0) return print(`nothing is counted from ${from} to ${to}; what is on its way is counted later`);
  for (const line of aligned([heading, ...rows])) print(line);
}

function daysOf(since: string): number {
  const days = Number(/^([1-9]\d{0,2})d$/.exec(since)?.[1]);
  if (days <= spendKeptDays) return days;
  throw new CommandError(`--since takes days such as 7d, ${spendKeptDays}d at most, not ${since}`);
}

const heading = ['client', 'day', 'sent', 'failed', 'held', 'calls', 'delivered', 'billed', 'dollars'];

/** Returns a row for each day, and a sum for several days. */
function rowsOf(client: string, record: ReadonlyMap<string, ClientDay>): string[][] {
  const rows = [...record].map(([day, of]) => [client, day, ...cellsOf(of)]);
  if (rows.length === 1) return rows;
  const sum = (name: keyof ClientDay) => [...record.values()].reduce((total, day) => total + day[name], 0);
  const names = ['sent', 'failed', 'held', 'calls', 'messages', 'billed', 'units'] as const;
  const total = Object.fromEntries(names.map((name) => [name, sum(name)])) as ClientDay;
  return [...rows, [client, 'together', ...cellsOf(total)]];
}

function cellsOf({ sent, failed, held, calls, messages, billed, units }: ClientDay): string[] {
  const counts = [sent, failed, held, calls, messages, billed].map((count) => count.toLocaleString('en-US'));
  const dollars = dollarsOf(units).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return [...counts, dollars];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

export function clientsStage({ documentClient, tableName }: Target, nowMs: () => number): ClientsStage {
  const messages = { documentClient, tableName: tableName('messages'), pause: storePause };
  return {
    listClients: directoryStore(documentClient, tableName('directory')).listClients,
    spendBetween: spendSumsStore(messages).between,
    nowMs,
  };
}

if (import.meta.main) {
  await runCommand(() =>
    clientsCommand(process.argv.slice(2), async (stage) => clientsStage(await targetOf(stage), Date.now), console.log),
  );
}
