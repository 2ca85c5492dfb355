import { deployedDirectory } from '../../access/deployed.ts';
import { documents, environmentVariable } from '../../aws/deployed.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { budgetsStore } from '../budget/budgets-store.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { type RunHoldsPorts, runHolds } from '../holds/run-holds.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { countsOf } from '../report/read-report.ts';
import { reportStore } from '../report/report-store.ts';
import { composeMessage } from '../request/compose.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { platformMessages, readyToCall } from '../send/platform-messages.ts';
import { platformProbe } from '../send/platform-probe.ts';
import { backlogStore } from '../sender/backlog-store.ts';
import { costStop } from '../sender/cost-at-release.ts';
import { senderDispatchesStore } from '../sender/dispatches-store.ts';
import { wakingByLimit } from '../sender/number-parts.ts';
import { placesStore } from '../sender/places-store.ts';
import { judgedForRelease } from '../sender/revalidate-dispatch.ts';
import { seenHolds } from '../sender/seen-holds.ts';
import { senderStateStore } from '../sender/sender-state-store.ts';
import { tellEnd } from '../sender/tell-end.ts';
import type { DeployedSender } from '../sender/wake-handler.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../watch/watch-message.ts';
import { deployedInbound } from './inbound.ts';
import { messagesTable } from './messages-table.ts';
import { deployedNoteSent } from './replies.ts';
import {
  deployedAcceptedDispatches,
  deployedKnownPaces,
  deployedSenderWakes,
  deployedSending,
  deployedWatches,
} from './sending.ts';
import { deployedWatchedSpend } from './spend.ts';

/** Each sender of a number has ports of its own (sender/wake-handler.ts). */
export function deployedSender(): DeployedSender {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const { nowMs } = table;
  const { slices, events, ...process } = deployedSending();
  const states = dispatchItemStore(table);
  const wabas = holdStore(table);
  const watch = deployedWatches();
  const watchParked: RunHoldsPorts['watchParked'] = (callFacts, sinceMs) =>
    watch.sendLater(parkedWatchOf(callFacts, sinceMs), firstParkedLookSeconds);
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const asked = { ...deployedDirectory(), templates, holds: wabas, nowMs };
  const optOuts = deployedOptOutLook();
  const costPorts = {
    ...{ ...deployedDirectory(), dispatches: { recipientsFrom: parameterStore(table).read }, nowMs, optOuts },
    ...{ rates: deployedKnownRates(), budgets: budgetsStore(table) },
  };
  // The sender has just written what it asks for.
  const report = reportStore(table, { consistent: true });
  const ending = {
    progressOf: (dispatchId: string) => countsOf(report, dispatchId),
    ...{ spend: deployedWatchedSpend(), events, nowMs, log },
  };
  const wake = deployedSenderWakes();
  const limitOf = limitOfDispatch({ channels: deployedChannels(), log });
  const shared = {
    ...{ slices, events, states, process },
    statesOf: senderStateStore(table),
    backlog: backlogStore(table),
    dispatches: senderDispatchesStore(table, deployedAcceptedDispatches()),
    unknowns: unknownOutcomesStore(table),
    holds: {
      breakers: breakerStore(table),
      ofSlice: (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), watchParked, nowMs, log }),
    },
    paces: deployedKnownPaces(),
    places: placesStore(table),
    platform: {
      ready: readyToCall(credentialOf),
      send: platformMessages(call, credentialOf),
      probe: platformProbe(call, credentialOf),
    },
    people: { ...optOuts, inbound: deployedInbound() },
    noteSent: deployedNoteSent(),
    compose: composeMessage,
    judge: (dispatch) => judgedForRelease(dispatch, asked),
    costStop: (released) => costStop(released, costPorts),
    tellEnd: ({ head }) => tellEnd(head.dispatchId, ending),
  } satisfies Partial<ReturnType<DeployedSender>>;
  return (key) => ({ ...shared, ...wakingByLimit(key, { wake, limitOf: ({ head }) => limitOf(head) }) });
}
