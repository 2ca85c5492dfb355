import { expect, test } from 'vitest';
import { provisioningFile } from '../../lib/provisioning/provisioning-file.ts';
import { assignmentsAtScale, clientsAtScale, templatesAtScale } from './scale.ts';

const clients = { seed: 7, clients: 12, channelsEach: 3, campaignsEach: 5 };
const templates = { seed: 7, count: 500, bodyBytes: 500 };
const file = clientsAtScale(clients);
const assignments = { seed: 7, count: 500, clientId: 1003 };

test.each<[string, (seed: number) => unknown]>([
  ['templates', (seed) => templatesAtScale({ ...templates, seed })],
  ['clients', (seed) => clientsAtScale({ ...clients, seed })],
  ['assignments', (seed) => assignmentsAtScale(file, { ...assignments, seed })],
])('%s: the same seed, the same bytes; another seed, others', (_, make) => {
  const text = JSON.stringify(make(7));
  expect(JSON.stringify(make(7))).toBe(text);
  expect(JSON.stringify(make(8))).not.toBe(text);
});

test('fewer are the beginning of more', () => {
  expect(templatesAtScale({ ...templates, count: 50 })).toEqual(templatesAtScale(templates).slice(0, 50));
  expect(assignmentsAtScale(file, { ...assignments, count: 50 })).toEqual(
    assignmentsAtScale(file, assignments).slice(0, 50),
  );
});

test.each([100, 500, 5_000])('components of exactly %i bytes, and nothing else changes with them', (bodyBytes) => {
  const sized = templatesAtScale({ ...templates, bodyBytes });
  expect(new Set(sized.map(({ components }) => Buffer.byteLength(JSON.stringify(components))))).toEqual(
    new Set([bodyBytes]),
  );
  const withoutBodies = (list: typeof sized) => list.map(({ components: _, ...facts }) => facts);
  expect(withoutBodies(sized)).toEqual(withoutBodies(templatesAtScale(templates)));
});

test('no two templates share name and language, or id', () => {
  const made = templatesAtScale(templates);
  expect(new Set(made.map(({ name, language }) => `${name} ${language}`)).size).toBe(made.length);
  expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
});

test('the clients pass as a provisioning file', () => {
  expect(provisioningFile(file, [])).toEqual(file);
  expect(file.channels).toHaveLength(36);
});

test('assignments use only the client’s own channels and campaigns, up to three different pairs', () => {
  const made = assignmentsAtScale(file, assignments);
  const own = (list: readonly { readonly client_id: number }[]) => list.filter((each) => each.client_id === 1003);
  const channels = own(file.channels).map((channel) => (channel as (typeof file.channels)[number]).channel_id);
  const campaigns = own(file.campaigns).map((campaign) => (campaign as (typeof file.campaigns)[number]).campaign_id);
  for (const pairs of made) {
    expect(new Set(pairs.map((pair) => JSON.stringify(pair))).size).toBe(pairs.length);
    expect(pairs.every((pair) => channels.includes(pair.channelId) && campaigns.includes(pair.campaignId))).toBe(true);
  }
  expect(new Set(made.map((pairs) => pairs.length))).toEqual(new Set([0, 1, 2, 3]));
});
