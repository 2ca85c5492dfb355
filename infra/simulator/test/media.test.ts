import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { callbackReceiver } from './support/callback-receiver.ts';
import { body, firstNumber, header, recipient, simulatorOfFile, thirdNumber } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });

const authorization = 'Bearer demo-platform-token';
const bytes = new Uint8Array([137, 80, 78, 71, 0, 255]);

async function upload(fields: Readonly<Record<string, string>> = {}, file: Blob | null = png(bytes)) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ messaging_product: 'whatsapp', ...fields })) form.set(name, value);
  if (file !== null) form.set('file', file, 'photo.png');
  const url = `${simulator.url}/v25.0/${firstNumber}/media`;
  const reply = await fetch(url, { method: 'POST', headers: { authorization }, body: form });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: reply.status, body: (await reply.json()) as any };
}

function png(content: Uint8Array<ArrayBuffer>): Blob {
  return new Blob([content], { type: 'image/png' });
}

test('uploaded, read, fetched and deleted', async () => {
  const { id } = (await upload()).body;
  expect(id).toMatch(/^\d{16}$/);
  const { body } = await simulator.get(id, { phone_number_id: firstNumber });
  expect(body).toEqual({
    messaging_product: 'whatsapp',
    url: expect.stringContaining(id),
    mime_type: 'image/png',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    file_size: bytes.byteLength,
    id,
  });
  const fetched = await fetch(body.url, { headers: { authorization } });
  expect(fetched.headers.get('content-type')).toBe('image/png');
  expect(new Uint8Array(await fetched.arrayBuffer())).toEqual(bytes);
  expect((await fetch(body.url)).status).toBe(401);
  expect((await simulator.call('DELETE', `/v25.0/${id}`)).body).toEqual({ success: true });
  expect((await simulator.get(id)).body.error).toMatchObject({ code: 100, error_subcode: 33 });
});

test('the address is good for 5 minutes, the id for 30 days or what was asked for', async () => {
  const { id } = (await upload()).body;
  const short = (await upload({ ttl_minutes: '10' })).body.id;
  const { url } = (await simulator.get(id)).body;
  const wait = (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds });
  const statusAt = async (address: string) => (await fetch(address, { headers: { authorization } })).status;
  await wait(300);
  expect([await statusAt(url), (await simulator.get(short)).status]).toEqual([200, 200]);
  await wait(300);
  expect([await statusAt(url), (await simulator.get(short)).status]).toEqual([400, 400]);
  await wait(30 * 86_400 - 601);
  expect((await simulator.get(id)).status).toBe(200);
  await wait(1);
  expect((await simulator.get(id)).status).toBe(400);
});

test.each<[string, () => ReturnType<typeof upload>, number]>([
  ['no file', () => upload({ file: 'text' }, null), 100],
  ['no product', () => upload({ messaging_product: 'sms' }), 100],
  ['a type that is not taken', () => upload({}, new Blob([bytes], { type: 'application/zip' })), 131053],
  ['too large', () => upload({}, png(new Uint8Array(5 * 1_024 * 1_024 + 1))), 131053],
])('%s: refused', async (_, attempt, code) => {
  const { status, body } = await attempt();
  expect([status, body.error.code]).toEqual([400, code]);
});

test('of another number, or without the right to the number: not there', async () => {
  const { id } = (await upload()).body;
  expect((await simulator.get(id, { phone_number_id: thirdNumber })).body.error.error_subcode).toBe(33);
  const other = await simulator.call('GET', `/v25.0/${id}`, undefined, 'second-waba-platform-token');
  expect(other.body.error.code).toBe(200);
});

describe('media that a message names by id', async () => {
  const receiver = await callbackReceiver();
  afterAll(() => receiver.stop());
  const advance = (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds });
  const withImage = (medium: object) => ({
    name: 'welcome_offer',
    language: { code: 'es' },
    components: [header({ type: 'image', image: medium }), body('Ana')],
  });

  /** Returns the statuses within a second of an accepted message. */
  async function statusesOf(template: object): Promise<readonly unknown[]> {
    await simulator.control('POST', 'apps/500000000000001', { callback_url: receiver.url, secret: 'demo-app-secret' });
    receiver.forget();
    const answer = await simulator.send(recipient, { template });
    expect(answer.body.messages).toMatchObject([{ message_status: 'accepted' }]);
    await advance(1);
    const own = receiver.updates().filter(({ value }) => value.id === answer.body.messages[0].id);
    return own.map(({ value }) => [value.status, value.errors?.[0].code]);
  }

  const taken = [
    ['sent', undefined],
    ['delivered', undefined],
  ];
  const failed = [['failed', 131053]];

  test('uploaded: delivered; deleted or too old: accepted, then failed by webhook', async () => {
    const { id } = (await upload()).body;
    const short = (await upload({ ttl_minutes: '10' })).body.id;
    expect(await statusesOf(withImage({ id }))).toEqual(taken);
    expect(await statusesOf(withImage({ id: short }))).toEqual(taken);
    await advance(600);
    expect(await statusesOf(withImage({ id: short }))).toEqual(failed);
    await simulator.call('DELETE', `/v25.0/${id}`);
    expect(await statusesOf(withImage({ id }))).toEqual(failed);
  });

  test('never known, also in a card: accepted, then failed by webhook', async () => {
    expect(await statusesOf(withImage({ id: '1' }))).toEqual(failed);
    const { language, components } = validSends.city_tour;
    const tour = { name: 'city_tour', language: { code: language }, components };
    expect(await statusesOf(tour)).toEqual(taken);
    const text = JSON.stringify(tour).replace(/\{"link":"[^"]*"\}/, '{"id":"1"}');
    expect(await statusesOf(JSON.parse(text))).toEqual(failed);
  });

  test('a link is not fetched', async () => {
    expect(await statusesOf(withImage({ link: 'https://nowhere.example.com/a.jpg' }))).toEqual(taken);
  });
});
