import { deployedDirectory } from '../../access/deployed.ts';
import { documents, environmentVariable } from '../../aws/deployed.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { budgetsStore } from '../budget/budgets-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { countsOf } from '../report/read-report.ts';
import { reportStore } from '../report/report-store.ts';
import { backlogStore } from '../sender/backlog-store.ts';
import { costStop } from '../sender/cost-at-release.ts';
import { senderDispatchesStore } from '../sender/dispatches-store.ts';
import { wakingByLimit } from '../sender/number-parts.ts';
import { judgedForRelease } from '../sender/revalidate-dispatch.ts';
import { senderStateStore } from '../sender/sender-state-store.ts';
import { tellEnd } from '../sender/tell-end.ts';
import type { DeployedSender } from '../sender/wake-handler.ts';
import { messagesTable } from './messages-table.ts';
import { deployedAcceptedDispatches, deployedSenderWakes } from './sending.ts';
import { deployedSliceTry } from './slice-try.ts';
import { deployedCountLater } from './spend.ts';
import { deployedTemplateQuestion } from './template-question.ts';

/** Each sender of a number has ports of its own (sender/wake-handler.ts). */
export function deployedSender(): DeployedSender {
  const table = messagesTable();
  const { nowMs } = table;
  const sliceTry = deployedSliceTry();
  const { people: optOuts, events } = sliceTry;
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const asked = { ...deployedDirectory(), templates, holds: holdStore(table), nowMs };
  const budgets = budgetsStore(table);
  const costPorts = {
    ...{ ...deployedDirectory(), dispatches: { recipientsFrom: parameterStore(table).read }, nowMs, optOuts },
    ...{ rates: deployedKnownRates(), budgets },
  };
  // The sender has just written what it asks for.
  const report = reportStore(table, { consistent: true });
  const ending = {
    progressOf: (dispatchId: string) => countsOf(report, dispatchId),
    ...{ spend: { countLater: deployedCountLater() }, events, nowMs, log },
  };
  const wake = deployedSenderWakes();
  const limitOf = limitOfDispatch({ channels: deployedChannels(), log });
  const shared = {
    ...sliceTry,
    holds: { ...sliceTry.holds, askTemplate: deployedTemplateQuestion() },
    statesOf: senderStateStore(table),
    backlog: backlogStore(table),
    dispatches: senderDispatchesStore(table, deployedAcceptedDispatches()),
    judge: (dispatch) => judgedForRelease(dispatch, asked),
    ...{ budgets, costStop: (released) => costStop(released, costPorts) },
    tellEnd: ({ head }) => tellEnd(head.dispatchId, ending),
  } satisfies Partial<ReturnType<DeployedSender>>;
  return (key) => ({ ...shared, ...wakingByLimit(key, { wake, limitOf }) });
}
