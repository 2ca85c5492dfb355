import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import type { Context, SQSEvent } from 'aws-lambda';

/* Runs a function from its source, and counts the frames of `functions` and `lib` on the stack when it calls the
   transport of the platform. The function's name is that of the file in the environment. */

Error.stackTraceLimit = 200;
let frames: readonly string[] = [];

const { request } = http;
http.request = ((asked: { readonly path?: string }, ...others: never[]) => {
  const lines = new Error('a call').stack?.split('\n') ?? [];
  const own = lines.filter((line) => /\/(?:functions|lib)\//.test(line));
  if (asked.path?.endsWith('/messages')) frames = own.filter((line) => !line.includes('platform/transport.ts'));
  return (request as (...args: unknown[]) => unknown)(asked, ...others);
}) as typeof request;
syncBuiltinESMExports();

const name = basename(process.env['SOURCE_OF_FUNCTION'] ?? '');
const { handler: original } = await import(`../../functions/${name}.ts`);

export async function handler(event: SQSEvent, context: Context): Promise<{ readonly frames: readonly string[] }> {
  await original(event, context);
  return { frames };
}
