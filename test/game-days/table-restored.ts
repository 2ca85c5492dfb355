import { BatchWriteCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { ApiRefusal } from '../../infra/local/demo/client.ts';
import { emulatedStage } from '../../infra/operate/stage/emulator/stage.ts';
import { awsTarget } from '../../infra/operate/target.ts';
import type { Dispatch } from '../proof/trial/record.ts';
import { recoveryBlocks } from '../proof/trial/run-book.ts';
import { emulated, type Rehearsal } from './rehearsal.ts';

/**
 * Does what an operator's script does that goes too far: one dispatch is gone altogether, and of another its
 * parameters. Returns how many items are deleted.
 */
async function damage(
  table: string,
  documentClient: DynamoDBDocumentClient,
  { ended, running }: { readonly ended: Dispatch; readonly running: Dispatch },
) {
  const keys: { readonly pk: string; readonly sk: string }[] = [];
  for await (const { Items = [] } of paginateScan({ client: documentClient }, { TableName: `${table}-restored` })) {
    for (const { pk, sk } of Items as { pk: string; sk: string }[]) {
      if (pk.includes(ended.dispatchId) || pk.startsWith(`PARAMS#${running.dispatchId}`)) keys.push({ pk, sk });
    }
  }
  for (let at = 0; at < keys.length; at += 25) {
    const deletions = keys.slice(at, at + 25).map((Key) => ({ DeleteRequest: { Key } }));
    await documentClient.send(new BatchWriteCommand({ RequestItems: { [table]: deletions } }));
  }
  return keys.length;
}

async function play(rehearsal: Rehearsal): Promise<string> {
  const dispatches = await rehearsal.campaign(800);
  const { ended } = dispatches;
  rehearsal.tell('calm', 'the emulator restores the present alone: what is to be the moment before is restored now');
  await rehearsal.restore('messages');

  const { documentClient, tableName } = awsTarget(emulatedStage);
  const gone = await damage(tableName('messages'), documentClient, dispatches);
  rehearsal.tell('trouble', `${gone} items of messages are deleted, when ${await rehearsal.midway()} have left`);

  // What is gone waits for longer each time, so the alarm is not waited for.
  await rehearsal.line('messages-dispatch', 'dispatch.unreadable', 'ParametersGone');
  const answer = await rehearsal.endedWell(ended).catch((error: unknown) => error);
  if (!(answer instanceof ApiRefusal && answer.status === 404))
    throw new Error('the report of a dispatch that is gone is no 404');
  rehearsal.tell('told', `CLIENT ${answer.message}`);

  for (const block of recoveryBlocks('1. Stop what reads and writes')) await rehearsal.operate(block);
  await rehearsal.runningEnded();
  const [, compare = ''] = recoveryBlocks('2. Restore under another name, and compare');
  await rehearsal.operate(compare);
  const standing = await rehearsal.taken();
  const output = (
    await Promise.all(recoveryBlocks('3a. Put back what is gone').map((block) => rehearsal.operate(block)))
  ).join();
  if (!output.includes(`${gone} put back`)) throw new Error('other items were put back than were deleted');
  if ((await rehearsal.taken()) !== standing) throw new Error('messages have left while everything was stopped');
  await rehearsal.midway();
  for (const block of recoveryBlocks('4. Start again').slice(0, 1)) await rehearsal.operate(block);
  await rehearsal.provenWith(ended);
  return `${gone} items put back`;
}

export const tableRestored = emulated({
  name: 'table-restored',
  incident: 'items of the table messages are deleted in the middle of a campaign',
  play,
});
