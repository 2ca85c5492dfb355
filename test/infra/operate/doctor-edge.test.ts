import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type DistributionState,
  edgeFindings,
  type OriginAnswer,
  requestOrigin,
} from '../../../infra/operate/stage/doctor-edge.ts';

const distribution: DistributionState = {
  id: 'E1',
  enabled: true,
  status: 'Deployed',
  webAcl: true,
  publicName: 'api.example.com',
  origin: { scheme: 'https', host: 'origin.api.example.com', port: 443 },
};
const refused: OriginAnswer = { status: 403, code: 'edge_required' };

describe('an edge', () => {
  it.each<[string, DistributionState | undefined, OriginAnswer | undefined, string[], string]>([
    ['as it should be', distribution, refused, ['good', 'good'], 'enabled and deployed'],
    ['without a distribution', undefined, undefined, ['bad'], 'npm run deploy -- -c stage=prod'],
    [
      'that is switched off',
      { ...distribution, enabled: false },
      refused,
      ['bad', 'good'],
      'update-distribution --id E1',
    ],
    ['without rules', { ...distribution, webAcl: false }, refused, ['bad', 'good'], 'template-messaging-prod-edge'],
    ['on its way', { ...distribution, status: 'InProgress' }, refused, ['bad', 'good'], 'look again'],
    [
      'that can be passed by',
      distribution,
      { status: 200, code: undefined },
      ['good', 'bad'],
      'answers 200 at origin.api.example.com to what did not come through the edge; npm run deploy -- -c stage=prod -c edge=true',
    ],
    [
      // The gateway itself answers like this for an unknown name.
      'whose API refuses for another reason',
      distribution,
      { status: 403, code: undefined },
      ['good', 'bad'],
      'answers 403',
    ],
    [
      'whose API cannot be asked',
      distribution,
      { failure: 'ENOTFOUND' },
      ['good', 'bad'],
      '(ENOTFOUND); look at its record',
    ],
  ])('%s', (_, state, past, states, says) => {
    const findings = edgeFindings('prod', state, past);
    expect(findings.map((finding) => finding.state)).toEqual(states);
    expect(findings.map(({ text }) => text).join('\n')).toContain(says);
    for (const { text } of findings) expect(text).toMatch(/^edge: /);
  });
});

describe('past the edge', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  const apiThat = async (answer: RequestListener) => {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { ...distribution, origin: { scheme: 'http', host: '127.0.0.1', port } } as const;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('the API is asked at the origin by its public name, without a key', async () => {
    let asked: { url?: string | undefined; host?: string | undefined; key: unknown } | undefined;
    const there = await apiThat((request, response) => {
      asked = { url: request.url, host: request.headers['host'], key: request.headers['x-origin-key'] };
      response.writeHead(403).end('{"message":"no","code":"edge_required"}');
    });
    expect(await requestOrigin(there)).toEqual(refused);
    expect(asked).toEqual({ url: '/health', host: 'api.example.com', key: undefined });
  });

  it('an answer that is no JSON has no code, and none at all is a failure', async () => {
    const there = await apiThat((_, response) => response.writeHead(502).end('bad gateway'));
    expect(await requestOrigin(there)).toEqual({ status: 502, code: undefined });
    const cut = await apiThat((request) => request.socket.destroy());
    expect(await requestOrigin(cut)).toEqual({ failure: 'ECONNRESET' });
  });
});
