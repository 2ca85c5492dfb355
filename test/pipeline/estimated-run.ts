import { expectedEndMs } from '../../lib/messages/rehearse/expected-end.ts';
import { type WaitingDispatch, waitingOf } from '../../lib/messages/rehearse/waiting-dispatches.ts';
import { makeDispatchHead } from '../support/made-dispatches.ts';
import { accept, limitPerSecond, quietRules } from './quiet-world.ts';
import { PipelineWorld } from './world.ts';

/**
 * Returns the estimate of a dispatch at its acceptance, and its duration until its last message left. `before` prepares
 * the world, and takes its time.
 */
export async function estimatedRun(
  size: number,
  {
    before,
    urgent,
    perSecond = limitPerSecond,
  }: {
    readonly before?: (world: PipelineWorld) => Promise<void> | void;
    readonly urgent?: true;
    readonly perSecond?: number;
  } = {},
): Promise<{ readonly estimatedMs: number; readonly ranMs: number }> {
  // So many workers keep up with any number.
  const world = new PipelineWorld(quietRules({ limitPerSecond: perSecond, workers: 200 }));
  let dispatchId = '';
  let fromMs = 0;
  let estimatedMs = 0;
  void (async () => {
    await before?.(world);
    fromMs = world.time.nowMs;
    const { phoneNumberId } = makeDispatchHead();
    const waiting = waitingIn(world);
    dispatchId = accept(world, size, urgent === undefined ? {} : { urgent });
    const dispatch = world.accepted.find((each) => each.dispatch.head.dispatchId === dispatchId)?.dispatch;
    if (dispatch === undefined) throw new Error('the dispatch was not accepted');
    const number = { limitPerSecond: perSecond, pace: world.paces.of(phoneNumberId), nowMs: fromMs };
    estimatedMs = expectedEndMs({ ...dispatch, ...number, waiting }) - fromMs;
  })();
  await world.run(10 * 3_600_000);
  const posts = world.platform.posts.filter(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
  if (posts.length < size) throw new Error(`only ${posts.length} of ${size} messages left`);
  return { estimatedMs, ranMs: Math.max(...posts.map(({ atMs }) => atMs)) - fromMs };
}

/** As waiting-dispatches-store.ts reads it. */
function waitingIn({ backlog, table, accepted }: PipelineWorld): readonly WaitingDispatch[] {
  const heads = new Map(accepted.map(({ dispatch: { head } }) => [head.dispatchId, head]));
  const read = [...backlog.entries.values()].map((entry) => {
    const head = heads.get(entry.dispatchId);
    return { entry, item: { ...table.dispatches.get(entry.dispatchId), head: head && JSON.stringify(head) } };
  });
  return waitingOf(read, []);
}
