import type { Context } from 'aws-lambda';
import { hostileBodies } from './hostile-bodies.ts';
import { makeHttpEvent } from './http-event.ts';

/* This process sends one hostile body to one page. It prints the status and the largest growth of the resident set in
   megabytes. Its arguments are operation, body, bytes. */

const [operation = '', bodyName = '', bytes = ''] = process.argv.slice(2);
const page = await import(`../../functions/${operation}.ts`);
const factory = page[operation.replace(/-./g, ([, letter]) => String(letter).toUpperCase())];
const token = { userId: 'u-1', clientId: 1001, permissions: [], expiresAtSeconds: 4_000_000_000 };
const event = makeHttpEvent({
  token,
  body: hostileBodies[bodyName]?.(Number(bytes)) ?? '',
  pathParameters: { did: '5491100000001', messageTemplateId: 'unknown' },
});

const before = process.resourceUsage().maxRSS;
const { statusCode } = await factory({ nowMs: Date.now })(event, {} as Context);
const grownMb = Math.round((process.resourceUsage().maxRSS - before) / 1024);
process.stdout.write(`\n${JSON.stringify({ statusCode, grownMb })}`);
