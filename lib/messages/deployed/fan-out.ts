import { deployedDirectory } from '../../access/deployed.ts';
import { documents, environmentVariable, queues } from '../../aws/deployed.ts';
import { backoff } from '../../aws/pause.ts';
import { type DelayedQueue, delayedQueue } from '../../aws/sqs-batch.ts';
import { visibilityOf } from '../../aws/sqs-visibility.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { encodeRound, type RoundMessage } from '../accept/round-message.ts';
import { budgetsStore } from '../budget/budgets-store.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { costStop, type Released } from '../fan-out/cost-at-release.ts';
import { backlogStore } from '../fan-out/dispatch-backlog-store.ts';
import { dispatchRoundsStore } from '../fan-out/dispatch-rounds-store.ts';
import { judgedForRelease } from '../fan-out/revalidate-dispatch.ts';
import { waveQueue } from '../fan-out/wave-queue.ts';
import { holdStore } from '../holds/hold-store.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { messagesTable } from './messages-table.ts';
import { deployedAcceptedDispatches, deployedPaces, deployedSending, deployedWatches } from './sending.ts';
import { deployedCount } from './spend.ts';

/** A dispatch can wait: of a hundred that begin on one number, only one at a time reserves. */
const reservingPause = backoff(100, 3_200);

/** The message group is the client. */
function deployedFanOutQueue(): DelayedQueue<RoundMessage> {
  const queue = { client: queues(), url: environmentVariable('FAN_OUT_QUEUE_URL') };
  return delayedQueue(queue, encodeRound, ({ clientId }) => String(clientId));
}

export function deployedLook() {
  const table = messagesTable();
  const { nowMs } = table;
  return {
    backlog: backlogStore(table),
    withdraw: deployedAcceptedDispatches().withdraw,
    wake: deployedFanOutQueue().sendLater,
    nowMs,
    log,
  };
}

export function deployedFanOut() {
  const table = messagesTable();
  const { nowMs } = table;
  const { find, list } = deployedAcceptedDispatches();
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const asked = { ...deployedDirectory(), templates, holds: holdStore(table), nowMs };
  const count = deployedCount({ readsSlices: true });
  const dispatches = dispatchRoundsStore(table, { find, list, recipientsFrom: parameterStore(table).read });
  const costPorts = {
    ...{ ...deployedDirectory(), dispatches, nowMs },
    rates: deployedKnownRates(),
    optOuts: deployedOptOutLook(),
    budgets: budgetsStore(table),
  };
  return {
    ...deployedSending(),
    states: dispatchItemStore(table),
    dispatches,
    queue: waveQueue(queues(), environmentVariable('DISPATCH_QUEUE_URL')),
    paces: deployedPaces(reservingPause),
    judge: (dispatch: StoredDispatch) => judgedForRelease(dispatch, asked),
    costStop: (released: Released) => costStop(released, costPorts),
    countNow: (dispatchId: string) => count([dispatchId]),
    limitOf: limitOfDispatch({ channels: deployedChannels(), log }),
    watch: deployedWatches(),
    sendAgain: deployedFanOutQueue().sendLater,
    postpone: visibilityOf(queues(), environmentVariable('FAN_OUT_QUEUE_URL')),
  };
}
