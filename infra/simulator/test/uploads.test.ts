import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { creation, expectGraphError, expectManagementError, mediaHeader, plainBody } from './support/definitions.ts';
import { type Answer, firstWaba, simulatorOfFile } from './support/simulator.ts';
import { demoApp, sendBytes, uploadedHandle } from './support/simulator-uploads.ts';

const simulator = simulatorOfFile({ afresh: true });

const megabyte = 1_024 * 1_024;
const open = (parameters: Readonly<Record<string, unknown>>) => simulator.post(`${demoApp}/uploads`, parameters);
const opened = async (length: number) =>
  (await open({ file_name: 'photo.png', file_length: length, file_type: 'image/png' })).body.id as string;
const offsetOf = async (
  id: string,
  authorization = 'OAuth demo-platform-token',
): Promise<Pick<Answer, 'status' | 'body'>> => {
  const reply = await fetch(`${simulator.url}/v25.0/${id}`, { headers: { authorization } });
  return { status: reply.status, body: await reply.json() };
};
const create = (handle: string) =>
  simulator.post(`${firstWaba}/message_templates`, creation({ components: [mediaHeader('IMAGE', handle), plainBody] }));

describe('opening a session', () => {
  test.each([
    ['application/pdf', 100],
    ['image/jpeg', 5],
    ['image/jpg', 5],
    ['image/png', 5],
    ['video/mp4', 16],
    ['video/3gpp', 16],
  ])('%s: up to %i MB', async (file_type, most) => {
    const { status, body } = await open({ file_type, file_length: most * megabyte });
    expect([status, body]).toEqual([200, { id: expect.stringMatching(/^upload:[\w-]+$/) }]);
    expectGraphError(await open({ file_type, file_length: most * megabyte + 1 }), /file_length must be at most/);
  });

  test('parameters in the query', async () => {
    const { body } = await simulator.post(
      `${demoApp}/uploads?file_name=a.png&file_length=5&file_type=image/png&session_type=attachment`,
    );
    expect((await offsetOf(body.id)).body).toEqual({ id: body.id, file_offset: 0 });
  });

  test.each<[RegExp, Record<string, unknown>]>([
    [/file_length is required/, { file_type: 'image/png' }],
    [/file_type is required/, { file_length: 5 }],
    [/file_type must be one of/, { file_length: 5, file_type: 'image/webp' }],
    [/file_length/, { file_length: 0, file_type: 'image/png' }],
    [/file_length/, { file_length: 1.5, file_type: 'image/png' }],
    [/file_length/, { file_length: 'many', file_type: 'image/png' }],
    [/Unexpected key "size"/, { file_length: 5, file_type: 'image/png', size: 5 }],
  ])('%s: %o', async (message, parameters) => {
    expectGraphError(await open(parameters), message);
  });

  test('an app that is not the one of the token', async () => {
    const parameters = { file_length: 5, file_type: 'image/png' };
    for (const id of ['100000000000002', '5']) {
      const { status, body } = await simulator.post(`${id}/uploads`, parameters);
      expect([status, body.error.code, body.error.error_subcode]).toEqual([400, 100, 33]);
    }
  });
});

describe('sending the bytes', () => {
  test('in one go: a handle that a template may use, and that names the type', async () => {
    const id = await opened(5);
    const { status, body } = await sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('12345') });
    expect([status, body]).toEqual([200, { h: expect.stringMatching(/^4::aW1hZ2UvcG5n:AR[\w-]+$/) }]);
    expect((await create(body.h)).status).toBe(200);
  });

  test('in parts: no handle before the last byte; another upload has another handle', async () => {
    const id = await opened(5);
    expect((await sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('123') })).body).toEqual({
      id,
      file_offset: 3,
    });
    expectManagementError(await create('4::aW1hZ2UvcG5n:AR'), 2388047, /completed upload/);
    expect((await offsetOf(id)).body).toEqual({ id, file_offset: 3 });
    const tooMuch = await sendBytes(simulator, { id, offset: 3, bytes: Buffer.from('456') });
    expect([tooMuch.status, tooMuch.body.error.code]).toEqual([400, 100]);
    const { body } = await sendBytes(simulator, { id, offset: 3, bytes: Buffer.from('45') });
    expect(body.h).toMatch(/^4::/);
    expect(await uploadedHandle(simulator, 'image/png', 5)).not.toBe(body.h);
  });

  test('the same bytes of the same session give the same handle, whatever the parts', async () => {
    const whole = (await sendBytes(simulator, { id: await opened(4), offset: 0, bytes: Buffer.from('1234') })).body.h;
    await simulator.control('POST', 'reset');
    const id = await opened(4);
    await sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('1') });
    expect((await sendBytes(simulator, { id, offset: 1, bytes: Buffer.from('234') })).body.h).toBe(whole);
  });

  test('cut off on the way: resumed from what arrived', async () => {
    const id = await opened(2_000_000);
    await cutOff(id, 2_000_000, Buffer.alloc(1_000_000, 1));
    await expect.poll(async () => (await offsetOf(id)).body.file_offset).toBeGreaterThan(0);
    const { file_offset: offset } = (await offsetOf(id)).body;
    expect(offset).toBeLessThanOrEqual(1_000_000);
    const { body } = await sendBytes(simulator, { id, offset, bytes: Buffer.alloc(2_000_000 - offset, 1) });
    expect((await create(body.h)).status).toBe(200);
  });

  test('the answer lost: asked again with nothing to send, it is given again', async () => {
    const id = await opened(5);
    await simulator.control('POST', 'faults', { match: { path: 'upload:' }, action: { drop: 'after' }, times: 1 });
    await expect(sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('12345') })).rejects.toThrow();
    expect((await offsetOf(id)).body.file_offset).toBe(5);
    const { body } = await sendBytes(simulator, { id, offset: 5, bytes: new Uint8Array(0) });
    expect((await create(body.h)).status).toBe(200);
  });

  test('the connection closed before anything was taken: nothing arrived', async () => {
    const id = await opened(5);
    await simulator.control('POST', 'faults', { match: { path: 'upload:' }, action: { drop: 'before' }, times: 1 });
    await expect(sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('12345') })).rejects.toThrow();
    expect((await offsetOf(id)).body.file_offset).toBe(0);
  });

  test('a document of 100 MB passes', async () => {
    expect(await uploadedHandle(simulator, 'application/pdf', 100 * megabyte)).toMatch(/^4::YXBwbGljYXRpb24vcGRm:AR/);
  });

  test.each<[RegExp, { offset?: number; bytes: string }]>([
    [/file_offset is required/, { bytes: '12345' }],
    [/file_offset must be 0 - got 2/, { offset: 2, bytes: '345' }],
    [/More bytes than the file_length of 5/, { offset: 0, bytes: '123456' }],
  ])('%s: nothing is taken', async (message, { bytes, ...offset }) => {
    const id = await opened(5);
    const { status, body } = await sendBytes(simulator, { id, ...offset, bytes: Buffer.from(bytes) });
    expect([status, body.error]).toEqual([
      400,
      expect.objectContaining({ code: 100, message: expect.stringMatching(message) }),
    ]);
    expect((await offsetOf(id)).body.file_offset).toBe(0);
  });

  test('bytes are counted, not shown, in the list of requests', async () => {
    await uploadedHandle(simulator, 'image/png', 5);
    const { body } = await simulator.control('GET', 'requests?path=upload:');
    expect(body.data[0]).toMatchObject({ method: 'POST', body: { bytes: 5 }, status: 200 });
  });
});

describe('who may', () => {
  test.each([
    ['Bearer no-such-token', 401, 190],
    ['OAuth no-such-token', 401, 190],
    ['OAuth expired-platform-token', 401, 190],
    ['OAuth second-waba-platform-token', 400, 100],
  ])('%s: %i, code %i', async (authorization, status, code) => {
    const id = await opened(5);
    const sent = await sendBytes(simulator, { id, offset: 0, bytes: Buffer.from('12345'), authorization });
    expect([sent.status, sent.body.error.code]).toEqual([status, code]);
    const asked = await offsetOf(id, authorization);
    expect([asked.status, asked.body.error.code]).toEqual([status, code]);
    expect((await offsetOf(id)).body.file_offset).toBe(0);
  });

  test('a session that was never opened: code 100, subcode 33', async () => {
    const { status, body } = await offsetOf('upload:none');
    expect([status, body.error.code, body.error.error_subcode]).toEqual([400, 100, 33]);
  });
});

/** Announces a whole file, sends only its beginning and closes the connection. */
function cutOff(id: string, length: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = request(`${simulator.url}/v25.0/${id}`, {
      method: 'POST',
      headers: { authorization: 'OAuth demo-platform-token', file_offset: '0', 'content-length': length },
    });
    outgoing.on('error', () => resolve());
    outgoing.write(bytes, () => outgoing.destroy(new Error('cut off')));
  });
}
