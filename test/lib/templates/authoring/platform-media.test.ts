import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { refusalOf } from '../../../../lib/platform/refusals.ts';
import { platformTransport } from '../../../../lib/platform/transport.ts';
import { platformMedia } from '../../../../lib/templates/authoring/platform-media.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** The platform answers with JSON and a status, or with 'reset', which closes the connection after the request. */
type Step = { readonly status?: number; readonly body: unknown } | 'reset';

const opened: Step = { body: { id: 'upload:abc==?sig=s-1' } };
const done: Step = { body: { h: '4::aW1h:AR' } };
const file = { bytes: Buffer.from([0, 1, 2, 253, 254, 255]), type: 'image/png', name: 'lo go&.png' };

/** Uploads a file to a platform with these answers, and returns the requests as well. */
async function uploadAgainst(steps: readonly Step[]) {
  const asked: unknown[] = [];
  const left = [...steps];
  const server = createServer((request, response) => answer(request, response, { asked, step: left.shift() }));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const call = platformTransport({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    version: 'v25.0',
    timeoutMs: 5_000,
  });
  const upload = platformMedia(call, async (name) => ({ accessToken: `token of ${name}`, appId: '777' }));
  const result = await upload('demo', file, () => 5_000).catch((error: unknown) => error);
  return { result, asked };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { asked, step }: { readonly asked: unknown[]; readonly step: Step | undefined },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization, file_offset: offset, 'content-type': type } = request.headers;
  asked.push({
    line: `${request.method} ${request.url}`,
    authorization,
    ...(offset === undefined ? {} : { offset, type, bytes: [...Buffer.concat(chunks)] }),
  });
  if (step === undefined || step === 'reset') request.socket.destroy();
  else response.writeHead(step.status ?? 200).end(JSON.stringify(step.body));
}

const authorization = 'OAuth token of demo';
const openingAsked = {
  line: 'POST /v25.0/777/uploads?file_name=lo+go%26.png&file_length=6&file_type=image%2Fpng',
  authorization,
};
const session = '/v25.0/upload:abc==?sig=s-1';
const piece = (offset: number) => ({
  line: `POST ${session}`,
  authorization,
  offset: String(offset),
  type: 'application/octet-stream',
  bytes: [...file.bytes.subarray(offset)],
});
const offsetAsked = { line: `GET ${session}`, authorization };

describe('an upload', () => {
  test('is opened with the facts of the file and gets the bytes as they are', async () => {
    const { result, asked } = await uploadAgainst([opened, done]);
    expect({ result, asked }).toEqual({ result: '4::aW1h:AR', asked: [openingAsked, piece(0)] });
  });

  test.each([0, 4, 6])('that breaks off goes on from byte %i', async (offset) => {
    const stand: Step = { body: { id: 'upload:abc==?sig=s-1', file_offset: offset } };
    const { result, asked } = await uploadAgainst([opened, 'reset', stand, done]);
    expect({ result, asked }).toEqual({
      result: '4::aW1h:AR',
      asked: [openingAsked, piece(0), offsetAsked, piece(offset)],
    });
  });

  test('that breaks off twice is given up', async () => {
    const { result, asked } = await uploadAgainst([opened, 'reset', { body: { file_offset: 4 } }, 'reset']);
    expect(result).toBeInstanceOf(PlatformFailure);
    expect(asked).toHaveLength(4);
  });

  test('that was answered with an error is not resumed', async () => {
    const { result, asked } = await uploadAgainst([opened, { status: 503, body: {} }]);
    expect(result).toBeInstanceOf(PlatformFailure);
    expect(asked).toHaveLength(2);
  });
});

const error = (code: number) => ({ error: { code, message: 'm', error_user_msg: 'Not this file.' } });

test.each<[string, readonly Step[], string, number]>([
  ['no answer to the opening', ['reset'], 'ambiguous', 502],
  ['no answer to the question where it stands', [opened, 'reset', 'reset'], 'ambiguous', 502],
  ['a session without id', [{ body: {} }], 'ambiguous', 502],
  ['an id that leads elsewhere', [{ body: { id: '777/messages' } }], 'ambiguous', 502],
  ['a handle that is empty', [opened, { body: { h: '' } }], 'ambiguous', 502],
  ['an offset that is none', [opened, 'reset', { body: { file_offset: '4' } }, done], 'ambiguous', 502],
  ['a negative offset', [opened, 'reset', { body: { file_offset: -1 } }, done], 'ambiguous', 502],
  ['an offset behind the end', [opened, 'reset', { body: { file_offset: 7 } }, done], 'ambiguous', 502],
  ['a refused file', [{ status: 400, body: error(100) }], 'refused', 400],
  ['refused bytes', [opened, { status: 400, body: error(100) }], 'refused', 400],
  ['a limited rate', [{ status: 400, body: error(4) }], 'refused', 429],
  ['a token that does not count', [{ status: 401, body: error(190) }], 'refused', 502],
])('%s', async (_, steps, kind, status) => {
  const { result } = await uploadAgainst(steps);
  if (!(result instanceof PlatformFailure)) throw new Error(`no failure but ${String(result)}`);
  expect([result.kind, refusalOf(result).status]).toEqual([kind, status]);
});
