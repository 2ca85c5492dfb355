import { clocksApartMs } from '../../lib/aws/leased-run.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { runSlice } from '../../lib/messages/send/claims/run-slice.ts';
import { everyMsOf, sharedOut } from '../../lib/messages/sender/places.ts';
import { sendSmallRequest } from '../../lib/messages/sender/small-request.ts';
import type { Run } from './runs.ts';
import { SenderWorld } from './sender-world.ts';
import { type Consumer, post, type RunClock } from './world-consumers.ts';
import type { Answer } from './world-parts.ts';

/** A world of senders in which urgent dispatches of up to ten are small requests, with workers of their own. */
export class SmallSenderWorld extends SenderWorld {
  protected override consumers(): Consumer[] {
    const queue = this.queues.small;
    const handle: Consumer['handle'] = (batch, run, clock) =>
      this.#work(
        batch.map(({ messageId, body }) => ({ messageId, dispatchId: body })),
        run,
        clock,
      );
    return [...super.consumers(), { name: 'small', queue, workers: 20, batchSize: 10, timeoutMs: 60_000, handle }];
  }

  protected override async accepting(dispatch: WholeDispatch, run: Run): Promise<Answer> {
    const { head } = dispatch;
    if (head.urgent !== true || head.total > 10) return await super.accepting(dispatch, run);
    await run.call('enqueueStraight', () => this.queues.small.send(head.dispatchId));
    await run.call('beginAccepted', () => this.table.begin(head));
    return 'accepted';
  }

  async #work(
    batch: readonly { readonly messageId: string; readonly dispatchId: string }[],
    run: Run,
    clock: RunClock,
  ): Promise<readonly string[]> {
    const requests = batch.flatMap(({ messageId, dispatchId }) => {
      const { dispatch } = this.accepted.find((each) => each.dispatch.head.dispatchId === dispatchId) ?? {};
      return dispatch === undefined ? [] : [{ messageId, dispatch, size: dispatch.head.total }];
    });
    const [first] = requests;
    if (first === undefined) return [];
    const { phoneNumberId } = first.dispatch.head;
    const nowMs = clock.nowMs();
    const state = await run.call('findLease', () => this.backlog.states.get(`${phoneNumberId} 0`)?.state);
    const lease = state?.lease;
    const isSending = lease !== undefined && lease.untilMs + clocksApartMs > nowMs;
    const share = isSending ? 'tenth' : 'free';
    const pace = this.numbers.paceOf(phoneNumberId);
    const everyMs = everyMsOf(share, this.rules.limitPerSecond, pace, nowMs);
    const count = requests.reduce((sum, { size }) => sum + size, 0);
    const shared = sharedOut(
      requests,
      await this.places.ofRun(run).take(phoneNumberId, share, { count, everyMs, nowMs }),
    );
    const ends = await Promise.all(
      requests.map(async (request) => {
        const end = await this.#send(request.dispatch, shared.get(request), { run, clock });
        return end === 'again' ? [request.messageId] : [];
      }),
    );
    return ends.flat();
  }

  async #send(
    { head, ...rest }: WholeDispatch,
    places: readonly number[] | undefined,
    { run, clock }: { readonly run: Run; readonly clock: RunClock },
  ) {
    const { dispatchId, phoneNumberId } = head;
    const { slices } = this.stores.ofWorker(run, clock.nowMs);
    const { nowMs, invocation } = clock;
    const key = { dispatchId, slice: 0 };
    return await sendSmallRequest(places, {
      tryOnce: async (at) =>
        await runSlice(
          {
            claim: { key, try: 0, owner: `${invocation}/${dispatchId}`, atMs: nowMs(), size: head.total },
            recipients: new Map(rest.recipients.map(({ to }, index) => [index, { index, to }])),
          },
          {
            slices,
            look: async () => ({
              heldBack: async () => undefined,
              proven: new Set(),
              barred: new Map(),
              ofDead: { state: 'unknown', code: 'worker_lost' },
            }),
            markUnknown: async () => undefined,
            proven: async () => new Set(),
            call: async ({ index, to = '' }) => {
              await run.pause(Math.max(0, (at[index] ?? 0) - nowMs()));
              const request = { to, biz_opaque_callback_data: `${dispatchId}-${index}` };
              try {
                const { platformMessageId } = await run.call('send', () =>
                  post(this, { request, phoneNumberId } as unknown as Parameters<typeof post>[1]),
                );
                return { state: 'sent', platformMessageId };
              } catch {
                return { state: 'again', dueMs: nowMs() };
              }
            },
            nowMs,
            mayRepeat: async () => false,
            claimLifeMs: 150_000,
            retryMs: nowMs,
          },
        ),
      tell: async () => undefined,
      store: async () => await run.call('store', () => this.table.store({ head, ...rest })),
      begin: async () => await run.call('beginAccepted', () => this.table.begin(head)),
      enterInFront: async () => await run.call('enterInFront', () => this.backlog.enter(head, { front: true })),
      wake: async () => await run.call('wakeSender', () => this.wakeSender(phoneNumberId)),
    });
  }
}
