import { expect } from 'vitest';
import { type Answer, firstWaba, type SimulatorAtRest } from './simulator.ts';

export const creation = (changes: Readonly<Record<string, unknown>> = {}) => ({
  name: 'order_ready',
  language: 'en_US',
  category: 'MARKETING',
  components: [bodyOf('Hello {{1}}, come and see.')],
  ...changes,
});

export const bodyOf = (text: string, ...examples: readonly string[]) => {
  const count = new Set(text.match(/\{\{\d+\}\}/g)).size;
  const values = examples.length > 0 ? examples : Array.from({ length: count }, (_, index) => `value ${index + 1}`);
  return { type: 'BODY', text, ...(count === 0 ? {} : { example: { body_text: [values] } }) };
};
export const plainBody = { type: 'BODY', text: 'Come and see.' };
export const buttons = (...list: readonly unknown[]) => ({ type: 'BUTTONS', buttons: list });
export const quickReply = (text = 'Yes') => ({ type: 'QUICK_REPLY', text });
export const urlButton = { type: 'URL', text: 'Visit', url: 'https://andes.example.com' };
export const phoneButton = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491150000000' };
export const codeButton = { type: 'COPY_CODE', example: 'SAVE20' };
export const textHeader = (text: string, example?: string) => ({
  type: 'HEADER',
  format: 'TEXT',
  text,
  ...(example === undefined ? {} : { example: { header_text: [example] } }),
});
export const mediaHeader = (format: string, ...handles: readonly string[]) => ({
  type: 'HEADER',
  format,
  example: { header_handle: handles },
});
export const offer = (text = 'Ends soon', hasExpiration = true) => ({
  type: 'LIMITED_TIME_OFFER',
  limited_time_offer: { text, has_expiration: hasExpiration },
});
export const otp = (changes: Readonly<Record<string, unknown>> = {}) => [
  { type: 'BODY', add_security_recommendation: true },
  { type: 'FOOTER', code_expiration_minutes: 10 },
  buttons({ type: 'OTP', otp_type: 'COPY_CODE', ...changes }),
];
export const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };

/** Checks every key of a template-management refusal; `subcode` is undefined when it has none. */
export function expectManagementError(answer: Answer, subcode: number | undefined, message: RegExp): void {
  expect(answer.body).toEqual({
    error: {
      message: 'Invalid parameter',
      type: 'OAuthException',
      code: 100,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      is_transient: false,
      error_user_title: expect.any(String),
      error_user_msg: expect.stringMatching(message),
      fbtrace_id: expect.stringMatching(/^A[\w-]{22}$/),
    },
  });
  expect(answer.status).toBe(400);
}

/** The graph itself refuses with code 100 and the parameter's name. */
export function expectGraphError(answer: Answer, message: RegExp): void {
  expect(answer.body.error).toMatchObject({ code: 100, message: expect.stringMatching(message) });
  expect(answer.body.error).not.toHaveProperty('error_subcode');
  expect(answer.status).toBe(400);
}

/** The demo data has a template of each status. */
export const demoTemplates = {
  orderUpdate: '1100000000000001',
  pending: '1100000000000011',
  disabled: '1100000000000012',
  rejected: '1100000000000013',
  paused: '1100000000000014',
} as const;

/** Shortens the calls for the life of a template on the first WABA. */
export function templateWords(simulator: Pick<SimulatorAtRest, 'get' | 'post' | 'control'>) {
  const read = async (id: string, fields = 'status') => {
    const { id: _, ...rest } = (await simulator.get(id, { fields })).body;
    return rest;
  };
  return {
    create: async (changes: Readonly<Record<string, unknown>> = {}) =>
      (await simulator.post(`${firstWaba}/message_templates`, creation(changes))).body,
    wait: (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds }),
    read,
    statusOf: async (id: string) => (await read(id)).status,
    edit: (id: string, change: unknown) => simulator.post(id, change),
  };
}
