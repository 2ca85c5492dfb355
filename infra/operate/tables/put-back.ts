import { ConditionalCheckFailedException, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { forEachConcurrently } from '../../../lib/aws/concurrently.ts';
import { batchGet, type Item } from '../../../lib/aws/dynamodb-batch.ts';
import type { ItemKey } from '../../../lib/aws/item-key.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { type TableName, tables } from '../../tables.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { type Progress, progressOn } from '../progress.ts';
import { type Target, targetOf } from '../target.ts';

const options = {
  from: {
    type: 'string',
    value: 'COPY',
    about:
      'the whole name of the table that was restored beside it (infra/RECOVERY.md): that of the table, with a word behind it',
  },
  only: { type: 'string', value: 'KIND,...', about: 'these alone; the kind of an item is its key up to the first "#"' },
  yes: { ...yesOption, about: 'really; else it counts what is gone, by kind' },
  json: { ...jsonOption, about: 'what is gone, and what was put back, as one JSON document' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['put-back TABLE --from COPY [--only KIND,...] [--yes]'],
  about: `Puts back what a table has lost: items of the copy whose key the table no longer has. Without --yes it counts
them by kind, writes nothing, and ends with 3 when something is to be put back. An item that is there is never overwritten, so nothing that happened since the copy is
lost; a run may be repeated.

TABLE is one of ${Object.keys(tables).join(', ')}.`,
  options,
};

/**
 * These kinds describe the minutes of the copy: they are wrong by now, and the service writes them when it needs them.
 */
const kindsOfThen: Partial<Record<TableName, readonly string[]>> = {
  messages: ['SENDER', 'PLACES', 'PACE', 'PLATFORM', 'WABA', 'QUESTION', 'QUESTIONS', 'ERASING'],
};

/** The table serves a campaign meanwhile, so only this many writes are under way. */
const writesAtOnce = 10;
/** A page of the copy has this many items; each is looked up in the table at once. */
const pageItems = 500;

export interface PutBackAt {
  readonly target: Pick<Target, 'documentClient' | 'tableName'>;
  readonly audit: OperatorAudit;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, which a copy of another table or stage is, 1
 * for a missing table.
 */
export async function putBackCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => PutBackAt | Promise<PutBackAt>,
  { print, progress }: { readonly print: (line: string) => void; readonly progress: Progress },
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [name, ...surplus] = positionals;
  if (name === undefined || surplus.length > 0 || values.from === undefined) throw new CommandError(helpOf(words));
  if (!Object.hasOwn(tables, name)) {
    throw new CommandError(`TABLE is one of ${Object.keys(tables).join(', ')}, not ${name}`);
  }
  const table = name as TableName;
  const { target, audit } = await open(values.stage);
  const compared = { ...target, from: values.from, to: target.tableName(table), hasSortKey: tables[table].sortKey };
  if (!compared.from.startsWith(`${compared.to}-`)) {
    throw new CommandError(
      `--from takes a copy of this table, whose name begins with ${compared.to}-, not ${compared.from}`,
    );
  }
  const only = values.only?.split(',');
  const isWanted = (kind: string) => only?.includes(kind) ?? !kindsOfThen[table]?.includes(kind);
  const gone = new Map<string, number>();
  try {
    let looked = 0;
    await progress(
      () => `${looked} items of the copy were looked for`,
      async () => {
        for await (const { read, items } of goneFrom(compared)) {
          looked += read;
          for (const kind of items.map(kindOf)) gone.set(kind, (gone.get(kind) ?? 0) + 1);
        }
      },
    );
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw new CommandError(
      `There is no table ${compared.from}, or no ${compared.to}: aws dynamodb list-tables has the names.`,
      1,
    );
  }
  const kinds = [...gone]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, items]) => ({ kind, items, back: isWanted(kind) }));
  const count = kinds.reduce((sum, { items, back }) => sum + (back ? items : 0), 0);
  if (!values.json) for (const line of goneLines(table, kinds)) print(line);
  const written =
    values.yes && count > 0
      ? await audit('command.put_back', { table, count }, () => putBack(compared, { isWanted, count, progress }))
      : 0;
  if (values.json) print(JSON.stringify({ table, kinds, put_back: written }, null, 2));
  else if (count === 0) print('nothing is to be put back');
  else if (values.yes) {
    print(`${written} put back${written === count ? '' : `; ${count - written} were there again meanwhile`}`);
  }
  if (count > 0 && !values.yes) throw new WouldChange('nothing was written: repeat with --yes');
}

interface GoneKind {
  readonly kind: string;
  readonly items: number;
  /** It is put back; else it stays away. */
  readonly back: boolean;
}

function goneLines(table: string, kinds: readonly GoneKind[]): string[] {
  const gone = kinds.reduce((sum, { items }) => sum + items, 0);
  return [
    `${table}: ${gone} items of the copy are gone`,
    ...kinds.map(({ kind, items, back }) => `${back ? 'back ' : 'stays'}  ${items} ${kind}`),
  ];
}

interface Compared {
  readonly documentClient: DynamoDBDocumentClient;
  readonly from: string;
  readonly to: string;
  readonly hasSortKey: boolean;
}

/** A page of the copy has `read` items; the table lacks the keys of `items`. */
interface GonePage {
  readonly read: number;
  readonly items: readonly Item[];
}

/** Yields the items of the copy whose key the table lacks, page by page; both reads are strongly consistent. */
async function* goneFrom({ documentClient, from, to, hasSortKey }: Compared): AsyncGenerator<GonePage> {
  const pages = paginateScan(
    { client: documentClient, pageSize: pageItems },
    { TableName: from, ConsistentRead: true },
  );
  for await (const { Items = [] } of pages) {
    const keys = new Map(Items.map((item) => [nameOf(keyOf(item, hasSortKey)), keyOf(item, hasSortKey)]));
    const table = tableOf(documentClient, to);
    const there = await batchGet(table, [...keys.values()], { consistent: true });
    const known = new Set(there.map((item) => nameOf(keyOf(item, hasSortKey))));
    yield { read: Items.length, items: Items.filter((item) => !known.has(nameOf(keyOf(item, hasSortKey)))) };
  }
}

function keyOf(item: Item, hasSortKey: boolean): ItemKey {
  const key = hasSortKey ? { pk: item['pk'], sk: item['sk'] } : { pk: item['pk'] };
  return key as unknown as ItemKey;
}

function nameOf(key: ItemKey): string {
  return JSON.stringify(key);
}

function kindOf(item: Item): string {
  return String(item['pk']).split('#', 1)[0] ?? '';
}

/** Writes each item where there is none; returns how many were written. */
async function putBack(
  compared: Compared,
  {
    isWanted,
    count,
    progress,
  }: { readonly isWanted: (kind: string) => boolean; readonly count: number; readonly progress: Progress },
): Promise<number> {
  const { documentClient, to } = compared;
  let written = 0;
  const put = async (item: Item) => {
    const write = new PutCommand({ TableName: to, Item: item, ConditionExpression: 'attribute_not_exists(pk)' });
    try {
      await documentClient.send(write);
      written += 1;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  };
  await progress(
    () => `${written} of ${count} items are put back`,
    async () => {
      for await (const { items } of goneFrom(compared)) {
        const wanted = items.filter((item) => isWanted(kindOf(item)));
        await forEachConcurrently(wanted, writesAtOnce, put);
      }
    },
  );
  return written;
}

export const command: Command = {
  words,
  run: (typed) => putBackCommand(typed, openStage, { print: console.log, progress: progressOn(process.stderr) }),
};

async function openStage(stage: string | undefined): Promise<PutBackAt> {
  const target = await targetOf(stage);
  return { target, audit: auditOf(target, stage) };
}
