import { recipient, type SimulatorAtRest } from './simulator.ts';

/** Sends to the inbox of the first number's recipient, and the control paths of its messages. */
export function inboxOf(simulator: Pick<SimulatorAtRest, 'send'>) {
  return {
    sent: async (callbackData = 'mine'): Promise<string> => {
      const { body } = await simulator.send(recipient, { biz_opaque_callback_data: callbackData });
      return body.messages[0].id;
    },
    at: (id: string, rest = '') => `messages/${encodeURIComponent(id)}${rest}`,
  };
}
