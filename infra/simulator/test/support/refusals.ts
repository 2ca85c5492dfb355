import { afterEach, expect } from 'vitest';
import { PlatformError } from '../../src/errors.ts';
import type { Answer, SimulatorAtRest } from './simulator.ts';

/** Returns the platform's refusal that a rule throws; undefined when it accepts. */
export function refusalIn(rule: () => unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof PlatformError) return error.error;
    throw error;
  }
}

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
export function refusedSends(simulator: Pick<SimulatorAtRest, 'control'>): void {
  afterEach(async () => {
    const { body: messages } = await simulator.control('GET', 'messages?limit=0');
    expect(messages.total, 'nothing refused is recorded').toBe(0);
  });
}
