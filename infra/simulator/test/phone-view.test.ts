import { expect, test } from 'vitest';
import { type ButtonView, phoneView, purposeOf, shownButtons } from '../console/phone-view.ts';
import { mediaFacts } from '../src/media/media-facts.ts';
import { firstNumber, recipient, simulatorOfFile } from './support/simulator.ts';
import { type SendableTemplate, validSends } from './support/valid-sends.ts';

/* The console's phone shows more than the text (platform reference, 4.6). */

const simulator = simulatorOfFile({ afresh: true });

const buttons = (count: number): readonly ButtonView[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'quick_reply', text: `${at}`, value: `${at}` }));

test.each([
  [0, 0, 0],
  [3, 3, 0],
  [4, 2, 2],
  [10, 2, 8],
])('of %i buttons %i are shown, and %i more in the list', (count, shown, others) => {
  const found = shownButtons(buttons(count));
  expect([found.shown.length, found.others]).toEqual([shown, others]);
  expect(found.shown).toEqual(buttons(shown));
});

test.each([
  ['url', 'https://a.com/', 'Opens https://a.com/'],
  ['url', '', ''],
  ['copy_code', 'SAVE', 'Copies SAVE'],
  ['quick_reply', 'Yes', 'Answers with its words'],
  ['quick_reply', 'y', 'Answers with y'],
  ['voice_call', '', 'Calls the business in the app'],
  ['no_such_kind', 'x', ''],
])('what a button of kind %s with %j does: %s', (kind, value, purpose) => {
  expect(purposeOf({ kind, text: 'Yes', value })).toBe(purpose);
});

async function detailOf(name: SendableTemplate) {
  const { language, components } = validSends[name];
  const template = { name, language: { code: language }, components };
  const { body } = await simulator.send(recipient, { template });
  return (await simulator.control('GET', `messages/${encodeURIComponent(body.messages[0].id)}`)).body;
}

test('a message names what is known of its products: those of the catalogs of its WABA', async () => {
  const catalog = await detailOf('full_catalog');
  expect(catalog.products).toEqual({
    'sku-3': { name: 'Two-person tent 3', price: expect.stringContaining('1.236,56') },
  });
  expect(phoneView(catalog.components, catalog.parts).tile).toEqual({ kind: 'catalog', product: 'sku-3', items: 0 });
  // The demo catalogs have no product with this id.
  const picks = await detailOf('spring_picks');
  expect(picks.products).toEqual({});
  expect(phoneView(picks.components, picks.parts).tile).toEqual({ kind: 'items', product: 'SKU-1', items: 2 });
  expect(phoneView(picks.components, undefined).tile).toEqual({ kind: 'items', product: '', items: 0 });
});

/** A film begins with an `mvhd` box, which has the units per second and the duration in units. */
function film(version: 0 | 1, perSecond: number, units: number): Buffer {
  const box = Buffer.alloc(64);
  box.write('mvhd', 8);
  box[12] = version;
  box.writeUInt32BE(perSecond, version === 1 ? 32 : 24);
  if (version === 1) box.writeBigUInt64BE(BigInt(units), 36);
  else box.writeUInt32BE(units, 28);
  return box;
}

const pdf = Buffer.from('%PDF-1.4 <</Type /Pages /Count 2>> <</Type /Page>> <</Type/Page >> <</Type /PageLabel>>');

test.each<[string, string, Buffer, object]>([
  ['a film', 'video/mp4', film(0, 600, 39_000), { kind: 'MP4', seconds: 65 }],
  ['a long film', 'video/mp4', film(1, 1_000, 65_000), { kind: 'MP4', seconds: 65 }],
  ['a film without units', 'video/mp4', film(0, 0, 5), { kind: 'MP4' }],
  ['a film that ends too soon', 'video/3gpp', Buffer.from('....mvhd'), { kind: '3GPP' }],
  ['two pages', 'application/pdf; charset=binary', pdf, { kind: 'PDF', pages: 2 }],
  ['no page in plain sight', 'application/pdf', Buffer.from('%PDF-1.5'), { kind: 'PDF' }],
  ['a picture with words of a film', 'image/png', film(0, 1, 5), { kind: 'PNG' }],
])('what is known of %s', (_, type, bytes, facts) => {
  expect(mediaFacts({ type, bytes })).toEqual(facts);
});

test('an uploaded document tells its pages with the message that names it', async () => {
  const form = new FormData();
  form.set('messaging_product', 'whatsapp');
  form.set('type', 'application/pdf');
  form.set('file', new Blob([pdf], { type: 'application/pdf' }), 'F-2207.pdf');
  const uploaded = await fetch(`${simulator.url}/v25.0/${firstNumber}/media`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-platform-token' },
    body: form,
  });
  const { id } = (await uploaded.json()) as { readonly id: string };
  const [, body] = validSends.invoice_file.components;
  const document = { type: 'header', parameters: [{ type: 'document', document: { id, filename: 'F-2207.pdf' } }] };
  const template = { name: 'invoice_file', language: { code: 'en_US' }, components: [document, body] };
  const sent = await simulator.send(recipient, { template });
  const detail = await simulator.control('GET', `messages/${encodeURIComponent(sent.body.messages[0].id)}`);
  expect(detail.body.media).toEqual({ [id]: { kind: 'PDF', pages: 2 } });
});
