import { Agent, request } from 'node:http';
import { environmentVariable } from '../../lib/aws/deployed.ts';
import { deployedPlatform } from '../../lib/platform/deployed.ts';

/* A bare handler for the benchmark of workers: it posts given bodies to the platform, by `fetch` or `node:http`, and
   knows no rule. */

export interface BarePosts {
  readonly by: 'fetch' | 'http';
  readonly credential: string;
  readonly path: string;
  readonly requests: readonly object[];
}

/** As many are in flight as of a sender whose platform answers at once. */
const atOnce = 10;
const agent = new Agent({ keepAlive: true });
const { credentialOf } = deployedPlatform({ timeoutMs: 10_000 });
const base = `${environmentVariable('PLATFORM_BASE_URL')}/${environmentVariable('PLATFORM_VERSION')}`;

export async function handler({ by, credential, path, requests }: BarePosts): Promise<{ readonly posted: number }> {
  const { accessToken } = await credentialOf(credential);
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const post = by === 'fetch' ? posted : postedByHttp;
  const left = requests.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const body of left) await post(`${base}/${path}`, headers, JSON.stringify(body));
    }),
  );
  return { posted: requests.length };
}

async function posted(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<void> {
  const reply = await fetch(url, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(`the simulator answered ${reply.status}`);
  await reply.json();
}

function postedByHttp(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (reply) => {
      if (reply.statusCode !== 200) reject(new Error(`the simulator answered ${reply.statusCode}`));
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (part: string) => {
        text += part;
      });
      reply.on('end', () => {
        JSON.parse(text);
        resolve();
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
