import * as v from 'valibot';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { clientEndpoint } from '../../../lib/access/client-endpoint.ts';
import { answer, shaped } from '../../../lib/http/answer.ts';
import { type BodyReader, noBody } from '../../../lib/http/body.ts';
import { sourceAddressOf } from '../../../lib/http/edge-guard.ts';
import { publicEndpoint } from '../../../lib/http/public-endpoint.ts';
import { Refusal } from '../../../lib/http/refusal.ts';
import { callEndpoint, makeHttpEvent } from '../../support/http-event.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Answers with its request's source and headers. */
function echo({ edge = false, body = noBody }: { readonly edge?: boolean; readonly body?: BodyReader } = {}) {
  vi.stubEnv('BEHIND_EDGE', String(edge));
  return publicEndpoint(body, async (event) =>
    answer(200, shaped(v.unknown(), { source: sourceAddressOf(event), headers: Object.keys(event.headers) })),
  );
}

const edgeKeys = 'key-two,key-one';
const from = (
  headers: Readonly<Record<string, string>>,
  stageVariables: Record<string, string | undefined> = { edgeKeys },
) => ({
  ...makeHttpEvent({ headers }),
  stageVariables,
});
const viewer = { 'cloudfront-viewer-address': '203.0.113.7:46532' };

describe('without an edge', () => {
  test.each([{}, viewer, { ...viewer, 'x-origin-key': 'made-up' }])('headers say nothing: %j', async (headers) => {
    expect(await callEndpoint(echo(), from(headers))).toMatchObject({ status: 200, body: { source: '127.0.0.1' } });
  });
});

describe('behind an edge', () => {
  test.each(['key-one', 'key-two'])('a request that shows %s came from the viewer', async (key) => {
    const reply = await callEndpoint(echo({ edge: true }), from({ ...viewer, 'x-origin-key': key }));
    expect(reply).toMatchObject({ status: 200, body: { source: '203.0.113.7' } });
  });

  test.each([
    [{}],
    [{ 'x-origin-key': '' }],
    [{ 'x-origin-key': 'made-up' }],
    [{ 'x-origin-key': 'KEY-ONE' }],
    [{ 'x-origin-key': 'key-one key-two' }],
    [{ 'x-origin-key': edgeKeys }],
    [{ 'x-edge-key': 'key-one' }],
  ])('any other is refused, whatever it says of its viewer: %j', async (headers) => {
    const reply = await callEndpoint(echo({ edge: true }), from({ ...viewer, ...headers }));
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 403,
      body: { message: 'this service answers at its public address only', code: 'edge_required' },
    });
  });

  test.each([{}, { edgeKeys: '' }, { edgeKeys: ',' }])(
    'a stage that names no key takes nothing: %j',
    async (variables) => {
      for (const key of ['', 'key-one', ',']) {
        const reply = await callEndpoint(echo({ edge: true }), from({ ...viewer, 'x-origin-key': key }, variables));
        expect(reply).toMatchObject({ status: 403, body: { code: 'edge_required' } });
      }
    },
  );

  test('nothing of it is read before: no body, and not who is calling', async () => {
    const body = vi.fn<BodyReader>();
    const nowMs = vi.fn(() => 0);
    const page = echo({ edge: true, body });
    const clientPage = clientEndpoint({ nowMs }, body, async () => answer(200, shaped(v.unknown(), {})));
    for (const each of [page, clientPage]) {
      expect(await callEndpoint(each, from({ 'x-origin-key': 'made-up' }))).toMatchObject({ status: 403 });
    }
    expect(body).not.toHaveBeenCalled();
    expect(nowMs).not.toHaveBeenCalled();
  });

  test('the key is shown to no page', async () => {
    const reply = await callEndpoint(echo({ edge: true }), from({ 'x-origin-key': 'key-one', accept: '*/*' }));
    expect(reply.body.headers).toEqual(['accept']);
  });

  test.each([
    ['2001:db8::1:46532', '2001:db8::1'],
    ['2001:db8:1:2:3:4:5:6:443', '2001:db8:1:2:3:4:5:6'],
    ['::ffff:203.0.113.7:443', '::ffff:203.0.113.7'],
    ['203.0.113.7', '127.0.0.1'],
    ['203.0.113.7:46532,198.51.100.1:1', '127.0.0.1'],
    ['unknown', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('a viewer at %j came from %s', async (address, source) => {
    const headers = { 'cloudfront-viewer-address': address, 'x-origin-key': 'key-one' };
    expect(await callEndpoint(echo({ edge: true }), from(headers))).toMatchObject({ status: 200, body: { source } });
  });

  test('a caller refused with 401 is logged by the viewer address, which the access log cannot do', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.stubEnv('BEHIND_EDGE', 'true');
    const refusing = publicEndpoint(noBody, async () => {
      throw new Refusal('invalid_credentials', 'never shown');
    });
    await callEndpoint(refusing, from({ ...viewer, 'x-origin-key': 'key-one' }));
    await callEndpoint(refusing, from(viewer));
    vi.stubEnv('BEHIND_EDGE', '');
    const withoutEdge = publicEndpoint(noBody, async () => {
      throw new Refusal('invalid_credentials', 'never shown');
    });
    await callEndpoint(withoutEdge, from(viewer));
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toEqual([
      expect.objectContaining({ event: 'request.unauthorized', route: 'GET /test', viewerAddress: '203.0.113.7' }),
    ]);
  });
});
