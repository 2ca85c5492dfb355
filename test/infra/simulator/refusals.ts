import { expect } from 'vitest';
import type { Answer } from '../../support/simulator.ts';

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
