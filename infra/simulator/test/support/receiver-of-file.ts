import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type CallbackReceiver, callbackReceiver } from './callback-receiver.ts';
import type { SimulatorAtRest } from './simulator.ts';

/** The simulator posts webhooks to this app of the demo data. */
export const demoApp = '500000000000001';

/**
 * Receives the demo app's webhooks in a test file. Before every test it is empty, and the app has these settings; the
 * callback address is the receiver's by default. It works only while tests run.
 */
export function receiverOfFile(simulator: Pick<SimulatorAtRest, 'control'>, settings: object = {}) {
  let started: CallbackReceiver | undefined;
  const receiver = (): CallbackReceiver => {
    if (started === undefined) throw new Error('no test runs');
    return started;
  };
  beforeAll(async () => {
    started = await callbackReceiver();
  });
  beforeEach(async () => {
    await simulator.control('POST', `apps/${demoApp}`, { callback_url: receiver().url, ...settings });
    receiver().forget();
  });
  afterAll(() => started?.stop());
  const wait = (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds });
  return {
    wait,
    get url() {
      return receiver().url;
    },
    get origin() {
      return receiver().origin;
    },
    get calls() {
      return receiver().calls;
    },
    posts: () => receiver().calls.filter(({ method }) => method === 'POST'),
    answerWith: (...statuses: readonly number[]) => receiver().answerWith(...statuses),
    updates: () => receiver().updates(),
    /** Returns all updates so far, after everything that is due. */
    told: async () => {
      await wait(0);
      return receiver().updates();
    },
    forget: () => receiver().forget(),
  };
}
