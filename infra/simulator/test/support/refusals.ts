import { afterEach, expect } from 'vitest';
import { type Answer, firstNumber, type SimulatorAtRest, templateMessage } from './simulator.ts';
import { type SendableTemplate, validSends } from './valid-sends.ts';

/** Checks every key of a messaging refusal. */
export function expectMessagingError(
  answer: Answer,
  status: number,
  code: number,
  details: string | RegExp | undefined,
): void {
  expect(answer.body).toEqual({
    error: {
      message: expect.stringMatching(`^\\(#${code}\\) .+`),
      type: 'OAuthException',
      code,
      error_data: {
        messaging_product: 'whatsapp',
        details: details === undefined ? expect.any(String) : expect.stringMatching(details),
      },
      fbtrace_id: expect.stringMatching(/^A[\w-]{22}$/),
    },
  });
  expect(answer.status).toBe(status);
}

/** The platform must refuse the sends of a file; after every test the simulator must have recorded no message. */
export function refusedSends(simulator: Pick<SimulatorAtRest, 'control' | 'post'>) {
  afterEach(async () => {
    const { body: messages } = await simulator.control('GET', 'messages?limit=0');
    expect(messages.total, 'nothing refused is recorded').toBe(0);
  });
  return {
    refusesSend: async (name: SendableTemplate, components: readonly unknown[], code: number, details?: string) => {
      const message = templateMessage(name, components, validSends[name].language);
      const answer = await simulator.post(`${firstNumber}/messages`, message);
      expectMessagingError(answer, 400, code, details?.replaceAll(/[()[\]]/g, '\\$&'));
    },
  };
}

/** The platform says this about a wrong number of parameters. */
export const mismatch = (received: number, expected: number) =>
  `number of localizable_params (${received}) does not match the expected number of params (${expected})`;
