import { readPersonKey } from '../../infra/operate/person-key.ts';
import type { Target } from '../../infra/operate/target.ts';
import { storePause } from '../../lib/aws/pause.ts';
import { optOutWriter } from '../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../lib/opt-outs/person-name.ts';
import { type OptOutPorts, recordOptOut, type ToRecord } from '../../lib/opt-outs/record-opt-out.ts';

/** The functions of a stage read opt-outs here, under the stage's key. */
async function optOutsOn(target: Target): Promise<OptOutPorts> {
  const key = await readPersonKey(target);
  if (key === undefined) throw new Error('the stage was not provisioned');
  const messages = {
    client: target.documentClient,
    name: target.tableName('messages'),
    pause: storePause,
  };
  return optOutWriter(messages, personNames(key));
}

/** Records a word as the reader of webhooks does. */
export async function recordOn(target: Target, word: ToRecord): Promise<void> {
  await recordOptOut(word, await optOutsOn(target));
}
