import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ApiRefusal } from '../../infra/local/demo/client.ts';
import { emulatedStage } from '../../infra/operate/stage/emulator/stage.ts';
import { awsTarget } from '../../infra/operate/target.ts';
import { tables } from '../../infra/tables.ts';
import { recoveryBlocks } from '../proof/trial/run-book.ts';
import { emulated, type Rehearsal } from './rehearsal.ts';

/** `messages` comes last: what it carries over is decided when everything else is mended. */
const damaged = ['directory', 'templates', 'credentials', 'messages'] as const;
type Damaged = (typeof damaged)[number];

type Item = Readonly<Record<string, unknown>>;

/**
 * Does what an operator's script does that overwrites items: only their keys are left. Of `messages` it meets the items
 * of one dispatch. Returns how many items it overwrites.
 */
async function overwrite(name: Damaged, dispatchId: string): Promise<number> {
  const { documentClient, tableName } = awsTarget(emulatedStage);
  const TableName = tableName(name);
  let count = 0;
  for await (const { Items = [] } of paginateScan({ client: documentClient }, { TableName })) {
    for (const { pk, sk } of Items) {
      if (name === 'messages' && !String(pk).includes(dispatchId)) continue;
      await documentClient.send(new PutCommand({ TableName, Item: { pk, sk, damaged: true } }));
      count += 1;
    }
  }
  return count;
}

/**
 * Carries what is intact into the restored table. Version 1 of the AWS CLI cannot write packed attributes, so this
 * writes the file's items itself. Returns how many.
 */
async function carry(rehearsal: Rehearsal): Promise<number> {
  const [block = ''] = recoveryBlocks('Messages');
  const [choose = ''] = block.split('# Now take the damaged items out of carry.jsonl.');
  await rehearsal.operate(choose);
  const items = readFileSync(join(rehearsal.folder, 'carry.jsonl'), 'utf8').trim().split('\n').map(itemOf);
  const intact = items.filter((item) => item['damaged'] !== true);
  if (intact.length === items.length) throw new Error('no damaged item is in carry.jsonl');
  const { documentClient, tableName } = awsTarget(emulatedStage);
  const TableName = `${tableName('messages')}-restored`;
  for (const Item of intact) await documentClient.send(new PutCommand({ TableName, Item }));
  return intact.length;
}

function itemOf(line: string): Item {
  return unmarshall(
    JSON.parse(line, (name, value) =>
      name === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value,
    ),
  );
}

async function swap(name: Damaged, rehearsal: Rehearsal): Promise<void> {
  const [, compare = ''] = recoveryBlocks('2. Restore under another name, and compare');
  await rehearsal.operate(`NAME=${name}\nTABLE=template-messaging-$STAGE-$NAME\n`);
  await rehearsal.operate(compare);
  if (name === 'messages')
    rehearsal.tell('end', `${await carry(rehearsal)} intact items carried into the restored table`);
  const [replace = '', settings = '', drift = ''] = recoveryBlocks('3b. Or swap the table');
  await rehearsal.operate(replace);
  const expires = tables[name].expires;
  await rehearsal.operate(expires ? settings : settings.replace(/^aws dynamodb update-time-to-live .*\\\n.*\n/m, ''));
  if (!(await rehearsal.operate(drift)).includes('IN_SYNC')) throw new Error(`${name} is not as the stack wants it`);
}

/** Returns the lines of a step that concern the authorizer, for the function `login`. */
function sameForLogin(block: string): string {
  const lines = block.split('\n').filter((line) => line.includes('put-function-concurrency'));
  return `${lines.join('\n').replaceAll('-authorizer', '-login').replace('executions 100', 'executions 60')}\n`;
}

async function refusalOf(call: () => Promise<unknown>): Promise<string> {
  const answer = await call().catch((error: unknown) => error);
  if (!(answer instanceof ApiRefusal)) throw new Error('a client was answered as if nothing had happened');
  return `${answer.status} ${answer.message}`;
}

async function play(rehearsal: Rehearsal): Promise<string> {
  const { ended } = await rehearsal.campaign(3_000);
  const { client } = ended;
  const { total } = await client.listTemplates();
  rehearsal.tell('calm', 'the emulator restores the present alone: what is to be the moment before is restored now');
  for (const name of damaged) await rehearsal.restore(name);

  for (const name of damaged) {
    rehearsal.tell('trouble', `${name}: ${await overwrite(name, ended.dispatchId)} items have lost all but their keys`);
  }
  rehearsal.tell('told', `CLIENT login: ${await refusalOf(() => rehearsal.logIn())}`);
  rehearsal.tell('told', `CLIENT report: ${await refusalOf(() => rehearsal.endedWell(ended))}`);

  const stop = recoveryBlocks('1. Stop what reads and writes');
  for (const block of stop) await rehearsal.operate(block);
  await rehearsal.operate(sameForLogin(stop.join('')));
  await rehearsal.runningEnded();
  const standing = await rehearsal.taken();
  for (const name of damaged) await swap(name, rehearsal);
  if ((await rehearsal.taken()) !== standing) throw new Error('messages have left while everything was stopped');
  await rehearsal.midway();
  const [start = ''] = recoveryBlocks('4. Start again');
  await rehearsal.operate(start);
  await rehearsal.operate(sameForLogin(start));

  const again = await rehearsal.logIn();
  if ((await again.listTemplates()).total !== total) throw new Error('templates are other ones than before');
  await rehearsal.send(again, 20);
  await rehearsal.provenWith(ended);
  return `${damaged.length} tables swapped`;
}

export const tablesSwapped = emulated({
  name: 'tables-swapped',
  incident: 'items of four tables are overwritten in the middle of a campaign',
  play,
});
