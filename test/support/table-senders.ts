import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { countsOf } from '../../lib/messages/report/read-report.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { backlogStore } from '../../lib/messages/sender/backlog-store.ts';
import { senderDispatchesStore } from '../../lib/messages/sender/dispatches-store.ts';
import { wakingByLimit } from '../../lib/messages/sender/number-parts.ts';
import { asAccepted } from '../../lib/messages/sender/revalidate-dispatch.ts';
import type { SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import { senderStateStore } from '../../lib/messages/sender/sender-state-store.ts';
import { tellEnd } from '../../lib/messages/sender/tell-end.ts';
import type { DeployedSender } from '../../lib/messages/sender/wake-handler.ts';
import { noCosts } from './no-costs.ts';
import { type GivenTry, type SenderWorld, type TableRun, tableSliceTry } from './table-slice-try.ts';

interface Given extends GivenTry, Partial<Pick<SenderPorts, 'judge'>> {
  readonly limitPerSecond: number;
}

/** Returns what a sender's function is wired with, over the real stores and queue, in virtual time. */
export function tableSender(
  world: SenderWorld,
  { limitPerSecond, judge = async (dispatch) => asAccepted(dispatch), ...given }: Given,
  run: TableRun,
): DeployedSender {
  const { ports, access, outside, pause, states, wake } = tableSliceTry(world, given, run);
  const { nowMs, log } = ports.process;
  const report = outside(reportStore(access, { consistent: true }));
  const progressOf = (dispatchId: string) => countsOf(report, dispatchId);
  const ending = { progressOf, spend: noCosts.spend, events: ports.events, nowMs, log };
  const stateOf = senderStateStore(access, { pause });
  const { limitOf } = outside({ limitOf: async () => limitPerSecond });
  const shared = {
    ...ports,
    states,
    holds: { ...ports.holds, askTemplate: () => Promise.reject(new Error('no template is read here')) },
    statesOf: (key) => outside(stateOf(key)),
    backlog: outside(backlogStore(access)),
    dispatches: outside(senderDispatchesStore(access, acceptedDispatchesStore(access, pause))),
    judge,
    ...{ budgets: noCosts.budgets, costStop: noCosts.costStop },
    tellEnd: ({ head }) => tellEnd(head.dispatchId, ending),
  } satisfies Partial<ReturnType<DeployedSender>>;
  return (key) => ({ ...shared, ...wakingByLimit(key, { wake, limitOf }) });
}
