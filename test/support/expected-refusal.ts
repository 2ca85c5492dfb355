import { expect } from 'vitest';
import type { ApiReply } from './api.ts';

/** Expects these keys of a refusal and no others, and nothing internal (D1, R5). */
export function expectRefusal(reply: ApiReply, status: number, code?: string): void {
  expect([reply.status, reply.body?.code]).toEqual([status, code ?? expect.stringMatching(/^[a-z_]+$/)]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.body.message).toEqual(expect.stringMatching(/\w/));
  const optional = Object.keys(reply.body).filter((key) => !['message', 'code'].includes(key));
  for (const key of optional) expect(['errors', 'platform_code']).toContain(key);
  for (const fault of reply.body.errors ?? []) expect(Object.keys(fault).sort()).toEqual(['message', 'path']);
  expect(reply.text).not.toMatch(
    /\n\s+at |\.ts:|\.mjs:|node:|node_modules|Exception|ECONN|127\.0\.0\.1|<html|fbtrace/i,
  );
}
