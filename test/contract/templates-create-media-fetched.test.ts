import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { templatesCreate } from '../../functions/templates-create.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { type FetchedFile, fetchPublic } from '../../lib/http/fetch-network.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { pairFaults } from '../../lib/templates/assignments/assignment-request.ts';
import { platformMedia } from '../../lib/templates/authoring/platform-media.ts';
import { templateManagement } from '../../lib/templates/authoring/platform-template-management.ts';
import { creationStore } from '../../lib/templates/create/creation-store.ts';
import { addressOf } from '../support/addresses.ts';
import { platform } from '../support/api.ts';
import { callEndpoint, makeHttpEvent } from '../support/http-event.ts';
import { certificate, type MediaHost, startMediaHost } from '../support/media-host.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { filePart } from '../support/multipart.ts';
import { runningTarget } from '../support/running-target.ts';
import { lastSent, listedTemplate, plainBody, sharedDid, templateProbes } from '../support/template-probes.ts';

/*
 * The running stack fetches from the public network only, and no test may depend on that. Here the same endpoint works on
 * the running stack's stores and platform, and takes this machine for media.example.com.
 */

const probes = templateProbes();
let host: MediaHost | undefined;

afterEach(() => host?.close());

/** Creates a template whose picture is at media.example.com, which answers like this. */
async function createFrom(answers: RequestListener) {
  const mediaHost = await startMediaHost(answers);
  host = mediaHost;
  const here = { address: '127.0.0.1', family: 4 };
  const ports = {
    lookup: async () => [here],
    isAllowedAddress: (address: string) => address === here.address,
    port: mediaHost.port,
    ca: certificate,
  };
  const { documentClient, tableName } = runningTarget();
  const directory = directoryStore(documentClient, tableName('directory'));
  const transport = platformTransport({ baseUrl: addressOf('platformUrl'), version: 'v25.0', timeoutMs: 8_000 });
  const credentialOf = async () => ({ accessToken: 'demo-platform-token', appId: '500000000000001' });
  const handler = templatesCreate({
    directory,
    creations: creationStore(documentClient, tableName('templates')),
    management: templateManagement(transport, credentialOf),
    pairFaults: (template, pairs) => pairFaults(directory, template, pairs),
    fetchPublic: (url, options): Promise<FetchedFile> => fetchPublic(url, { ...options, ports }),
    uploadMedia: platformMedia(transport, credentialOf),
    events: new MemoryEvents(),
    nowMs: Date.now,
  });
  const header = { type: 'HEADER', format: 'IMAGE', header_source: 'https://media.example.com/p/logo.png?v=1' };
  const draft = probes.draft({ components: [header, plainBody] });
  const token = { userId: 'u-1', clientId: 1001, permissions: [], expiresAtSeconds: 9_999_999_999 };
  const event = makeHttpEvent({ token, body: JSON.stringify(draft), pathParameters: { did: sharedDid } });
  return { draft, reply: await callEndpoint(handler, event) };
}

describe('header_source', () => {
  test('is fetched, uploaded and created with the handle; the listing shows it', async () => {
    const { draft, reply } = await createFrom((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(filePart.content);
    });
    expect(reply).toMatchObject({ status: 200, body: { status: 'PENDING', category: 'UTILITY' } });
    expect(host?.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /p/logo.png?v=1']);
    expect(await lastSent('/upload:')).toEqual({ bytes: filePart.content.length });
    const [header] = (await lastSent()).components;
    expect(header).toEqual({
      type: 'HEADER',
      format: 'IMAGE',
      example: { header_handle: [expect.stringMatching(/^\d+::/)] },
    });
    expect(await listedTemplate(1001, draft.name)).toMatchObject({
      platform_template: { components: [header, plainBody] },
    });
  });

  const place = 'components[0].header_source';
  test.each<[string, RequestListener, string]>([
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'https://example.com/' }).end(),
      `${place} must be answered with status 200 and no redirect, not with 302`,
    ],
    [
      'a page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'IMAGE media must be image/jpeg or image/png',
    ],
    [
      'another declared type',
      (_, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(filePart.content),
      'the media is image/png but was declared as image/jpeg',
    ],
    [
      'too many bytes',
      (_, response) => response.writeHead(200).end(Buffer.alloc(5_242_881)),
      `${place} must be a file of at most 5242880 bytes`,
    ],
    ['a connection that breaks off', (_, response) => response.destroy(), `${place} could not be fetched`],
  ])('%s is a 400 that names it, and nothing is uploaded or created', async (_, answers, message) => {
    const asked = async () => (await platform('GET /_control/requests?method=POST&limit=0')).body.total;
    const before = await asked();
    const { draft, reply } = await createFrom(answers);
    expect([reply.status, reply.body]).toEqual([
      400,
      { code: 'invalid_request', message, errors: [{ path: place, message }] },
    ]);
    expect(await asked()).toBe(before);
    expect(await listedTemplate(1001, draft.name)).toBeUndefined();
  });
});
