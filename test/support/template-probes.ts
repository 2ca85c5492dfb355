import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { addressOf } from './addresses.ts';
import { type ApiReply, api, call, type DemoUser, platform, synchronize, tokenOf } from './api.ts';
import { eraseTemplate } from './erase-template.ts';
import { runningTarget } from './running-target.ts';

export const sharedDid = '5491100000001';
export const sharedWaba = '200000000000001';
export const plainBody = { type: 'BODY', text: 'Your order is ready to be picked up.' };

export const created = { status: 200, body: { status: 'PENDING', category: 'UTILITY' } };

export interface Draft {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly components: readonly unknown[];
  readonly [field: string]: unknown;
}

export interface CreateOptions {
  readonly user?: DemoUser;
  readonly did?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Creates a template over HTTP; `body` is sent as JSON, and text or bytes unchanged. */
export async function create(body: unknown, options: CreateOptions = {}): Promise<ApiReply> {
  const { user = 'supervisor1001', did = sharedDid, query = '', headers = {} } = options;
  return api(`POST /v1/templates/${did}${query}`, { token: await tokenOf(user), body, headers });
}

/** Lets the platform's reviews finish, and synchronizes their results. */
export async function reviewAll(): Promise<void> {
  await platform('POST /_control/clock', { advance_seconds: 61 });
  await synchronize('supervisor1001');
}

/** Creates a template under a unique name; returns the creator's id and the platform's id. */
export async function createdTemplate(draft: Draft): Promise<{ id: string; platformId: string; name: string }> {
  const { status, text, body } = await create(draft);
  if (status !== 200) throw new Error(`creation of ${draft.name} answered ${status} ${text}`);
  return { id: (await listedTemplate(1001, draft.name)).id, platformId: body.id, name: draft.name };
}

/** Edits a template over HTTP; `body` is sent as JSON, and text or bytes unchanged. */
export async function edit(
  id: string,
  body: unknown,
  { user = 'supervisor1001', did = sharedDid, query = '', headers = {} }: CreateOptions = {},
): Promise<ApiReply> {
  const route = `PUT /v1/templates/${did}/${encodeURIComponent(id)}${query}`;
  return api(route, { token: await tokenOf(user), body, headers });
}

/** Deletes a template over HTTP. */
export async function remove(
  id: string,
  { user = 'supervisor1001', did = sharedDid, query = '' }: CreateOptions = {},
): Promise<ApiReply> {
  return api(`DELETE /v1/templates/${did}/${encodeURIComponent(id)}${query}`, { token: await tokenOf(user) });
}

/** Returns the entry of a client's listing with this template name, or undefined. */
export async function listedTemplate(clientId: number, name: string, query = '') {
  const token = await tokenOf('operator');
  const { body } = await api(`GET /v1/templates?client_id=${clientId}&name=${name}${query}`, { token });
  return body.data[0];
}

/** Counts the creations that have reached the platform. */
export async function creationsAsked(wabaId = sharedWaba): Promise<number> {
  const { body } = await platform(`GET /_control/requests?method=POST&path=${wabaId}/message_templates&limit=0`);
  return body.total;
}

/** The creation must be refused so; `at` are the paths of its faults. */
export interface Refused {
  readonly status?: number;
  readonly code?: string;
  readonly message: string;
  readonly at?: readonly string[];
}

/** Sends a creation that must be refused, by default with 400 `invalid_request`, and must not reach the platform. */
export async function expectRefused(
  ask: () => Promise<ApiReply>,
  { status = 400, code = 'invalid_request', message, at }: Refused,
): Promise<void> {
  const before = await creationsAsked();
  const reply = await ask();
  expect([reply.status, reply.body?.code, reply.body?.message]).toEqual([status, code, message]);
  if (at !== undefined) expect(reply.body.errors.map(({ path }: { path: string }) => path)).toEqual(at);
  expect(await creationsAsked()).toBe(before);
}

/** Returns the body of the platform's newest request whose path contains this text. */
export async function lastSent(path = 'message_templates', method = 'POST') {
  const { body } = await platform(`GET /_control/requests?method=${method}&path=${path}&limit=1`);
  return body.data[0].body;
}

/** Lets an hour pass at the platform, which allows 100 creations an hour. */
export async function freshHour(): Promise<void> {
  await platform('POST /_control/clock', { advance_seconds: 3_600 });
}

/**
 * Makes templates of a test file under unique names. The platform has room for their creation, and at the end of the
 * file both the platform and the store lose them.
 */
export function templateProbes() {
  const mark = `probe_${randomUUID().slice(0, 8)}`;
  const drafts: Draft[] = [];
  beforeAll(freshHour);
  afterAll(async () => {
    await platform('DELETE /_control/faults');
    for (const wabaId of [sharedWaba, '200000000000002']) {
      const path = `GET /v25.0/${wabaId}/message_templates?name=${mark}&fields=id&limit=1000`;
      const { body } = await call(addressOf('platformUrl'), path, { token: 'demo-platform-token' });
      for (const { id } of body.data) await platform(`DELETE /_control/templates/${id}`);
      for (const { name, language } of drafts) await eraseTemplate(runningTarget(), name, { wabaId, language });
    }
  });
  return {
    /** Makes a valid request with `changes`. */
    draft: (changes: Readonly<Record<string, unknown>> = {}): Draft => {
      const name = `${mark}_${drafts.length}`;
      const draft = { name, language: 'en_US', category: 'UTILITY', components: [plainBody], ...changes };
      drafts.push(draft);
      return draft;
    },
  };
}

/** Returns the status and body of an answer, for comparison as a whole. */
export function said({ status, body }: ApiReply): readonly [number, unknown] {
  return [status, body];
}
