import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import * as v from 'valibot';
import { CommandError } from '../command.ts';
import type { Finding } from './findings.ts';
import { type ExpectedReply, type Probe, probes } from './smoke-probes.ts';

/** A test cannot make the gateway wait 30 s, so this one is only reported. */
const notReplayed =
  'not replayed: an endpoint that takes 30 s; 503 {"message":"Service Unavailable"} is expected, endpoints answer first';

interface Reply {
  readonly status: number;
  readonly body: string;
}

type Request = Pick<Probe, 'route' | 'headers' | 'body'>;

/** Sends a request with its exact path, which `fetch` would normalize. */
async function send(baseUrl: URL, { route, headers, body }: Request, token?: string): Promise<Reply> {
  const [method, path] = route.split(' ', 2);
  const request = baseUrl.protocol === 'https:' ? httpsRequest : httpRequest;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname: baseUrl.hostname,
        port: baseUrl.port,
        method,
        path,
        headers: { ...headers, ...authorization, ...length },
        signal: AbortSignal.timeout(60_000),
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const LoginSchema = v.object({ access_token: v.string() });

async function tokenFor(baseUrl: URL): Promise<string | undefined> {
  const { SMOKE_USERNAME: username, SMOKE_PASSWORD: password } = process.env;
  if (username === undefined || password === undefined) return undefined;
  const body = JSON.stringify({ username, password });
  const reply = await send(baseUrl, { route: 'POST /login', headers: { 'content-type': 'application/json' }, body });
  if (reply.status !== 200) throw new CommandError(`The login of ${username} answered ${reply.status}.`, 1);
  return v.parse(LoginSchema, JSON.parse(reply.body)).access_token;
}

const MessageSchema = v.pipe(v.string(), v.parseJson(), v.object({ message: v.string() }));

/** Returns the compared part of the reply, as one line. */
function shown(reply: Reply, { message }: ExpectedReply): string {
  const parsed = message === undefined ? undefined : v.safeParse(MessageSchema, reply.body);
  return `${reply.status} ${parsed?.success === true ? parsed.output.message : reply.body}`.slice(0, 120);
}

/** Replays every probe and tells a finding for each. Throws `CommandError` for a refused login. */
export async function replay(baseUrl: URL, tell: (found: readonly Finding[]) => void): Promise<void> {
  const token = await tokenFor(baseUrl);
  for (const probe of probes) tell([await findingOf(baseUrl, probe, token)]);
  tell([{ state: 'skipped', text: notReplayed }]);
}

async function findingOf(baseUrl: URL, probe: Probe, token: string | undefined): Promise<Finding> {
  const { proves, needsToken, expected } = probe;
  if (needsToken === true && token === undefined) {
    return { state: 'skipped', text: `${proves}: needs SMOKE_USERNAME and SMOKE_PASSWORD` };
  }
  const texts = expected.map(({ status, message, body }) => `${status} ${message ?? body ?? ''}`);
  let got: string;
  try {
    const reply = await send(baseUrl, probe, needsToken === true ? token : undefined);
    const same = expected.find((each, at) => shown(reply, each) === texts[at]);
    if (same !== undefined) return { state: 'good', text: proves };
    got = shown(reply, expected[0]);
  } catch (error) {
    got = `no answer: ${error instanceof Error ? error.message : error}`;
  }
  return { state: 'bad', text: `${proves}: expected ${texts.join(' or ')}, got ${got}` };
}
